/* The whole: one millisecond and one received byte, from any state. Framing and senses are stood for by what their own
 * proofs show of them (proof/frame.c, proof/sense.c). */
#include <assert.h>

#include "../core/arith.h"
#include "invariant.h"

brainstem_t nondet_brainstem(void);
sense_t nondet_sense(void);
port_input_t nondet_input(void);
uint8_t nondet_byte(void);
uint16_t nondet_short(void);
bool nondet_bool(void);

static uint8_t any_payload[LINK_HOST_PAYLOAD_MAX];
static frame_t any_frame;

void frame_decoder_init(frame_decoder_t *decoder)
{
    decoder->count = 0u;
    decoder->left = 0u;
    decoder->code = 0u;
}

bool frame_decode(frame_decoder_t *decoder, uint8_t byte, frame_t *frame)
{
    (void)byte;
    assert(decoder_invariant(decoder));
    *frame = any_frame;
    return nondet_bool();
}

uint8_t frame_encode(uint8_t type, uint8_t seq, const uint8_t *payload, uint8_t size, uint8_t out[FRAME_TX_MAX])
{
    (void)type;
    (void)seq;
    assert(size <= LINK_PAYLOAD_MAX);
    assert(__CPROVER_r_ok(payload, size));
    assert(__CPROVER_w_ok(out, FRAME_TX_MAX));
    __CPROVER_havoc_slice(out, FRAME_TX_MAX);
    return (uint8_t)(size + FRAME_OVERHEAD + 2u);
}

void sense_init(sense_t *sense)
{
    *sense = (sense_t){0};
}

uint16_t sense_step(sense_t *sense, const port_input_t *in, bool motors_on, const int16_t wheel_mmps[2])
{
    uint16_t live = nondet_short();

    (void)motors_on;
    assert(sense_invariant(sense));
    assert(within(wheel_mmps[0], WHEEL_MAX_MMPS) && within(wheel_mmps[1], WHEEL_MAX_MMPS));
    *sense = nondet_sense();
    __CPROVER_assume(sense_invariant(sense));
    bool cliff = false;
    uint8_t contact = (in->bumpers != 0u) ? CONTACT_FRONT : 0u;
    for (unsigned i = 0u; i < CLIFF_COUNT; i++) {
        if ((in->cliff_mm[i] < CLIFF_NEAREST_MM) || (in->cliff_mm[i] > CLIFF_FARTHEST_MM)) {
            cliff = true;
            contact |= (i < 2u) ? CONTACT_FRONT : CONTACT_REAR;
        }
    }
    sense->contact = contact;
    __CPROVER_assume(((live & LINK_FAULT_ESTOP) != 0u) == (in->estop ? true : false));
    __CPROVER_assume(((live & LINK_FAULT_BUMPER) != 0u) == (in->bumpers != 0u));
    __CPROVER_assume(((live & LINK_FAULT_CLIFF) != 0u) == cliff);
    __CPROVER_assume((live & (LINK_FAULT_HOST_SILENT | LINK_FAULT_HOST_STOP | LINK_FAULT_ESCAPE_OVER |
                              LINK_FAULT_MEMORY | LINK_FAULT_TIMING)) == 0u);
    return live;
}

static bool all_off(const port_output_t *out)
{
    return !out->motors_on && (out->duty_permille[0] == 0) && (out->duty_permille[1] == 0) &&
           (out->wheel_mmps[0] == 0) && (out->wheel_mmps[1] == 0);
}

void boots_disarmed(void)
{
    brainstem_t b;
    port_input_t in = nondet_input();
    port_output_t out;

    brainstem_init(&b, nondet_short(), nondet_byte());
    assert(brainstem_invariant(&b));
    assert((b.reflex.state == LINK_STATE_DISARMED) && (b.challenge_ms == 0u) && !b.arm.holding);
    brainstem_step(&b, &in, nondet_byte(), nondet_short(), &out);
    assert(all_off(&out) && !out.servos_on);
}

