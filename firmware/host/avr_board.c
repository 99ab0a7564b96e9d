/* The ATmega2560 board in simavr, stepped from outside: avr_board IMAGE.elf
 *
 * Reads requests on the standard input and answers each on the standard output, so that whoever drives it owns the time:
 * the processor runs exactly as many cycles as it is told, with the given changes of its pins at the given cycles.
 * Nothing in here knows the firmware; the image is the one that is flashed. All integers are little-endian.
 *
 * request:  u32 cycles, u16 n_events, u16 n_rx, n_events times {u32 at, u8 kind, u8 index, u16 value}, n_rx bytes
 * answer:   u64 cycle, u32 asleep, u32 resets, u16 n_edges, u16 n_tx, u16 unused_ram, u8 powered, u8 io[280],
 *           n_edges times {u32 at, u8 pin, u8 level, u16 0}, n_tx bytes
 *
 * Cycles of events and edges count from the start of the request. A pin is 8 * (port - 'A') + bit.
 * Bytes for USART0 arrive one after the other at the line's speed.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "avr_extint.h"
#include "avr_ioport.h"
#include "avr_uart.h"
#include "channel.h"
#include "models.h"
#include "sim_avr.h"
#include "sim_elf.h"

#define MCU "atmega2560"
#define HERTZ 16000000u
#define IO_BYTES 280u
#define RAM_START 0x200u
#define RAM_END 0x21FFu
#define PAINT 0xA5u
#define PINS 96u /* ports A to L */
#define MAX_EVENTS 4096u
#define MAX_BYTES 16384u

enum kind { PIN = 0, ADC = 1, IMU = 2, POWER = 3, IMU_ON_BUS = 4, HANG = 5 };
enum power { OFF = 0, POWER_ON = 1, BROWN_OUT = 2 };

struct request {
    uint32_t cycles;
    uint16_t n_events;
    uint16_t n_rx;
};

struct event {
    uint32_t at;
    uint8_t kind;
    uint8_t index;
    uint16_t value;
};

struct __attribute__((packed)) answer {
    uint64_t cycle;
    uint32_t asleep; /* cycles of this request in which the processor slept */
    uint32_t resets;
    uint16_t n_edges;
    uint16_t n_tx;
    uint16_t unused_ram;
    uint8_t powered;
    uint8_t io[IO_BYTES];
};

struct edge {
    uint32_t at;
    uint8_t pin;
    uint8_t level;
    uint16_t zero;
};

static avr_t *avr;
static elf_firmware_t image;
static avr_cycle_count_t began;
static uint32_t resets, asleep;
static bool powered = true;
static void (*core_reset)(struct avr_t *);

static struct event events[MAX_EVENTS];
static uint32_t n_events, next_event;
static struct edge edges[MAX_EVENTS];
static uint32_t n_edges;
static uint8_t rx[MAX_BYTES], tx[MAX_BYTES];
static uint32_t n_rx, next_rx, n_tx;
static avr_cycle_count_t byte_cycles = HERTZ / 50000u;

static uint8_t given[PINS];       /* levels of the input pins, plus 2 when one was given */
static int answers = 1;

static void fail(const char *what) {
    fprintf(stderr, "avr_board: %s\n", what);
    exit(2);
}

/* --- outputs ---------------------------------------------------------------------------------------------------- */

static uint8_t level_of[PINS];

static void note_edge(uint8_t pin, uint8_t level) {
    if (level_of[pin] == level) {
        return;
    }
    level_of[pin] = level;
    if (n_edges < MAX_EVENTS) {
        edges[n_edges++] = (struct edge){(uint32_t)(avr->cycle - began), pin, level, 0};
    }
}

static void on_pin(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    note_edge((uint8_t)(uintptr_t)param, (uint8_t)(value & 1u));
}

static void on_uart(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)param;
    if (n_tx < MAX_BYTES) {
        tx[n_tx++] = (uint8_t)value;
    }
}

/* --- power, resets and hangs ----------------------------------------------------------------------------------------- */

static void restore_flash(void) { memcpy(avr->flash + image.flashbase, image.flash, image.flashsize); }

/* Every reset, the watchdog's too: outputs float, and a broken program is the flashed one again. */
static void on_reset(struct avr_t *mcu) {
    resets++;
    restore_flash();
    if (core_reset != NULL) {
        core_reset(mcu);
    }
    for (uint8_t pin = 0; pin < PINS; pin++) {
        note_edge(pin, 0);
    }
}

