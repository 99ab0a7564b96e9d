/* From raw inputs to live faults: debounced, filtered, checked for plausibility. */
#ifndef BRAINSTEM_SENSE_H
#define BRAINSTEM_SENSE_H

#include "port.h"
#include "reflex.h"

typedef struct {
    bool started;                            /* false until the first sample */
    int32_t gravity_q8[3];                   /* mg times 256, in imu_link */
    int16_t imu_last[6];
    uint16_t imu_frozen_ms;
    uint16_t imu_bad_ms;
    uint16_t count_window[2][SPEED_WINDOW_MS];
    uint8_t window_at;
    int16_t speed_mmps[2];
    uint16_t wheel_current_ms[2];
    uint16_t arm_current_ms;
    uint16_t stall_ms[2];
    uint16_t encoder_ms[2];
    uint16_t voltage_low_ms;
    uint16_t voltage_bad_ms;
    uint8_t contact;                         /* CONTACT_… bits, as of this tick */
} sense_t;

void sense_init(sense_t *sense);

/* One tick: LINK_FAULT_… bits that hold now. `wheel_mmps` is what the wheels were told in the last tick while
 * `motors_on`. */
uint16_t sense_step(sense_t *sense, const port_input_t *in, bool motors_on, const int16_t wheel_mmps[2]);

#endif
