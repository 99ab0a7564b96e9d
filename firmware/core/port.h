/* What a microcontroller port gives the core and takes from it: plain numbers in thousandths, no registers. */
#ifndef BRAINSTEM_PORT_H
#define BRAINSTEM_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "limits.h"
#include "link_messages.h"

#define CLIFF_NOTHING_MM 65535u

enum { SIDE_LEFT = 0, SIDE_RIGHT = 1 };

/* Everything sensed, once a millisecond. A sensor that is slower repeats its last value. */
typedef struct {
    bool estop;                          /* pressed, or its wire broken */
    uint8_t bumpers;                     /* LINK_BUMPER_… bits, 1 is pressed */
    uint16_t cliff_mm[CLIFF_COUNT];      /* front left, front right, rear left, rear right */
    int16_t accel_mg[3];                 /* imu_link; z is +1000 at rest */
    int16_t gyro_mradps[3];              /* imu_link */
    int32_t wheel_count[2];              /* counts forwards, may wrap around */
    int16_t wheel_ma[2];
    int16_t arm_ma;
    uint16_t battery_mv;
    int16_t battery_ma;                  /* drawn from it; negative when charging */
    int16_t joint_mrad[JOINT_COUNT];     /* as measured by the servos */
    int16_t joint_load_mnm[JOINT_COUNT];
} port_input_t;

/* Everything driven. `motors_on` false means: driver disabled and its bridge shorted where it can be. */
typedef struct {
    bool motors_on;
    int16_t duty_permille[2];            /* for a bare H-bridge: -1000 to 1000, positive forwards */
    int16_t wheel_mmps[2];               /* for a driver with a speed loop of its own */
    bool servos_on;                      /* false: no torque on the arm */
    int16_t joint_mrad[JOINT_COUNT];
} port_output_t;

/* The functions that a port implements; core/loop.c calls nothing else. */
void port_init(void);
uint16_t port_boot_number(void);         /* differs from one start to the next */
uint8_t port_reset_cause(void);          /* LINK_RESET_… */
uint8_t port_ticks_due(void);            /* milliseconds since the last call, saturating at 255 */
uint16_t port_rx_lost(void);             /* received bytes that were overwritten so far, wraps around */
bool port_receive(uint8_t *byte);        /* false: nothing there */
uint8_t port_send_room(void);            /* bytes that port_send takes now without waiting */
void port_send(const uint8_t *bytes, uint8_t count);
void port_sense(port_input_t *in);
void port_drive(const port_output_t *out);
void port_kick_watchdog(void);           /* the loop is alive */
void port_idle(void);                    /* sleep until the next interrupt; one that came just before wakes it too */

#endif