static void release_outputs(void) {
    memset(avr->data + 0x20, 0, IO_BYTES);
    for (uint8_t pin = 0; pin < PINS; pin++) {
        note_edge(pin, 0);
    }
}

/* What a wild pointer or a flipped bit does: the processor loops where it stands; interrupts go on. */
static void hang(void) {
    avr->flash[avr->pc] = 0xFF;
    avr->flash[avr->pc + 1u] = 0xCF;
}

static void set_power(uint8_t how) {
    if (how == OFF) {
        powered = false;
        release_outputs();
        return;
    }
    memset(avr->data + RAM_START, PAINT, RAM_END - RAM_START + 1u);
    powered = true;
    avr_reset(avr);
    avr_regbit_set(avr, how == BROWN_OUT ? avr->reset_flags.borf : avr->reset_flags.porf);
}

static uint16_t unused_ram(void) {
    uint32_t best = 0, here = 0;
    for (uint32_t at = RAM_START; at <= RAM_END; at++) {
        here = avr->data[at] == PAINT ? here + 1u : 0u;
        best = here > best ? here : best;
    }
    return (uint16_t)best;
}

/* --- running --------------------------------------------------------------------------------------------------------- */

static void give(uint8_t pin, uint8_t level) {
    avr_irq_t *irq = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('A' + pin / 8u), pin % 8u);
    avr_ioport_external_t outside = {.name = 'A' + pin / 8u};
    given[pin] = (uint8_t)(level | 2u);
    for (uint8_t bit = 0; bit < 8u; bit++) {
        uint8_t other = given[pin / 8u * 8u + bit];
        outside.mask |= (unsigned)((other >> 1) & 1u) << bit;
        outside.value |= (unsigned)(other & 1u) << bit;
    }
    avr_ioctl(avr, AVR_IOCTL_IOPORT_SET_EXTERNAL(outside.name), &outside); /* stronger than a pull-up */
    irq->value = !level; /* else a level that the processor forgot in a reset would count as no change */
    avr_raise_irq(irq, level);
}

static void apply(const struct event *e) {
    switch (e->kind) {
    case PIN:
        if (e->index < PINS) {
            give(e->index, (uint8_t)(e->value & 1u));
        }
        break;
    case ADC:
        set_millivolts(e->index, e->value);
        break;
    case IMU:
        set_imu_register(e->index, (uint8_t)e->value);
        break;
    case POWER:
        set_power((uint8_t)e->value);
        break;
    case IMU_ON_BUS:
        put_imu_on_bus(e->value != 0);
        break;
    case HANG:
        hang();
        break;
    default:
        fail("an event of an unknown kind");
    }
}

static avr_cycle_count_t on_event(avr_t *mcu, avr_cycle_count_t when, void *param) {
    (void)mcu;
    (void)param;
    while (next_event < n_events && began + events[next_event].at <= when) {
        apply(&events[next_event++]);
    }
    return next_event < n_events ? began + events[next_event].at : 0;
}

static avr_uart_t *uart;

static avr_cycle_count_t on_byte(avr_t *mcu, avr_cycle_count_t when, void *param) {
    (void)param;
    /* The byte is complete now: simavr would let it arrive only after another byte's time. */
    avr_cycle_count_t pace = uart->cycles_per_byte;
    uart->cycles_per_byte = 1;
    avr_raise_irq(avr_io_getirq(mcu, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), rx[next_rx++]);
    uart->cycles_per_byte = pace;
    return next_rx < n_rx ? when + byte_cycles : 0;
}

static avr_cycle_count_t on_end(avr_t *mcu, avr_cycle_count_t when, void *param) {
    (void)mcu;
    (void)when;
    (void)param;
    return 0;
}

static void no_sleep(struct avr_t *mcu, avr_cycle_count_t cycles) {
    (void)mcu;
    (void)cycles;
}

/* A reset forgets the inputs' levels and everything that was due. */
static void prepare(avr_cycle_count_t end) {
    static uint32_t prepared_after = UINT32_MAX;
    if (prepared_after != resets) {
        prepared_after = resets;
        for (uint8_t pin = 0; pin < PINS; pin++) {
            if (given[pin] & 2u) {
                give(pin, given[pin] & 1u);
            }
        }
        for (uint8_t line = 0; line < 8u; line++) {
            /* A level that nobody waits for would be polled every few cycles. */
            avr_extint_set_strict_lvl_trig(avr, line, 0);
        }
    }
    if (next_event < n_events) {
        avr_cycle_count_t at = began + events[next_event].at;
        avr_cycle_timer_register(avr, at > avr->cycle ? at - avr->cycle : 1, on_event, NULL);
    }
    if (next_rx < n_rx) {
        avr_cycle_timer_register(avr, byte_cycles, on_byte, NULL);
    }
    avr_cycle_timer_register(avr, end - avr->cycle, on_end, NULL);
}

