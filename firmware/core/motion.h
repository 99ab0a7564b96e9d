/* Speed and acceleration limits of body and arm, and the speed loop of a wheel. Integers only. */
#ifndef BRAINSTEM_MOTION_H
#define BRAINSTEM_MOTION_H

#include "port.h"
#include "reflex.h"

typedef struct {
    int32_t linear_umps;       /* µm/s, what the wheels are told now */
    int32_t angular_uradps;    /* µrad/s */
    int16_t target_mmps;       /* what the host asked for, within the limits */
    int16_t target_mradps;
    int16_t wheel_mmps[2];     /* the same as wheel speeds */
    int32_t integral_q16[2];   /* of the speed loops, permille times 65536 */
    int16_t duty_permille[2];
} base_motion_t;

typedef struct {
    bool holding;              /* servos have torque */
    int16_t target_mrad[JOINT_COUNT];
    int16_t setpoint_mrad[JOINT_COUNT];
} arm_motion_t;

void base_motion_init(base_motion_t *base);

/* What the host wants; clamped to the body's limits. */
void base_motion_target(base_motion_t *base, int16_t linear_mmps, int16_t angular_mradps);

/* One tick: ramps, mixes to wheels, closes the speed loops. `escape_from` are the CONTACT_… bits to move away from. */
void base_motion_step(base_motion_t *base, motion_t allowed, uint8_t escape_from, const int16_t measured_mmps[2]);

bool base_motion_standing(const base_motion_t *base);

void arm_motion_init(arm_motion_t *arm);

/* Torque on, holding where the arm is. */
void arm_motion_engage(arm_motion_t *arm, const int16_t measured_mrad[JOINT_COUNT]);

/* Torque off. */
void arm_motion_release(arm_motion_t *arm);

/* Where the host wants the arm; clamped to the joints' limits. */
void arm_motion_target(arm_motion_t *arm, const int16_t position_mrad[JOINT_COUNT]);

/* One tick towards the target; without `allowed` the arm holds where it is and forgets the target. */
void arm_motion_step(arm_motion_t *arm, bool allowed);

#endif
