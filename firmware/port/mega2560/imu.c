/* An MPU-6050 on the two-wire bus, read by interrupts: a bus that hangs costs a sample, never the loop. */
#include <avr/interrupt.h>
#include <util/atomic.h>
#include <stdbool.h>
#include <util/twi.h>

#include "board.h"
#include "peripherals.h"

#define FIRST_REGISTER 0x3BU /* accelerometer, temperature, gyro: 14 bytes, high byte first */
#define SAMPLE_BYTES 14U
#define TWI_400_KHZ ((F_CPU / 400000UL - 16UL) / 2UL)

/* Registers to set at the start: awake on the gyro's clock, 94 Hz low-pass, 500 deg/s, 2 g. */
static const uint8_t settings[][2] = {{0x6BU, 0x01U}, {0x1AU, 0x02U}, {0x1BU, 0x08U}, {0x1CU, 0x00U}};
#define SETTINGS (sizeof settings / sizeof settings[0])

enum phase { IDLE, SETTING, READING };

static volatile uint8_t phase;
static volatile uint8_t position;
static uint8_t settings_done;
static volatile uint8_t incoming[SAMPLE_BYTES];
static volatile bool complete;
static uint8_t age_ms;

#define GO ((uint8_t)(_BV(TWINT) | _BV(TWEN) | _BV(TWIE)))

void imu_init(void) {
    PORTD |= (uint8_t)(_BV(PD0) | _BV(PD1));
    TWBR = (uint8_t)TWI_400_KHZ;
    TWSR = 0;
    TWCR = (uint8_t)_BV(TWEN);
    phase = IDLE;
}

static void end(void) {
    TWCR = (uint8_t)(_BV(TWINT) | _BV(TWEN) | _BV(TWSTO));
    phase = IDLE;
}

static void next_setting_byte(void) {
    if (position < 2U) {
        TWDR = settings[settings_done][position];
        position++;
        TWCR = GO;
    } else {
        settings_done++;
        end();
    }
}

static void register_written(void) {
    if (position == 0U) {
        TWDR = FIRST_REGISTER;
        position = 1U;
        TWCR = GO;
    } else {
        TWCR = (uint8_t)(GO | _BV(TWSTA)); /* again, now to read */
    }
}

static void byte_arrived(void) {
    incoming[position] = TWDR;
    position++;
    /* All but the last byte are acknowledged. */
    TWCR = (position < (SAMPLE_BYTES - 1U)) ? (uint8_t)(GO | _BV(TWEA)) : GO;
}

ISR(TWI_vect) {
    switch (TW_STATUS) {
    case TW_START:
        TWDR = (uint8_t)(IMU_ADDRESS << 1);
        position = 0U;
        TWCR = GO;
        break;
    case TW_REP_START:
        TWDR = (uint8_t)((IMU_ADDRESS << 1) | 1U);
        position = 0U;
        TWCR = GO;
        break;
    case TW_MT_SLA_ACK:
    case TW_MT_DATA_ACK:
        if (phase == (uint8_t)SETTING) {
            next_setting_byte();
        } else {
            register_written();
        }
        break;
    case TW_MR_SLA_ACK:
        TWCR = (uint8_t)(GO | _BV(TWEA));
        break;
    case TW_MR_DATA_ACK:
        byte_arrived();
        break;
    case TW_MR_DATA_NACK:
        incoming[position] = TWDR;
        complete = true;
        end();
        break;
    default:
        end(); /* nobody there, or the bus is in disorder: this sample is lost */
        break;
    }
}

static int16_t word_at(uint8_t index) {
    return (int16_t)(uint16_t)(((uint16_t)incoming[index] << 8) | incoming[index + 1U]);
}

static void begin_transfer(void) {
    if (phase != (uint8_t)IDLE) {
        /* No end within the period: switch the interface off and on again, and set the sensor up anew. */
        TWCR = 0;
        settings_done = 0U;
        imu_init();
    }
    phase = (settings_done < SETTINGS) ? (uint8_t)SETTING : (uint8_t)READING;
    position = 0U;
    TWCR = (uint8_t)(GO | _BV(TWSTA));
}

void imu_step(int16_t accel_mg[3], int16_t gyro_mradps[3]) {
    if (complete) {
        complete = false;
        for (uint8_t axis = 0; axis < 3U; axis++) {
            accel_mg[axis] = (int16_t)(((int32_t)word_at((uint8_t)(2U * axis)) * 125L) >> 11);
            /* 65.5 counts per deg/s are 3753 per rad/s. */
            gyro_mradps[axis] = (int16_t)(((int32_t)word_at((uint8_t)(8U + (2U * axis))) * 4366L) >> 14);
        }
    }
    age_ms++;
    if (age_ms >= IMU_PERIOD_MS) {
        age_ms = 0U;
        begin_transfer();
    }
}
