/* Which pin is what on an Arduino Mega 2560, and how its voltages read. The wiring table of firmware/port/README.md. */
#ifndef BRAINSTEM_MEGA2560_BOARD_H
#define BRAINSTEM_MEGA2560_BOARD_H

#include <avr/io.h>

/* Host: USB. 16 MHz divides to 500 000 baud exactly; to 115 200 it doesn't. */
#define BAUD 500000UL

/* Inputs that a broken wire makes read as danger: switches that open when pressed, against ground, with pull-ups. */
#define SWITCHES_PIN PINL
#define SWITCHES_PORT PORTL
#define ESTOP_BIT PL0        /* D49 */
#define BUMPER_LEFT_BIT PL1  /* D48 */
#define BUMPER_RIGHT_BIT PL2 /* D47 */

/* Quadrature encoders, both edges of both channels (PCINT0). */
#define ENCODER_PIN PINB
#define ENCODER_PORT PORTB
#define ENCODER_MASK 0x0FU /* left A D53, left B D52, right A D51, right B D50 */

/* Wheel driver: PWM, direction and enable. With the enable low its low sides short the motors. */
#define DRIVER_PORT PORTA
#define DRIVER_DDR DDRA
#define REVERSE_LEFT_BIT PA0  /* D22 */
#define REVERSE_RIGHT_BIT PA1 /* D23 */
#define MOTORS_ON_BIT PA2     /* D24 */
#define SERVOS_ON_BIT PA3     /* D25: the transistor in the servos' supply */
#define PWM_TOP 799U          /* 20 kHz; left D11 (OC1A), right D12 (OC1B) */

/* Servo pulses at 50 Hz in half microseconds, channels D5 D2 D3 (timer 3) and D6 D7 D8 (timer 4). */
#define SERVO_TOP 39999U
#define SERVO_CENTRE 3000
#define SERVO_SWING 2000 /* to either side: 0.5 to 2.5 ms */

/* Analogue inputs, 10 bits of 5 V. A0 to A5: the servos' potentiometers, in the order of the joints. */
enum {
    CHANNEL_JOINT = 0,
    CHANNEL_BATTERY_V = 6,
    CHANNEL_BATTERY_I = 7,
    CHANNEL_WHEEL_I = 8,
    CHANNEL_ARM_I = 10,
    CHANNEL_CLIFF = 11,
    CHANNEL_COUNT = 15
};
#define FULL_SCALE_MV 5000L /* at 1024 counts */
#define BATTERY_DIVIDER_Q10 3482UL /* 24 kOhm over 10 kOhm: 5 V is 17 V of battery */
#define HALL_ZERO_MV 2500L         /* a current sensor's output at rest … */
#define HALL_MA_PER_V_Q10 10240L   /* … and its slope: ACS712-20A, 100 mV/A */
#define CLIFF_MV_MM 42000U         /* GP2Y0A51: voltage times distance is about constant */
#define CLIFF_BLIND_MV 200U        /* below it nothing is in reach */

/* Per joint: the angle at the middle of the servo's travel, and from there to either end; mrad. */
#define JOINT_CENTRE_MRAD {0, 0, 0, 0, 0, 750}
#define JOINT_SCALES(of) {of(2200), of(2200), of(2200), of(2200), of(3000), of(1250)}
#define FEEDBACK_LOW_MV 250L /* of a potentiometer at the travel's ends */
#define FEEDBACK_HIGH_MV 4750L

/* Inertial unit: MPU-6050 at 400 kHz on D20 (SDA) and D21 (SCL), +-2 g and +-500 deg/s. */
#define IMU_ADDRESS 0x68U
#define IMU_PERIOD_MS 5U

#endif
