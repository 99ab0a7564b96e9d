#include "telemetry.h"

#include <string.h>

#define NEWER_MOST 127u /* a sequence number this far ahead, modulo 256, is newer */

/* Faults in which the servos must not be powered. */
#define FAULTS_ARM_OFF ((uint16_t)(LINK_FAULT_ESTOP | LINK_FAULT_UNDER_VOLTAGE | LINK_FAULT_ARM_CURRENT))

static uint16_t next_challenge(uint16_t challenge)
{
    /* A full-period generator: 65536 different challenges, and 256 different sessions, before one comes again. */
    return (uint16_t)((challenge * 25173uL) + 13849uL);
}

static void new_challenge(brainstem_t *b)
{
    b->challenge = next_challenge(b->challenge);
    b->challenge_ms = HOST_CHALLENGE_MS;
}

void brainstem_init(brainstem_t *b, uint16_t boot, uint8_t reset)
{
    (void)memset(b, 0, sizeof(*b));
    b->boot = boot;
    b->reset = reset;
    b->challenge = boot;
    frame_decoder_init(&b->decoder);
    sense_init(&b->sense);
    reflex_init(&b->reflex);
    base_motion_init(&b->base);
    arm_motion_init(&b->arm);
    telemetry_init(b);
}

/* ---- receiving ---- */

static bool newer(const brainstem_t *b, uint8_t seq)
{
    uint8_t ahead = (uint8_t)(seq - b->command_seq);

    return (!b->session_heard) || ((ahead != 0u) && (ahead <= NEWER_MOST));
}

/* A command counts only in the session that it names, and only when it is newer than all before. */
static bool accept_command(brainstem_t *b, uint8_t session, uint8_t seq)
{
    bool accepted = (b->reflex.state == LINK_STATE_ARMED) && (session == b->session) && newer(b, seq);

    if (accepted) {
        b->session_heard = true;
        b->command_seq = seq;
    } else {
        b->stale++;
    }
    return accepted;
}

/* At most one request a tick; a more pressing one takes the place of another, which the host will repeat. */
static bool take_request(brainstem_t *b, request_kind_t kind, const frame_t *frame)
{
    bool taken = kind > b->request.kind;

    if (taken) {
        b->request.kind = kind;
        b->request_type = frame->type;
        b->request_seq = frame->seq;
    }
    return taken;
}

static void on_hello(brainstem_t *b, const frame_t *frame)
{
    link_hello_t hello;
    link_hello_ack_t ack;

    (void)memcpy(&hello, frame->payload, sizeof(hello));
    new_challenge(b);
    ack.nonce = hello.nonce;
    ack.schema = LINK_SCHEMA;
    ack.challenge = b->challenge;
    ack.boot = b->boot;
    ack.reset = b->reset;
    ack.state = b->reflex.state;
    telemetry_send(b, LINK_HELLO_ACK, &ack, (uint8_t)sizeof(ack));
}

/* arm and clear have the same payload */
_Static_assert(sizeof(link_arm_t) == sizeof(link_clear_t), "read alike");

static void on_challenged(brainstem_t *b, request_kind_t kind, const frame_t *frame)
{
    link_arm_t arm;

    (void)memcpy(&arm, frame->payload, sizeof(arm));
    if (take_request(b, kind, frame)) {
        b->request.challenge_right = (b->challenge_ms != 0u) && (arm.challenge == b->challenge);
        b->request.escape = (arm.flags & LINK_ARM_FLAG_ESCAPE) != 0u;
        b->request_session = (uint8_t)(arm.challenge & 0xFFu);
        if (b->request.challenge_right) {
            b->challenge_ms = 0u;
        }
    }
}

static void on_disarm(brainstem_t *b, const frame_t *frame)
{
    if (take_request(b, REQUEST_DISARM, frame)) {
        b->request_release = (frame->payload[0] & LINK_DISARM_FLAG_RELEASE_ARM) != 0u;
    }
}

static void on_drive(brainstem_t *b, const frame_t *frame)
{
    link_drive_t drive;

    (void)memcpy(&drive, frame->payload, sizeof(drive));
    if (accept_command(b, drive.session, frame->seq)) {
        b->drive = drive;
        b->drive_seq = frame->seq;
        b->drive_waits = true;
    }
}

static void on_joints(brainstem_t *b, const frame_t *frame)
{
    link_joints_t joints;

    (void)memcpy(&joints, frame->payload, sizeof(joints));
    if (accept_command(b, joints.session, frame->seq)) {
        (void)memcpy(b->joints_mrad, joints.position_mrad, sizeof(b->joints_mrad));
        b->joints_wait = true;
    }
}

