/* Start, time, watchdog and the link's bytes on the ATmega2560. */
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <util/atomic.h>

#include "board.h"
#include "brainstem.h"
#include "peripherals.h"

#define RING 256U /* a byte counts around it without a mask */
#define TICK_TOP 249U

static uint8_t reset_flags __attribute__((section(".noinit")));
static uint16_t boot_number;
static volatile uint8_t ticks;

static volatile uint8_t rx_ring[RING], rx_head, rx_tail;
static volatile uint16_t rx_lost;
static volatile uint8_t tx_ring[RING], tx_head, tx_tail;

void keep_reset_flags(void) __attribute__((naked, used, section(".init3")));

/* Before anything else: after a bite the watchdog is still on, at its shortest. */
void keep_reset_flags(void) {
    reset_flags = MCUSR;
    MCUSR = 0;
    wdt_disable();
}

static void count_boot(void) {
    static uint16_t stored EEMEM;
    boot_number = (uint16_t)(eeprom_read_word(&stored) + 1U);
    eeprom_write_word(&stored, boot_number);
}

void port_init(void) {
    outputs_init();
    inputs_init();
    count_boot();
    UBRR0 = (uint16_t)(F_CPU / 8UL / BAUD - 1UL);
    UCSR0A = (uint8_t)_BV(U2X0);
    UCSR0C = (uint8_t)(_BV(UCSZ01) | _BV(UCSZ00));
    UCSR0B = (uint8_t)(_BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0));
    TCCR0A = (uint8_t)_BV(WGM01);
    TCCR0B = (uint8_t)(_BV(CS01) | _BV(CS00));
    OCR0A = TICK_TOP;
    TIMSK0 = (uint8_t)_BV(OCIE0A);
    wdt_enable(WDTO_30MS);
    sei();
}

uint16_t port_boot_number(void) { return boot_number; }

uint8_t port_reset_cause(void) {
    if ((reset_flags & _BV(WDRF)) != 0U) {
        return LINK_RESET_WATCHDOG;
    }
    /* When power comes on slowly, the brown-out flag is set beside the power-on flag. */
    if ((reset_flags & _BV(PORF)) != 0U) {
        return LINK_RESET_POWER_ON;
    }
    if ((reset_flags & _BV(BORF)) != 0U) {
        return LINK_RESET_BROWN_OUT;
    }
    if ((reset_flags & _BV(EXTRF)) != 0U) {
        return LINK_RESET_EXTERNAL;
    }
    return LINK_RESET_UNKNOWN;
}

ISR(TIMER0_COMPA_vect) {
    if (ticks < 255U) {
        ticks++;
    }
}

uint8_t port_ticks_due(void) {
    uint8_t due;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        due = ticks;
        ticks = 0;
    }
    return due;
}

ISR(USART0_RX_vect) {
    uint8_t overrun = UCSR0A & (uint8_t)_BV(DOR0);
    uint8_t byte = UDR0;
    uint8_t next = (uint8_t)(rx_head + 1U);
    if ((next == rx_tail) || (overrun != 0U)) {
        rx_lost++;
    }
    if (next != rx_tail) {
        rx_ring[rx_head] = byte;
        rx_head = next;
    }
}

ISR(USART0_UDRE_vect) {
    if (tx_tail == tx_head) {
        UCSR0B &= (uint8_t)~_BV(UDRIE0);
    } else {
        UDR0 = tx_ring[tx_tail];
        tx_tail++;
    }
}

uint16_t port_rx_lost(void) {
    uint16_t lost;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { lost = rx_lost; }
    return lost;
}

bool port_receive(uint8_t *byte) {
    if (rx_tail == rx_head) {
        return false;
    }
    *byte = rx_ring[rx_tail];
    rx_tail++;
    return true;
}

uint8_t port_send_room(void) { return (uint8_t)((uint8_t)(tx_tail - tx_head) - 1U); }

void port_send(const uint8_t *bytes, uint8_t count) {
    for (uint8_t i = 0; i < count; i++) {
        tx_ring[tx_head] = bytes[i];
        tx_head++;
    }
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) { UCSR0B |= (uint8_t)_BV(UDRIE0); }
}

void port_kick_watchdog(void) { wdt_reset(); }

void port_idle(void) {
    cli();
    if ((ticks == 0U) && (rx_tail == rx_head)) {
        SMCR = (uint8_t)_BV(SE); /* idle mode: all peripherals go on */
        sei(); /* takes effect after the next instruction: no interrupt gets in between */
        sleep_cpu();
        SMCR = 0;
    }
    sei();
}

int main(void) {
    brainstem_run();
    return 0;
}
