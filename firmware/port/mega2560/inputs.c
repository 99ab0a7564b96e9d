/* Switches, encoders and analogue inputs on the ATmega2560. */
#include <avr/interrupt.h>
#include <util/atomic.h>

#include "board.h"
#include "peripherals.h"
#include "port.h"

static const int16_t centre_mrad[JOINT_COUNT] = JOINT_CENTRE_MRAD;
#define FEEDBACK_HALF_MV ((FEEDBACK_HIGH_MV - FEEDBACK_LOW_MV) / 2L)
#define SCALE_Q10(swing) ((int16_t)(((swing) * 1024L) / FEEDBACK_HALF_MV))
static const int16_t scale_q10[JOINT_COUNT] = JOINT_SCALES(SCALE_Q10);

static uint8_t channel;
static volatile int32_t count_left, count_right;
static uint8_t encoders_were;

/* Step of a quadrature pair, by the old two bits and the new two; a jump of both at once counts as none. */
static const int8_t quadrature[16] = {0, 1, -1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 0, -1, 1, 0};

static void start_conversion(uint8_t which) {
    ADMUX = (uint8_t)(_BV(REFS0) | (which & 7U));
    ADCSRB = (which >= 8U) ? (uint8_t)_BV(MUX5) : 0U;
    ADCSRA |= (uint8_t)_BV(ADSC);
}

void inputs_init(void) {
    SWITCHES_PORT |= (uint8_t)(_BV(ESTOP_BIT) | _BV(BUMPER_LEFT_BIT) | _BV(BUMPER_RIGHT_BIT));
    ENCODER_PORT |= (uint8_t)ENCODER_MASK;
    encoders_were = ENCODER_PIN & (uint8_t)ENCODER_MASK;
    PCMSK0 = (uint8_t)ENCODER_MASK;
    PCICR = (uint8_t)_BV(PCIE0);
    ADCSRA = (uint8_t)(_BV(ADEN) | _BV(ADPS2) | _BV(ADPS1) | _BV(ADPS0)); /* 125 kHz: 0.1 ms for a conversion */
    start_conversion(0);
    imu_init();
}

ISR(PCINT0_vect) {
    uint8_t now = ENCODER_PIN & (uint8_t)ENCODER_MASK;
    count_left += quadrature[((encoders_were & 3U) << 2) | (now & 3U)];
    count_right += quadrature[(encoders_were & 12U) | (now >> 2)];
    encoders_were = now;
}

static uint16_t millivolts(uint16_t raw) {
    return (uint16_t)((((uint32_t)raw * (uint32_t)FULL_SCALE_MV) + (uint32_t)(FULL_SCALE_MV / 2)) >> 10);
}

static int16_t hall_ma(uint16_t mv) {
    return (int16_t)((((int32_t)mv - HALL_ZERO_MV) * HALL_MA_PER_V_Q10) >> 10);
}

/* A voltage means something else on each channel. */
static void convert(uint8_t which, uint16_t raw, port_input_t *in) {
    uint16_t mv = millivolts(raw);
    if (which < (uint8_t)CHANNEL_BATTERY_V) {
        int32_t off = (int32_t)mv - ((FEEDBACK_HIGH_MV + FEEDBACK_LOW_MV) / 2L);
        in->joint_mrad[which] = (int16_t)(centre_mrad[which] + ((off * scale_q10[which]) >> 10));
    } else if (which == (uint8_t)CHANNEL_BATTERY_V) {
        in->battery_mv = (uint16_t)(((uint32_t)mv * BATTERY_DIVIDER_Q10) >> 10);
    } else if (which == (uint8_t)CHANNEL_BATTERY_I) {
        in->battery_ma = hall_ma(mv);
    } else if (which < (uint8_t)CHANNEL_ARM_I) {
        in->wheel_ma[which - (uint8_t)CHANNEL_WHEEL_I] = hall_ma(mv);
    } else if (which == (uint8_t)CHANNEL_ARM_I) {
        in->arm_ma = hall_ma(mv);
    } else {
        uint16_t mm = (mv < CLIFF_BLIND_MV) ? CLIFF_NOTHING_MM : (uint16_t)(CLIFF_MV_MM / mv);
        in->cliff_mm[which - (uint8_t)CHANNEL_CLIFF] = mm;
    }
}

/* One channel in each millisecond; at the start all of them, so that nothing is judged by zeros. */
static void convert_next(port_input_t *in) {
    static bool started;
    for (uint8_t count = started ? 1U : (uint8_t)CHANNEL_COUNT; count > 0U; count--) {
        uint8_t done = channel;
        while ((ADCSRA & _BV(ADSC)) != 0U) {
            /* only at the start: after a millisecond a conversion is long over */
        }
        uint16_t raw = ADC;
        channel = (channel < (uint8_t)(CHANNEL_COUNT - 1)) ? (uint8_t)(channel + 1U) : 0U;
        start_conversion(channel);
        convert(done, raw, in);
    }
    started = true;
}

void port_sense(port_input_t *in) {
    static port_input_t sensed;
    uint8_t open = SWITCHES_PIN;
    sensed.estop = (open & _BV(ESTOP_BIT)) != 0U;
    sensed.bumpers = 0U;
    if ((open & _BV(BUMPER_LEFT_BIT)) != 0U) {
        sensed.bumpers |= LINK_BUMPER_FRONT_LEFT;
    }
    if ((open & _BV(BUMPER_RIGHT_BIT)) != 0U) {
        sensed.bumpers |= LINK_BUMPER_FRONT_RIGHT;
    }
    imu_step(sensed.accel_mg, sensed.gyro_mradps);
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE) {
        sensed.wheel_count[SIDE_LEFT] = count_left;
        sensed.wheel_count[SIDE_RIGHT] = count_right;
    }
    convert_next(&sensed);
    *in = sensed; /* joint_load_mnm stays 0: hobby servos don't tell */
}