static void run(uint32_t cycles) {
    began = avr->cycle;
    avr_cycle_count_t end = began + cycles;
    next_event = n_edges = n_tx = asleep = 0;
    while (next_event < n_events && events[next_event].at == 0u) {
        apply(&events[next_event++]);
    }
    /* The line's speed is the receiver's own: what the firmware set, or nothing gets through anyway. */
    uint32_t ubrr = avr->data[0xC4] | ((uint32_t)avr->data[0xC5] << 8);
    uint32_t divisor = (avr->data[0xC0] & 2u) ? 8u : 16u;
    byte_cycles = 10u * divisor * (ubrr + 1u);
    if (!powered) {
        while (next_event < n_events && !powered) {
            avr->cycle = began + events[next_event].at;
            apply(&events[next_event++]);
        }
        if (!powered) {
            avr->cycle = end;
            return;
        }
    }
    uint32_t resets_seen = resets - 1u;
    while (avr->cycle < end && powered) {
        if (resets_seen != resets) {
            resets_seen = resets;
            prepare(end);
        }
        avr_cycle_count_t before = avr->cycle;
        bool sleeping = avr->state == cpu_Sleeping;
        int state = avr_run(avr);
        asleep += sleeping ? (uint32_t)(avr->cycle - before) : 0u;
        if (state == cpu_Done || state == cpu_Crashed) {
            fail("the processor stopped: the image is broken");
        }
    }
    avr_cycle_timer_cancel(avr, on_event, NULL);
    avr_cycle_timer_cancel(avr, on_byte, NULL);
    avr_cycle_timer_cancel(avr, on_end, NULL);
    if (!powered) {
        avr->cycle = end;
    }
}

/* --- talking --------------------------------------------------------------------------------------------------------- */

static void connect_board(void) {
    uint32_t flags = 0;
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_uart, NULL);
    for (uint8_t pin = 0; pin < PINS; pin++) {
        avr_irq_t *irq = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('A' + pin / 8u), pin % 8u);
        if (irq != NULL) {
            avr_irq_register_notify(irq, on_pin, (void *)(uintptr_t)pin);
        }
    }
    uart = connect_models(avr);
}

int main(int count, char **words) {
    if (count != 2) {
        fail("usage: avr_board IMAGE.elf");
    }
    /* simavr talks on the standard output; the answers keep it for themselves. */
    answers = dup(1);
    dup2(2, 1);
    if (elf_read_firmware(words[1], &image) != 0 || image.flash == NULL) {
        fail("can't read the image");
    }
    avr = avr_make_mcu_by_name(MCU);
    if (avr == NULL) {
        fail("this simavr has no " MCU);
    }
    avr_init(avr);
    strcpy(image.mmcu, MCU);
    image.frequency = HERTZ;
    avr_load_firmware(avr, &image);
    avr->frequency = HERTZ;
    avr->log = LOG_NONE;
    avr->sleep = no_sleep;
    avr->vcc = avr->avcc = avr->aref = 5000;
    core_reset = avr->reset;
    avr->reset = on_reset;
    connect_board();
    set_power(POWER_ON);
    resets = 0;

    struct request request;
    while (read_all(&request, sizeof request)) {
        n_events = request.n_events;
        /* What the line hadn't carried when the last request was over comes first. */
        n_rx -= next_rx;
        memmove(rx, rx + next_rx, n_rx);
        next_rx = 0;
        if (n_events > MAX_EVENTS || n_rx + request.n_rx > MAX_BYTES) {
            fail("a request with too many events or bytes");
        }
        if (!read_all(events, n_events * sizeof events[0]) || !read_all(rx + n_rx, request.n_rx)) {
            break;
        }
        n_rx += request.n_rx;
        run(request.cycles);
        struct answer answer = {
            .cycle = avr->cycle,
            .asleep = asleep,
            .resets = resets,
            .n_edges = (uint16_t)n_edges,
            .n_tx = (uint16_t)n_tx,
            .unused_ram = unused_ram(),
            .powered = powered,
        };
        memcpy(answer.io, avr->data, IO_BYTES);
        write_all(answers, &answer, sizeof answer);
        write_all(answers, edges, n_edges * sizeof edges[0]);
        write_all(answers, tx, n_tx);
    }
    return 0;
}