static void on_ping(brainstem_t *b, const frame_t *frame)
{
    link_ping_t ping;
    link_pong_t pong;

    (void)memcpy(&ping, frame->payload, sizeof(ping));
    pong.nonce = ping.nonce;
    pong.tick_ms = b->tick_ms;
    telemetry_send(b, LINK_PONG, &pong, (uint8_t)sizeof(pong));
}

static void on_frame(brainstem_t *b, const frame_t *frame)
{
    if ((frame->type == LINK_DRIVE) && (frame->size == sizeof(link_drive_t))) {
        on_drive(b, frame);
    } else if ((frame->type == LINK_JOINTS) && (frame->size == sizeof(link_joints_t))) {
        on_joints(b, frame);
    } else if ((frame->type == LINK_STOP) && (frame->size == sizeof(link_stop_t))) {
        (void)take_request(b, REQUEST_STOP, frame);
    } else if ((frame->type == LINK_DISARM) && (frame->size == sizeof(link_disarm_t))) {
        on_disarm(b, frame);
    } else if ((frame->type == LINK_ARM) && (frame->size == sizeof(link_arm_t))) {
        on_challenged(b, REQUEST_ARM, frame);
    } else if ((frame->type == LINK_CLEAR) && (frame->size == sizeof(link_clear_t))) {
        on_challenged(b, REQUEST_CLEAR, frame);
    } else if ((frame->type == LINK_HELLO) && (frame->size == sizeof(link_hello_t))) {
        on_hello(b, frame);
    } else if ((frame->type == LINK_PING) && (frame->size == sizeof(link_ping_t))) {
        on_ping(b, frame);
    } else {
        b->unknown++;
    }
}

void brainstem_receive(brainstem_t *b, uint8_t byte)
{
    frame_t frame;

    if (frame_decode(&b->decoder, byte, &frame)) {
        on_frame(b, &frame);
    }
}

static void answer(brainstem_t *b, uint8_t outcome)
{
    link_result_t result;

    new_challenge(b);
    result.request_seq = b->request_seq;
    result.request = b->request_type;
    result.outcome = outcome;
    result.state = b->reflex.state;
    result.live = b->live;
    result.challenge = b->challenge;
    telemetry_send(b, LINK_RESULT, &result, (uint8_t)sizeof(result));
}

/* ---- a millisecond ---- */

static void move(brainstem_t *b, motion_t motion)
{
    if (motion == MOTION_FOLLOW) {
        if (b->drive_waits) {
            base_motion_target(&b->base, b->drive.linear_mmps, b->drive.angular_mradps);
        }
        if (b->joints_wait) {
            arm_motion_target(&b->arm, b->joints_mrad);
        }
    }
    b->drive_waits = false; /* what came too late is never made up for */
    b->joints_wait = false;
    base_motion_step(&b->base, motion, b->reflex.escape_from, b->sense.speed_mmps);
    arm_motion_step(&b->arm, motion == MOTION_FOLLOW);
}

void brainstem_step(brainstem_t *b, const port_input_t *in, uint8_t late_ms, uint16_t rx_lost, port_output_t *out)
{
    uint8_t before = b->reflex.state;
    bool motors_on = (before == LINK_STATE_ARMED) || (before == LINK_STATE_STOPPING);
    uint8_t outcome;
    motion_t motion;

    b->tick_ms++;
    b->rx_lost = rx_lost;
    if (b->challenge_ms != 0u) {
        b->challenge_ms--;
    }
    b->live = sense_step(&b->sense, in, motors_on, b->base.wheel_mmps);
    if (late_ms >= TIMING_LATE_MS) {
        b->live |= LINK_FAULT_TIMING;
    }
    b->request.drive_fresh = b->drive_waits;
    motion = reflex_step(&b->reflex, &b->request, b->live, b->sense.contact, base_motion_standing(&b->base), &outcome);

    if ((b->reflex.state == LINK_STATE_ARMED) && (before != LINK_STATE_ARMED)) {
        b->session = b->request_session;
        b->session_heard = false;
        if (!b->arm.holding) {
            arm_motion_engage(&b->arm, in->joint_mrad);
        }
    }
    if (((b->live & FAULTS_ARM_OFF) != 0u) || ((b->request.kind == REQUEST_DISARM) && b->request_release)) {
        arm_motion_release(&b->arm);
    }
    move(b, motion);

    out->motors_on = (motion != MOTION_CUT);
    (void)memcpy(out->duty_permille, b->base.duty_permille, sizeof(out->duty_permille));
    (void)memcpy(out->wheel_mmps, b->base.wheel_mmps, sizeof(out->wheel_mmps));
    out->servos_on = b->arm.holding;
    (void)memcpy(out->joint_mrad, b->arm.setpoint_mrad, sizeof(out->joint_mrad));

    if (b->request.kind != REQUEST_NONE) {
        answer(b, outcome);
        b->request.kind = REQUEST_NONE;
    }
    telemetry_step(b, in, b->reflex.state != before);
}
