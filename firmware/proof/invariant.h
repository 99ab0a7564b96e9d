/* What holds between any two ticks. The proofs assume it of an arbitrary state, and show that it holds at the start
 * and after one more step: so it always holds, and so does all that they show of one step (induction). */
#ifndef PROOF_INVARIANT_H
#define PROOF_INVARIANT_H

#include "brainstem.h"

static const int16_t joint_lower[JOINT_COUNT] = JOINT_LOWER_MRAD;
static const int16_t joint_upper[JOINT_COUNT] = JOINT_UPPER_MRAD;

static bool within(int32_t value, int32_t most)
{
    return (value >= -most) && (value <= most);
}

static bool decoder_invariant(const frame_decoder_t *d)
{
    return (d->count <= FRAME_RX_MAX) && (d->left <= 254u) && ((d->code != 0u) || ((d->count == 0u) && (d->left == 0u)));
}

static bool sense_invariant(const sense_t *s)
{
    bool holds = (s->window_at < SPEED_WINDOW_MS);

    for (int i = 0; i < 3; i++) {
        holds = holds && within(s->gravity_q8[i], 4096L * 256L);
    }
    for (int i = 0; i < 2; i++) {
        holds = holds && within(s->speed_mmps[i], 5000);
    }
    return holds;
}

static bool reflex_invariant(const reflex_t *r)
{
    bool moving = (r->state == LINK_STATE_ARMED) || (r->state == LINK_STATE_STOPPING);

    return (r->state <= LINK_STATE_FAULT) && (r->silence_ms <= HOST_SILENCE_MS) && (r->escape_from <= CONTACT_REAR) &&
           ((r->state != LINK_STATE_ARMED) || (r->silence_ms < HOST_SILENCE_MS)) && (moving || (r->escape_from == 0u)) &&
           ((r->escape_from == 0u) || ((r->escape_ms < ESCAPE_LONGEST_MS) && (r->released_ms < ESCAPE_RELEASE_MS))) &&
           ((r->state != LINK_STATE_FAULT) || (r->faults != 0u));
}

static bool base_zero(const base_motion_t *b)
{
    return (b->linear_umps == 0) && (b->angular_uradps == 0) && (b->wheel_mmps[0] == 0) && (b->wheel_mmps[1] == 0) &&
           (b->duty_permille[0] == 0) && (b->duty_permille[1] == 0) && (b->target_mmps == 0) &&
           (b->target_mradps == 0) && (b->integral_q16[0] == 0) && (b->integral_q16[1] == 0);
}

static bool base_invariant(const base_motion_t *b)
{
    bool holds = within(b->linear_umps, LINEAR_MAX_MMPS * 1000L) && within(b->angular_uradps, ANGULAR_MAX_MRADPS * 1000L) &&
                 within(b->target_mmps, LINEAR_MAX_MMPS) && within(b->target_mradps, ANGULAR_MAX_MRADPS);

    for (int i = 0; i < 2; i++) {
        holds = holds && within(b->wheel_mmps[i], WHEEL_MAX_MMPS) && within(b->duty_permille[i], 1000) &&
                within(b->integral_q16[i], MOTOR_INTEGRAL_LIMIT * 65536L);
    }
    return holds;
}

static bool arm_invariant(const arm_motion_t *a)
{
    bool holds = true;

    for (unsigned i = 0u; i < JOINT_COUNT; i++) {
        /* until it is engaged for the first time the arm is at zero, and has no torque */
        bool set = (a->setpoint_mrad[i] >= joint_lower[i]) && (a->setpoint_mrad[i] <= joint_upper[i]) &&
                   (a->target_mrad[i] >= joint_lower[i]) && (a->target_mrad[i] <= joint_upper[i]);

        holds = holds && set;
    }
    return holds;
}

static bool brainstem_invariant(const brainstem_t *b)
{
    bool moving = (b->reflex.state == LINK_STATE_ARMED) || (b->reflex.state == LINK_STATE_STOPPING);

    return decoder_invariant(&b->decoder) && sense_invariant(&b->sense) && reflex_invariant(&b->reflex) &&
           base_invariant(&b->base) && arm_invariant(&b->arm) && (moving || base_zero(&b->base)) &&
           (b->request.kind <= REQUEST_STOP) &&
           ((!b->drive_waits && !b->joints_wait) || (b->reflex.state == LINK_STATE_ARMED));
}

#endif
