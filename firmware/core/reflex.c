#include "reflex.h"

#include "arith.h"

void reflex_init(reflex_t *reflex)
{
    reflex->state = LINK_STATE_DISARMED;
    reflex->faults = 0u;
    reflex->silence_ms = HOST_SILENCE_MS;
    reflex->escape_from = 0u;
    reflex->escape_ms = 0u;
    reflex->released_ms = 0u;
}

/* The way out is known: exactly one side is in contact. */
static bool one_sided(uint8_t contact)
{
    return (contact == CONTACT_FRONT) || (contact == CONTACT_REAR);
}

/* Follows an escape, and returns the live faults that count in this tick. */
static uint16_t escape(reflex_t *reflex, uint16_t live, uint8_t contact)
{
    uint16_t counting = live;

    if (reflex->escape_from != 0u) {
        reflex->released_ms = lasting(contact == 0u, reflex->released_ms, ESCAPE_RELEASE_MS);
        reflex->escape_ms = lasting(true, reflex->escape_ms, ESCAPE_LONGEST_MS);
        if (reflex->released_ms >= ESCAPE_RELEASE_MS) {
            reflex->escape_from = 0u;
        } else if (reflex->escape_ms >= ESCAPE_LONGEST_MS) {
            counting |= LINK_FAULT_ESCAPE_OVER;
        } else if ((contact & (uint8_t)~reflex->escape_from) == 0u) {
            counting &= (uint16_t)~FAULTS_CONTACT;
        } else {
            /* a contact on the other side stops as any first one does */
        }
    }
    return counting;
}

static void latch(reflex_t *reflex, uint16_t faults)
{
    reflex->state = LINK_STATE_FAULT;
    reflex->faults |= faults;
    reflex->escape_from = 0u;
}

/* What a request may overrule of the live faults: a contact, if it asks to move away from it and the way is known. */
static uint16_t overruled(const reflex_request_t *request, uint8_t contact)
{
    return (request->escape && one_sided(contact)) ? FAULTS_CONTACT : 0u;
}

/* Clear and arm go by the state before the tick: what latches or comes to a halt in it can't be overruled in it. */
static uint8_t judge(const reflex_request_t *request, uint8_t before, uint8_t needed, uint16_t live)
{
    uint8_t outcome = LINK_OUTCOME_DONE;

    if (before != needed) {
        outcome = LINK_OUTCOME_WRONG_STATE;
    } else if (!request->challenge_right) {
        outcome = LINK_OUTCOME_STALE_CHALLENGE;
    } else if (live != 0u) {
        outcome = LINK_OUTCOME_UNSAFE;
    } else {
        /* nothing speaks against it */
    }
    return outcome;
}

static uint8_t try_clear(reflex_t *reflex, const reflex_request_t *request, uint8_t before, uint16_t live,
                         uint8_t contact)
{
    uint16_t against = live & (uint16_t)~overruled(request, contact);
    uint8_t outcome = judge(request, before, LINK_STATE_FAULT, against);

    if (outcome == LINK_OUTCOME_DONE) {
        reflex->state = LINK_STATE_DISARMED;
        reflex->faults = 0u;
    }
    return outcome;
}

static uint8_t try_arm(reflex_t *reflex, const reflex_request_t *request, uint8_t before, uint16_t live,
                       uint8_t contact)
{
    uint16_t aside = overruled(request, contact);
    uint8_t outcome = judge(request, before, LINK_STATE_DISARMED, live & (uint16_t)~aside);

    if (outcome == LINK_OUTCOME_DONE) {
        reflex->state = LINK_STATE_ARMED;
        reflex->faults = 0u;
        reflex->silence_ms = 0u;
        reflex->escape_from = (aside != 0u) ? contact : 0u;
        reflex->escape_ms = 0u;
        reflex->released_ms = 0u;
    }
    return outcome;
}

/* Armed or on the way to a halt: what ends it. */
static void supervise(reflex_t *reflex, const reflex_request_t *request, uint16_t counting, bool standing)
{
    bool silent = reflex->silence_ms >= HOST_SILENCE_MS;

    if (counting != 0u) {
        latch(reflex, counting);
    } else if (reflex->state == LINK_STATE_STOPPING) {
        if (standing) {
            reflex->state = LINK_STATE_DISARMED;
            reflex->escape_from = 0u;
        }
    } else if (silent || (request->kind == REQUEST_DISARM)) {
        reflex->state = LINK_STATE_STOPPING;
        reflex->faults = silent ? LINK_FAULT_HOST_SILENT : 0u;
    } else {
        /* stays armed */
    }
}

motion_t reflex_step(reflex_t *reflex, const reflex_request_t *request, uint16_t live, uint8_t contact, bool standing,
                     uint8_t *outcome)
{
    uint16_t counting = escape(reflex, live & FAULTS_LATCHING, contact);
    uint8_t before = reflex->state;
    motion_t motion;

    *outcome = LINK_OUTCOME_DONE;
    reflex->silence_ms = lasting(!request->drive_fresh, reflex->silence_ms, HOST_SILENCE_MS);
    if (request->kind == REQUEST_STOP) {
        latch(reflex, LINK_FAULT_HOST_STOP);
    }
    switch (reflex->state) {
    case LINK_STATE_ARMED:
    case LINK_STATE_STOPPING:
        supervise(reflex, request, counting, standing);
        break;
    case LINK_STATE_FAULT:
        reflex->faults |= counting;
        break;
    case LINK_STATE_DISARMED:
        break;
    default:
        latch(reflex, LINK_FAULT_MEMORY);
        break;
    }
    if (request->kind == REQUEST_CLEAR) {
        *outcome = try_clear(reflex, request, before, counting, contact);
    } else if (request->kind == REQUEST_ARM) {
        *outcome = try_arm(reflex, request, before, counting, contact);
    } else {
        /* a stop and a disarm are always done */
    }
    if (reflex->state == LINK_STATE_ARMED) {
        motion = MOTION_FOLLOW;
    } else if (reflex->state == LINK_STATE_STOPPING) {
        motion = MOTION_RAMP_DOWN;
    } else {
        motion = MOTION_CUT;
    }
    return motion;
}
