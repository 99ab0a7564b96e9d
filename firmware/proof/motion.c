/* Limits of speed and acceleration hold for any command, in any state. */
#include <assert.h>

#include "../core/arith.h"
#include "invariant.h"

base_motion_t nondet_base(void);
arm_motion_t nondet_arm(void);
int16_t nondet_short(void);
uint8_t nondet_byte(void);
bool nondet_bool(void);

static int32_t magnitude_step(int32_t before, int32_t after)
{
    return abs32(after) - abs32(before);
}

/* At most `accel` away from zero and `decel` towards it, and never through zero in one tick. */
static bool ramped(int32_t before, int32_t after, int32_t accel, int32_t decel)
{
    bool through = ((before > 0) && (after < 0)) || ((before < 0) && (after > 0));

    return !through && (magnitude_step(before, after) <= accel) && (magnitude_step(before, after) >= -decel);
}

void base_keeps_its_limits(void)
{
    base_motion_t b;
    int16_t measured[2] = {nondet_short(), nondet_short()};
    motion_t allowed = (motion_t)nondet_byte();
    uint8_t escape_from = nondet_byte();

    base_motion_init(&b);
    assert(base_invariant(&b) && base_zero(&b));
    b = nondet_base();
    __CPROVER_assume(base_invariant(&b));
    __CPROVER_assume((allowed <= MOTION_FOLLOW) && (escape_from <= CONTACT_REAR));
    __CPROVER_assume(within(measured[0], 5000) && within(measured[1], 5000));
    base_motion_t before = b;
    base_motion_step(&b, allowed, escape_from, measured);

    assert(base_invariant(&b));
    if (allowed == MOTION_CUT) {
        assert(base_zero(&b));
    } else if (escape_from == 0u) {
        assert(ramped(before.linear_umps, b.linear_umps, LINEAR_ACCEL_UMPS, LINEAR_DECEL_UMPS));
        assert(ramped(before.angular_uradps, b.angular_uradps, ANGULAR_ACCEL_URADPS, ANGULAR_DECEL_URADPS));
    } else {
        for (int side = 0; side < 2; side++) {
            assert(within(b.wheel_mmps[side], ESCAPE_SPEED_MMPS));
            assert((escape_from == CONTACT_REAR) || (b.wheel_mmps[side] <= 0));
            assert((escape_from == CONTACT_FRONT) || (b.wheel_mmps[side] >= 0));
        }
    }
    if (allowed == MOTION_RAMP_DOWN) {
        /* Ranking: it gets slower by the whole step or stands, so full speed ends after 160 ticks. */
        int32_t linear = abs32(before.linear_umps) - LINEAR_DECEL_UMPS;
        int32_t angular = abs32(before.angular_uradps) - ANGULAR_DECEL_URADPS;

        assert(abs32(b.linear_umps) <= ((linear > 0) ? linear : 0));
        assert(abs32(b.angular_uradps) <= ((angular > 0) ? angular : 0));
        assert((LINEAR_MAX_MMPS * 1000L + LINEAR_DECEL_UMPS - 1) / LINEAR_DECEL_UMPS + HOST_SILENCE_MS <= 300);
        assert((ANGULAR_MAX_MRADPS * 1000L + ANGULAR_DECEL_URADPS - 1) / ANGULAR_DECEL_URADPS + HOST_SILENCE_MS <= 300);
    }
    for (int side = 0; side < 2; side++) {
        assert((b.wheel_mmps[side] != 0) || (b.duty_permille[side] == 0));
    }
}

void targets_are_clamped(void)
{
    base_motion_t b = nondet_base();
    int16_t linear = nondet_short();
    int16_t angular = nondet_short();

    __CPROVER_assume(base_invariant(&b));
    base_motion_target(&b, linear, angular);
    assert(base_invariant(&b));
    assert(!within(linear, LINEAR_MAX_MMPS) || (b.target_mmps == linear));
    assert(!within(angular, ANGULAR_MAX_MRADPS) || (b.target_mradps == angular));
}

void arm_keeps_its_limits(void)
{
    arm_motion_t a;
    int16_t position[JOINT_COUNT];
    bool allowed = nondet_bool();

    arm_motion_init(&a);
    assert(arm_invariant(&a) && !a.holding);
    a = nondet_arm();
    __CPROVER_assume(arm_invariant(&a));
    for (unsigned i = 0u; i < JOINT_COUNT; i++) {
        position[i] = nondet_short();
    }
    if (nondet_bool()) {
        arm_motion_target(&a, position);
        assert(arm_invariant(&a));
    }
    arm_motion_t before = a;
    arm_motion_step(&a, allowed);

    assert(arm_invariant(&a));
    assert(a.holding == before.holding);
    for (unsigned i = 0u; i < JOINT_COUNT; i++) {
        assert(abs32(a.setpoint_mrad[i] - before.setpoint_mrad[i]) <= JOINT_STEP_MRAD);
        assert((allowed && a.holding) || (a.setpoint_mrad[i] == before.setpoint_mrad[i]));
        assert((allowed && a.holding) || (a.target_mrad[i] == a.setpoint_mrad[i])); /* nothing is made up for later */
    }
    arm_motion_engage(&a, position);
    assert(arm_invariant(&a) && a.holding);
    for (unsigned i = 0u; i < JOINT_COUNT; i++) {
        assert(a.target_mrad[i] == a.setpoint_mrad[i]);
        assert((position[i] < joint_lower[i]) || (position[i] > joint_upper[i]) || (a.setpoint_mrad[i] == position[i]));
    }
    arm_motion_release(&a);
    assert(!a.holding);
}