void one_millisecond(void)
{
    brainstem_t b = nondet_brainstem();
    port_input_t in = nondet_input();
    port_output_t out;
    uint8_t late_ms = nondet_byte();

    __CPROVER_assume(brainstem_invariant(&b));
    brainstem_t before = b;
    brainstem_step(&b, &in, late_ms, nondet_short(), &out);

    assert(brainstem_invariant(&b));
    assert(out.motors_on || all_off(&out));
    assert(out.motors_on == ((b.reflex.state == LINK_STATE_ARMED) || (b.reflex.state == LINK_STATE_STOPPING)));
    /* The same tick: stop, tilt, and everything else that isn't a contact. */
    if (in.estop || (late_ms >= TIMING_LATE_MS) || ((b.live & (uint16_t)~FAULTS_CONTACT) != 0u)) {
        assert(all_off(&out));
    }
    if (in.estop) {
        assert(!out.servos_on);
    }
    /* The same tick: bumper and cliff; armed in spite of one side, it moves only away from it. */
    if (b.sense.contact != 0u) {
        assert(all_off(&out) || (b.reflex.escape_from == b.sense.contact));
    }
    for (int side = 0; side < 2; side++) {
        assert(within(out.duty_permille[side], 1000));
        assert(within(out.wheel_mmps[side], WHEEL_MAX_MMPS));
        if (b.reflex.escape_from != 0u) {
            assert(within(out.wheel_mmps[side], ESCAPE_SPEED_MMPS));
            assert((b.reflex.escape_from == CONTACT_REAR) || (out.wheel_mmps[side] <= 0));
            assert((b.reflex.escape_from == CONTACT_FRONT) || (out.wheel_mmps[side] >= 0));
        }
    }
    /* Speeding up is limited for whole ticks, whatever the host sent. */
    assert(abs32(b.base.linear_umps) <= abs32(before.base.linear_umps) + LINEAR_ACCEL_UMPS);
    assert(abs32(b.base.angular_uradps) <= abs32(before.base.angular_uradps) + ANGULAR_ACCEL_URADPS);
    /* Never a motion after a gap: what waited is used now or never, and without a new command targets don't change. */
    assert(!b.drive_waits && !b.joints_wait && (b.request.kind == REQUEST_NONE));
    if (!before.drive_waits) {
        assert((b.base.target_mmps == before.base.target_mmps) || (b.base.target_mmps == 0));
        assert((b.base.target_mradps == before.base.target_mradps) || (b.base.target_mradps == 0));
    }
    /* A new session starts from standstill and hears nothing of the old one. */
    if ((b.reflex.state == LINK_STATE_ARMED) && (before.reflex.state != LINK_STATE_ARMED)) {
        assert((before.request.kind == REQUEST_ARM) && before.request.challenge_right);
        assert((out.wheel_mmps[0] == 0) && (out.wheel_mmps[1] == 0) && !b.session_heard);
        assert(b.session == before.request_session);
        for (unsigned i = 0u; i < JOINT_COUNT; i++) {
            assert(before.arm.holding || !out.servos_on || (b.arm.target_mrad[i] == b.arm.setpoint_mrad[i]));
        }
    }
    /* The arm moves only while it follows, and servos come on only by arming. */
    for (unsigned i = 0u; i < JOINT_COUNT; i++) {
        assert((b.reflex.state == LINK_STATE_ARMED) || (b.arm.setpoint_mrad[i] == before.arm.setpoint_mrad[i]));
    }
    assert(!out.servos_on || before.arm.holding || (b.reflex.state == LINK_STATE_ARMED));
}

static bool same_motion(const brainstem_t *a, const brainstem_t *b)
{
    bool same = (a->reflex.state == b->reflex.state) && (a->reflex.faults == b->reflex.faults) &&
                (a->reflex.silence_ms == b->reflex.silence_ms) && (a->base.linear_umps == b->base.linear_umps) &&
                (a->base.angular_uradps == b->base.angular_uradps) && (a->base.target_mmps == b->base.target_mmps) &&
                (a->base.target_mradps == b->base.target_mradps) && (a->session == b->session) &&
                (a->base.duty_permille[0] == b->base.duty_permille[0]) &&
                (a->base.duty_permille[1] == b->base.duty_permille[1]) && (a->arm.holding == b->arm.holding);

    for (unsigned i = 0u; i < JOINT_COUNT; i++) {
        same = same && (a->arm.setpoint_mrad[i] == b->arm.setpoint_mrad[i]) &&
               (a->arm.target_mrad[i] == b->arm.target_mrad[i]);
    }
    return same;
}

void one_byte(void)
{
    brainstem_t b = nondet_brainstem();

    __CPROVER_havoc_object(any_payload);
    any_frame.type = nondet_byte();
    any_frame.seq = nondet_byte();
    any_frame.size = nondet_byte();
    any_frame.payload = any_payload;
    __CPROVER_assume(any_frame.size <= LINK_HOST_PAYLOAD_MAX);
    __CPROVER_assume(brainstem_invariant(&b));
    brainstem_t before = b;
    brainstem_receive(&b, nondet_byte());

    assert(brainstem_invariant(&b));
    assert(same_motion(&before, &b)); /* no byte moves anything: only a tick does */
    /* A command is taken only armed, in its session, and when newer than the last. */
    if ((b.drive_waits && !before.drive_waits) || (b.joints_wait && !before.joints_wait)) {
        uint8_t ahead = (uint8_t)(any_frame.seq - before.command_seq);

        assert((before.reflex.state == LINK_STATE_ARMED) && (any_payload[0] == before.session));
        assert(!before.session_heard || ((ahead >= 1u) && (ahead <= 127u)));
        assert((b.command_seq == any_frame.seq) && b.session_heard);
        assert((any_frame.type == LINK_DRIVE) || (any_frame.type == LINK_JOINTS));
    }
    /* A request to arm or to clear needs the last challenge, in time, and uses it up. */
    if (((b.request.kind == REQUEST_ARM) || (b.request.kind == REQUEST_CLEAR)) && b.request.challenge_right &&
        (b.request.kind != before.request.kind)) {
        uint16_t echoed = (uint16_t)(any_payload[0] | (any_payload[1] << 8));

        assert((before.challenge_ms != 0u) && (echoed == before.challenge) && (b.challenge_ms == 0u));
        assert((any_frame.type == LINK_ARM) || (any_frame.type == LINK_CLEAR));
    }
    /* A stop that waits for its tick isn't displaced. */
    assert((before.request.kind != REQUEST_STOP) || (b.request.kind == REQUEST_STOP));
    assert(b.request.kind >= before.request.kind);
}
