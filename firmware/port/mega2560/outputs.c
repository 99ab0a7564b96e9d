/* Wheel driver and servo pulses on the ATmega2560. */
#include "board.h"
#include "peripherals.h"
#include "port.h"

static const int16_t centre_mrad[JOINT_COUNT] = JOINT_CENTRE_MRAD;
#define SCALE_Q10(swing) ((int16_t)((SERVO_SWING * 1024L) / (swing)))
static const int16_t scale_q10[JOINT_COUNT] = JOINT_SCALES(SCALE_Q10);

void outputs_init(void) {
    DRIVER_PORT = 0;
    DRIVER_DDR = (uint8_t)(_BV(REVERSE_LEFT_BIT) | _BV(REVERSE_RIGHT_BIT) | _BV(MOTORS_ON_BIT) | _BV(SERVOS_ON_BIT));
    ICR1 = PWM_TOP;
    OCR1A = 0;
    OCR1B = 0;
    TCCR1A = (uint8_t)_BV(WGM11); /* fast PWM up to ICR; the pins stay off until a duty is asked for */
    TCCR1B = (uint8_t)(_BV(WGM13) | _BV(WGM12) | _BV(CS10));
    DDRB |= (uint8_t)(_BV(PB5) | _BV(PB6));
    ICR3 = SERVO_TOP;
    ICR4 = SERVO_TOP;
    TCCR3A = (uint8_t)_BV(WGM31);
    TCCR4A = (uint8_t)_BV(WGM41);
    TCCR3B = (uint8_t)(_BV(WGM33) | _BV(WGM32) | _BV(CS31));
    TCCR4B = (uint8_t)(_BV(WGM43) | _BV(WGM42) | _BV(CS41));
    DDRE |= (uint8_t)(_BV(PE3) | _BV(PE4) | _BV(PE5));
    DDRH |= (uint8_t)(_BV(PH3) | _BV(PH4) | _BV(PH5));
}

/* A division costs 40 microseconds here, so fractions are multiplied and shifted. */
static uint16_t compare(int16_t permille) {
    uint16_t size = (uint16_t)((permille < 0) ? -permille : permille);
    if (size > 1000U) {
        size = 1000U;
    }
    return (uint16_t)(((uint32_t)size * ((PWM_TOP * 2048UL) / 1000UL)) >> 11);
}

static void drive_wheels(const port_output_t *out) {
    uint8_t port = DRIVER_PORT & (uint8_t) ~(_BV(REVERSE_LEFT_BIT) | _BV(REVERSE_RIGHT_BIT));
    if (!out->motors_on) {
        /* The enable goes first: whatever the rest does, the driver is off. */
        DRIVER_PORT = port & (uint8_t)~_BV(MOTORS_ON_BIT);
        TCCR1A = (uint8_t)_BV(WGM11);
        return;
    }
    if (out->duty_permille[SIDE_LEFT] < 0) {
        port |= (uint8_t)_BV(REVERSE_LEFT_BIT);
    }
    if (out->duty_permille[SIDE_RIGHT] < 0) {
        port |= (uint8_t)_BV(REVERSE_RIGHT_BIT);
    }
    uint16_t left = compare(out->duty_permille[SIDE_LEFT]);
    uint16_t right = compare(out->duty_permille[SIDE_RIGHT]);
    OCR1A = left;
    OCR1B = right;
    /* Fast PWM can't be 0: it would leave a spike of one clock. The pin is taken off the timer instead. */
    TCCR1A = (uint8_t)(_BV(WGM11) | ((left != 0U) ? _BV(COM1A1) : 0) | ((right != 0U) ? _BV(COM1B1) : 0));
    DRIVER_PORT = port | (uint8_t)_BV(MOTORS_ON_BIT);
}

static uint16_t pulse(uint8_t joint, int16_t mrad) {
    int32_t counts = (((int32_t)mrad - centre_mrad[joint]) * scale_q10[joint]) >> 10;
    if (counts > SERVO_SWING) {
        counts = SERVO_SWING;
    }
    if (counts < -SERVO_SWING) {
        counts = -SERVO_SWING;
    }
    return (uint16_t)(SERVO_CENTRE + counts);
}

static void set_pulse(uint8_t joint, uint16_t counts) {
    static volatile uint16_t *const compare_register[JOINT_COUNT] = {&OCR3A, &OCR3B, &OCR3C, &OCR4A, &OCR4B, &OCR4C};
    *compare_register[joint] = counts;
}

static void drive_servos(const port_output_t *out) {
    static uint8_t joint;
    if (!out->servos_on) {
        DRIVER_PORT &= (uint8_t)~_BV(SERVOS_ON_BIT);
        TCCR3A = (uint8_t)_BV(WGM31);
        TCCR4A = (uint8_t)_BV(WGM41);
        return;
    }
    if ((DRIVER_PORT & _BV(SERVOS_ON_BIT)) == 0U) {
        /* From the first pulse on each servo is told where to be. */
        for (uint8_t each = 0; each < (uint8_t)JOINT_COUNT; each++) {
            set_pulse(each, pulse(each, out->joint_mrad[each]));
        }
        TCCR3A = (uint8_t)(_BV(WGM31) | _BV(COM3A1) | _BV(COM3B1) | _BV(COM3C1));
        TCCR4A = (uint8_t)(_BV(WGM41) | _BV(COM4A1) | _BV(COM4B1) | _BV(COM4C1));
        DRIVER_PORT |= (uint8_t)_BV(SERVOS_ON_BIT);
        return;
    }
    /* A servo hears a pulse every 20 ms: one joint in each millisecond is often enough. */
    set_pulse(joint, pulse(joint, out->joint_mrad[joint]));
    joint = (joint < (uint8_t)(JOINT_COUNT - 1U)) ? (uint8_t)(joint + 1U) : 0U;
}

void port_drive(const port_output_t *out) {
    drive_wheels(out);
    drive_servos(out);
}
