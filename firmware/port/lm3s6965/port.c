/* The brainstem on an LM3S6965, for QEMU: host on UART0, and on UART1 the plant that stands for sensors and motors,
 * because the emulator has no pins. On a board of your own, port_sense and port_drive are what you replace. */
#include <string.h>

#include "port.h"

#define CPU_HZ 12500000U
#define RING 1024U /* a power of two */
#define PLANT_MARK 0xA5U
#define MOTOR_MARK 0x5AU
#define MOTOR_PERIOD_MS 20U
#define NOINIT_MAGIC 0xB007B007U

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define HOST_UART 0x4000C000U
#define PLANT_UART 0x4000D000U
#define UART_DATA(base) REGISTER((base) + 0x00U)
#define UART_FLAGS(base) REGISTER((base) + 0x18U)
#define UART_CLEAR(base) REGISTER((base) + 0x44U)
#define RX_EMPTY (1U << 4)
#define TX_FULL (1U << 5)
#define WATCHDOG 0x40000000U

/* What the plant says, packed as it comes. */
typedef struct __attribute__((packed)) {
    uint8_t switches; /* bit 0 the stop, bits 1 and 2 the bumpers */
    uint16_t cliff_mm[CLIFF_COUNT];
    int16_t accel_mg[3];
    int16_t gyro_mradps[3];
    int32_t wheel_count[2];
    int16_t wheel_ma[2];
    int16_t arm_ma;
    uint16_t battery_mv;
    int16_t battery_ma;
    int16_t joint_mrad[JOINT_COUNT];
} plant_t;

typedef struct __attribute__((packed)) {
    uint8_t mark;
    uint8_t on; /* bit 0 motors, bit 1 servos */
    int16_t duty_permille[2];
    int16_t joint_mrad[JOINT_COUNT];
    uint8_t sum;
} motors_t;

typedef struct {
    volatile uint8_t bytes[RING];
    volatile uint16_t head;
    volatile uint16_t tail;
    volatile uint16_t lost;
} ring_t;

static ring_t host, plant;
static volatile uint8_t ticks;
static struct {
    uint32_t magic;
    uint16_t boots;
} kept __attribute__((section(".noinit")));
static uint8_t cause;

void tick_handler(void);
void host_handler(void);
void plant_handler(void);

static void take(ring_t *ring, uint32_t base) {
    UART_CLEAR(base) = 0x7FFU;
    while ((UART_FLAGS(base) & RX_EMPTY) == 0U) {
        uint8_t byte = (uint8_t)UART_DATA(base);
        uint16_t next = (uint16_t)((ring->head + 1U) % RING);
        if (next == ring->tail) {
            ring->lost++;
        } else {
            ring->bytes[ring->head] = byte;
            ring->head = next;
        }
    }
}

static bool pop(ring_t *ring, uint8_t *byte) {
    if (ring->tail == ring->head) {
        return false;
    }
    *byte = ring->bytes[ring->tail];
    ring->tail = (uint16_t)((ring->tail + 1U) % RING);
    return true;
}

void host_handler(void) { take(&host, HOST_UART); }
void plant_handler(void) { take(&plant, PLANT_UART); }

void tick_handler(void) {
    if (ticks < 255U) {
        ticks++;
    }
}

static void open_uart(uint32_t base) {
    REGISTER(base + 0x30U) = 0U;
    REGISTER(base + 0x24U) = 1U; /* 12.5 MHz / 16 / 500 kHz is 1.5625 */
    REGISTER(base + 0x28U) = 36U;
    REGISTER(base + 0x2CU) = 0x70U; /* 8 bits, FIFOs */
    REGISTER(base + 0x34U) = 0U;
    REGISTER(base + 0x38U) = (1U << 4) | (1U << 6);
    REGISTER(base + 0x30U) = 0x301U;
}

static uint8_t why_reset(void) {
    uint32_t flags = REGISTER(0x400FE05CU);
    REGISTER(0x400FE05CU) = 0U;
    if ((flags & 8U) != 0U) {
        return LINK_RESET_WATCHDOG;
    }
    if ((flags & 4U) != 0U) {
        return LINK_RESET_BROWN_OUT;
    }
    if ((flags & 2U) != 0U) {
        return LINK_RESET_POWER_ON;
    }
    return ((flags & 1U) != 0U) ? LINK_RESET_EXTERNAL : LINK_RESET_UNKNOWN;
}

