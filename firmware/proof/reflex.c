/* The state machine, one tick from any state: what stops, what latches, what arms. */
#include <assert.h>

#include "invariant.h"

reflex_t nondet_reflex(void);
reflex_request_t nondet_request(void);
uint16_t nondet_faults(void);
uint8_t nondet_byte(void);
bool nondet_bool(void);

static bool moving(uint8_t state)
{
    return (state == LINK_STATE_ARMED) || (state == LINK_STATE_STOPPING);
}

void boots_disarmed(void)
{
    reflex_t r;

    reflex_init(&r);
    assert(reflex_invariant(&r));
    assert(r.state == LINK_STATE_DISARMED);
}

void one_tick(void)
{
    reflex_t r = nondet_reflex();
    reflex_request_t request = nondet_request();
    uint16_t live = nondet_faults();
    uint8_t contact = nondet_byte();
    bool standing = nondet_bool();
    uint8_t outcome;

    __CPROVER_assume(reflex_invariant(&r) && (request.kind <= REQUEST_STOP));
    /* what sense.c promises: shown in proof/sense.c */
    __CPROVER_assume((contact <= 3u) && ((contact != 0u) == ((live & FAULTS_CONTACT) != 0u)));
    __CPROVER_assume((live & (LINK_FAULT_HOST_SILENT | LINK_FAULT_HOST_STOP | LINK_FAULT_ESCAPE_OVER | LINK_FAULT_MEMORY)) == 0u);
    reflex_t before = r;
    motion_t motion = reflex_step(&r, &request, live, contact, standing, &outcome);

    assert(reflex_invariant(&r));
    assert((motion == MOTION_CUT) == !moving(r.state));
    assert((motion == MOTION_FOLLOW) == (r.state == LINK_STATE_ARMED));

    /* Any fault but a contact that is being escaped from cuts in the same tick, and latches if it was moving. */
    if ((live & (uint16_t)~FAULTS_CONTACT) != 0u) {
        assert(motion == MOTION_CUT);
        assert(!moving(before.state) || (r.state == LINK_STATE_FAULT));
        assert(!moving(before.state) || ((r.faults & live) == live) || (before.escape_from != 0u));
    }
    if (contact != 0u) {
        assert((motion == MOTION_CUT) || (contact == r.escape_from));
    }
    /* Escaping begins by arming with the flag and no other way. */
    if (r.escape_from != before.escape_from) {
        assert((r.escape_from == 0u) || ((before.state == LINK_STATE_DISARMED) && request.escape && request.challenge_right &&
                                        (request.kind == REQUEST_ARM) && (contact == r.escape_from)));
    }
    if (before.escape_from != 0u) {
        assert((r.escape_from == 0u) || (r.escape_ms > before.escape_ms)); /* it can't last */
        assert(r.escape_ms < ESCAPE_LONGEST_MS || r.escape_from == 0u);
        assert((r.escape_from != 0u) || !moving(r.state) || (contact == 0u));
    }

    /* Faults latch: the only way out is a clear request with the right challenge, and it leads to disarmed. */
    if (before.state == LINK_STATE_FAULT) {
        assert((r.state == LINK_STATE_FAULT) || (r.state == LINK_STATE_DISARMED));
        assert((r.state == LINK_STATE_FAULT) || ((request.kind == REQUEST_CLEAR) && request.challenge_right &&
                                                ((live & (uint16_t)~FAULTS_CONTACT) == 0u) &&
                                                ((contact == 0u) || request.escape)));
        assert((r.state != LINK_STATE_FAULT) || ((before.faults & (uint16_t)~r.faults) == 0u));
    }
    /* Armed only from disarmed, by an arm request with the right challenge, with nothing live. */
    if ((r.state == LINK_STATE_ARMED) && (before.state != LINK_STATE_ARMED)) {
        assert(before.state == LINK_STATE_DISARMED);
        assert((request.kind == REQUEST_ARM) && request.challenge_right);
        assert((live & (uint16_t)~FAULTS_CONTACT) == 0u);
        assert((contact == 0u) || (request.escape && (contact != 3u)));
        assert(r.faults == 0u);
    }
    assert((r.state != LINK_STATE_STOPPING) || moving(before.state));
    assert((before.state != LINK_STATE_STOPPING) || (r.state != LINK_STATE_ARMED));

    /* The host can always stop. */
    if (request.kind == REQUEST_STOP) {
        assert((r.state == LINK_STATE_FAULT) && ((r.faults & LINK_FAULT_HOST_STOP) != 0u));
    }
    if (request.kind == REQUEST_DISARM) {
        assert(motion != MOTION_FOLLOW);
    }
    /* Watchdog: silence counts up to its limit, and at the limit nothing follows the host. */
    if (!request.drive_fresh && (r.state == LINK_STATE_ARMED) && (before.state == LINK_STATE_ARMED)) {
        assert(r.silence_ms == before.silence_ms + 1u);
        assert(r.silence_ms < HOST_SILENCE_MS);
    }
    if ((before.state == LINK_STATE_STOPPING) && standing) {
        assert(!moving(r.state));
    }
    /* A request is answered by what happened. */
    if (request.kind == REQUEST_ARM) {
        assert((outcome == LINK_OUTCOME_DONE) == ((r.state == LINK_STATE_ARMED) && (before.state != LINK_STATE_ARMED)));
    }
    if (request.kind == REQUEST_CLEAR) {
        assert((outcome == LINK_OUTCOME_DONE) == ((before.state == LINK_STATE_FAULT) && (r.state == LINK_STATE_DISARMED)));
    }
}

/* Memory that no step can have left behind: nothing moves, and it latches. */
void a_damaged_state_cuts(void)
{
    reflex_t r = nondet_reflex();
    reflex_request_t request = nondet_request();
    uint8_t outcome;

    __CPROVER_assume(r.state > LINK_STATE_FAULT);
    motion_t motion = reflex_step(&r, &request, nondet_faults(), nondet_byte(), nondet_bool(), &outcome);
    assert((motion == MOTION_CUT) && (r.state == LINK_STATE_FAULT) && (r.faults != 0u));
}
