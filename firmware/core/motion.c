#include "motion.h"

#include "arith.h"

#define DUTY_MAX 1000
#define INTEGRAL_MAX_Q16 ((int32_t)MOTOR_INTEGRAL_LIMIT * 65536)

void base_motion_init(base_motion_t *base)
{
    static const base_motion_t zero = {0};

    *base = zero;
}

void base_motion_target(base_motion_t *base, int16_t linear_mmps, int16_t angular_mradps)
{
    base->target_mmps = (int16_t)clamp32(linear_mmps, -LINEAR_MAX_MMPS, LINEAR_MAX_MMPS);
    base->target_mradps = (int16_t)clamp32(angular_mradps, -ANGULAR_MAX_MRADPS, ANGULAR_MAX_MRADPS);
}

/* One tick towards the target. Towards zero it brakes and never passes zero, away from zero it accelerates. */
static int32_t ramp(int32_t now, int32_t target, int32_t accel, int32_t decel)
{
    int32_t lowest = now - accel;
    int32_t highest = now + accel;

    if (now > 0) {
        lowest = clamp32(now - decel, 0, now);
    } else if (now < 0) {
        highest = clamp32(now + decel, now, 0);
    } else {
        /* either way is away from zero */
    }
    return clamp32(target, lowest, highest);
}

static void close_loop(base_motion_t *base, uint8_t side, int32_t measured_mmps)
{
    int32_t told = base->wheel_mmps[side];
    int32_t error = told - measured_mmps;
    int32_t duty = 0;

    if (told == 0) {
        base->integral_q16[side] = 0; /* nothing hunts around standstill */
    } else {
        base->integral_q16[side] = clamp32(base->integral_q16[side] + (error * MOTOR_INTEGRAL_Q16), -INTEGRAL_MAX_Q16,
                                           INTEGRAL_MAX_Q16);
        duty = ((told * MOTOR_FORWARD_Q8) / 256) + ((error * MOTOR_PROPORTIONAL_Q8) / 256) +
               (base->integral_q16[side] / 65536);
    }
    base->duty_permille[side] = (int16_t)clamp32(duty, -DUTY_MAX, DUTY_MAX);
}

/* Ramps, keeps away from the contact that is escaped from, and mixes to wheels. */
static void ramp_both(base_motion_t *base, uint8_t escape_from)
{
    int32_t turn_umps;

    base->linear_umps = ramp(base->linear_umps, (int32_t)base->target_mmps * 1000, LINEAR_ACCEL_UMPS, LINEAR_DECEL_UMPS);
    base->angular_uradps =
        ramp(base->angular_uradps, (int32_t)base->target_mradps * 1000, ANGULAR_ACCEL_URADPS, ANGULAR_DECEL_URADPS);
    if (escape_from != 0u) {
        bool front = (escape_from & CONTACT_FRONT) != 0u;
        bool rear = (escape_from & CONTACT_REAR) != 0u;

        base->linear_umps = clamp32(base->linear_umps, rear ? 0 : (-ESCAPE_SPEED_MMPS * 1000L),
                                    front ? 0 : (ESCAPE_SPEED_MMPS * 1000L));
        base->angular_uradps = 0;
    }
    turn_umps = (base->angular_uradps * HALF_TRACK_MM) / 1000;
    base->wheel_mmps[SIDE_LEFT] = (int16_t)((base->linear_umps - turn_umps) / 1000);
    base->wheel_mmps[SIDE_RIGHT] = (int16_t)((base->linear_umps + turn_umps) / 1000);
}

void base_motion_step(base_motion_t *base, motion_t allowed, uint8_t escape_from, const int16_t measured_mmps[2])
{
    if (allowed == MOTION_CUT) {
        base_motion_init(base);
    } else {
        if (allowed == MOTION_RAMP_DOWN) {
            base->target_mmps = 0;
            base->target_mradps = 0;
        }
        ramp_both(base, escape_from);
        close_loop(base, SIDE_LEFT, measured_mmps[SIDE_LEFT]);
        close_loop(base, SIDE_RIGHT, measured_mmps[SIDE_RIGHT]);
    }
}

bool base_motion_standing(const base_motion_t *base)
{
    return (base->linear_umps == 0) && (base->angular_uradps == 0);
}

static int16_t within(uint8_t joint, int16_t position_mrad)
{
    static const int16_t lower[JOINT_COUNT] = JOINT_LOWER_MRAD;
    static const int16_t upper[JOINT_COUNT] = JOINT_UPPER_MRAD;

    return (int16_t)clamp32(position_mrad, lower[joint], upper[joint]);
}

void arm_motion_init(arm_motion_t *arm)
{
    static const arm_motion_t zero = {0};

    *arm = zero;
}

void arm_motion_engage(arm_motion_t *arm, const int16_t measured_mrad[JOINT_COUNT])
{
    for (uint8_t i = 0u; i < JOINT_COUNT; i++) {
        arm->setpoint_mrad[i] = within(i, measured_mrad[i]);
        arm->target_mrad[i] = arm->setpoint_mrad[i];
    }
    arm->holding = true;
}

void arm_motion_release(arm_motion_t *arm)
{
    arm->holding = false;
}

void arm_motion_target(arm_motion_t *arm, const int16_t position_mrad[JOINT_COUNT])
{
    for (uint8_t i = 0u; i < JOINT_COUNT; i++) {
        arm->target_mrad[i] = within(i, position_mrad[i]);
    }
}

void arm_motion_step(arm_motion_t *arm, bool allowed)
{
    for (uint8_t i = 0u; i < JOINT_COUNT; i++) {
        if (allowed && arm->holding) {
            arm->setpoint_mrad[i] = (int16_t)clamp32(arm->target_mrad[i], arm->setpoint_mrad[i] - JOINT_STEP_MRAD,
                                                     arm->setpoint_mrad[i] + JOINT_STEP_MRAD);
        } else {
            arm->target_mrad[i] = arm->setpoint_mrad[i];
        }
    }
}