void port_init(void) {
    if (kept.magic != NOINIT_MAGIC) {
        kept.magic = NOINIT_MAGIC;
        kept.boots = 0U;
    }
    kept.boots++;
    cause = why_reset();
    REGISTER(0x400FE100U) |= 8U; /* clocks: watchdog, UARTs */
    REGISTER(0x400FE104U) |= 3U;
    open_uart(HOST_UART);
    open_uart(PLANT_UART);
    /* The first time-out raises a flag, the second resets: twice 30 ms. */
    REGISTER(WATCHDOG + 0xC00U) = 0x1ACCE551U;
    REGISTER(WATCHDOG) = (CPU_HZ / 1000U) * 30U;
    REGISTER(WATCHDOG + 0x08U) = 3U;
    REGISTER(0xE000E014U) = (CPU_HZ / 1000U) - 1U;
    REGISTER(0xE000E018U) = 0U;
    REGISTER(0xE000E010U) = 7U;
    REGISTER(0xE000E100U) = (1U << 5) | (1U << 6);
    __asm volatile("cpsie i" ::: "memory");
}

uint16_t port_boot_number(void) { return kept.boots; }
uint8_t port_reset_cause(void) { return cause; }
uint16_t port_rx_lost(void) { return host.lost; }
bool port_receive(uint8_t *byte) { return pop(&host, byte); }
void port_kick_watchdog(void) { REGISTER(WATCHDOG + 0x0CU) = 1U; }

uint8_t port_ticks_due(void) {
    __asm volatile("cpsid i" ::: "memory");
    uint8_t due = ticks;
    ticks = 0U;
    __asm volatile("cpsie i" ::: "memory");
    return due;
}

static void put_all(uint32_t base, const uint8_t *bytes, uint8_t count) {
    for (uint8_t i = 0; i < count; i++) {
        while ((UART_FLAGS(base) & TX_FULL) != 0U) {
            /* 16 bytes deep, and at most 20 microseconds each */
        }
        UART_DATA(base) = bytes[i];
    }
}

uint8_t port_send_room(void) { return 16U; }
void port_send(const uint8_t *bytes, uint8_t count) { put_all(HOST_UART, bytes, count); }

/* Reads what the plant sent; true when a whole, undamaged frame came in. */
static bool plant_said(plant_t *last) {
    static uint8_t frame[sizeof(plant_t) + 1U];
    static uint8_t count;
    static bool begun;
    bool fresh = false;
    uint8_t byte;
    while (pop(&plant, &byte)) {
        if (!begun) {
            begun = byte == PLANT_MARK;
            count = 0U;
            continue;
        }
        frame[count] = byte;
        count++;
        if (count == sizeof frame) {
            uint8_t sum = 0U;
            for (uint8_t i = 0; i < sizeof frame; i++) {
                sum = (uint8_t)(sum + frame[i]);
            }
            if (sum == 0U) {
                memcpy(last, frame, sizeof *last);
                fresh = true;
            }
            begun = false;
        }
    }
    return fresh;
}

void port_sense(port_input_t *in) {
    static plant_t last;
    static bool heard;
    heard = plant_said(&last) || heard;
    in->estop = (!heard) || ((last.switches & 1U) != 0U); /* without a plant the stop counts as pressed */
    in->bumpers = (uint8_t)((last.switches >> 1) & 3U);
    memcpy(in->cliff_mm, last.cliff_mm, sizeof in->cliff_mm);
    memcpy(in->accel_mg, last.accel_mg, sizeof in->accel_mg);
    memcpy(in->gyro_mradps, last.gyro_mradps, sizeof in->gyro_mradps);
    memcpy(in->wheel_count, last.wheel_count, sizeof in->wheel_count);
    memcpy(in->wheel_ma, last.wheel_ma, sizeof in->wheel_ma);
    memcpy(in->joint_mrad, last.joint_mrad, sizeof in->joint_mrad);
    in->arm_ma = last.arm_ma;
    in->battery_mv = last.battery_mv;
    in->battery_ma = last.battery_ma;
}

void port_drive(const port_output_t *out) {
    static uint8_t told_on = 0xFFU;
    static uint8_t age_ms;
    motors_t motors = {.mark = MOTOR_MARK};
    motors.on = (uint8_t)((out->motors_on ? 1U : 0U) | (out->servos_on ? 2U : 0U));
    age_ms++;
    if ((motors.on == told_on) && (age_ms < MOTOR_PERIOD_MS)) {
        return;
    }
    age_ms = 0U;
    told_on = motors.on;
    memcpy(motors.duty_permille, out->duty_permille, sizeof motors.duty_permille);
    memcpy(motors.joint_mrad, out->joint_mrad, sizeof motors.joint_mrad);
    uint8_t sum = 0U;
    const uint8_t *bytes = (const uint8_t *)&motors;
    for (uint8_t i = 1; i < (sizeof motors - 1U); i++) {
        sum = (uint8_t)(sum + bytes[i]);
    }
    motors.sum = (uint8_t)(0U - sum);
    put_all(PLANT_UART, bytes, (uint8_t)sizeof motors);
}

void port_idle(void) {
    __asm volatile("cpsid i" ::: "memory");
    if ((ticks == 0U) && (host.tail == host.head)) {
        __asm volatile("dsb\n wfi" ::: "memory"); /* wakes up though interrupts are masked */
    }
    __asm volatile("cpsie i" ::: "memory");
}
