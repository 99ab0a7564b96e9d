#include "brainstem.h"

#include <string.h>

#include "arith.h"

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

static void send(brainstem_t *b, uint8_t type, const void *payload, uint8_t size)
{
    uint8_t frame[FRAME_TX_MAX];
    uint8_t length = frame_encode(type, b->tx_seq, (const uint8_t *)payload, size, frame);
    uint8_t free = (uint8_t)(b->tx_tail - b->tx_head); /* 0: all; one byte always stays free */
    bool fits = (free == 0u) || (length < free);

    b->tx_seq++; /* of a lost frame too: the host sees the gap */
    if (!fits) {
        b->tx_lost++;
    }
    for (uint8_t i = 0u; fits && (i < length); i++) {
        b->tx[b->tx_head] = frame[i];
        b->tx_head++;
    }
}

uint8_t brainstem_transmit(brainstem_t *b, uint8_t *buffer, uint8_t room)
{
    uint8_t count = 0u;

    while ((count < room) && (b->tx_tail != b->tx_head)) {
        buffer[count] = b->tx[b->tx_tail];
        b->tx_tail++;
        count++;
    }
    return count;
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
    for (uint8_t i = 0u; i < TELEMETRY_COUNT; i++) {
        b->due_ms[i] = (uint16_t)(1u + (2u * i)); /* spread over the ticks */
    }
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
    send(b, LINK_HELLO_ACK, &ack, (uint8_t)sizeof(ack));
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
    send(b, LINK_PONG, &pong, (uint8_t)sizeof(pong));
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

/* ---- telling ---- */

static void tell_status(brainstem_t *b)
{
    link_status_t status;
    uint8_t flags = 0u;

    if ((b->reflex.state == LINK_STATE_ARMED) || (b->reflex.state == LINK_STATE_STOPPING)) {
        flags |= LINK_STATUS_FLAG_MOTORS_ON;
    }
    if (b->arm.holding) {
        flags |= LINK_STATUS_FLAG_SERVOS_ON;
    }
    if (b->reflex.escape_from != 0u) {
        flags |= LINK_STATUS_FLAG_ESCAPING;
    }
    status.tick_ms = b->tick_ms;
    status.state = b->reflex.state;
    status.faults = b->reflex.faults;
    status.live = b->live;
    status.session = b->session;
    status.drive_seq = b->drive_seq;
    status.flags = flags;
    status.linear_mmps = (int16_t)(b->base.linear_umps / 1000);
    status.angular_mradps = (int16_t)(b->base.angular_uradps / 1000);
    send(b, LINK_STATUS, &status, (uint8_t)sizeof(status));
}

static void tell_odometry(brainstem_t *b, const port_input_t *in)
{
    link_odometry_t odometry;

    odometry.tick_ms = b->tick_ms;
    (void)memcpy(odometry.count, in->wheel_count, sizeof(odometry.count));
    (void)memcpy(odometry.speed_mmps, b->sense.speed_mmps, sizeof(odometry.speed_mmps));
    send(b, LINK_ODOMETRY, &odometry, (uint8_t)sizeof(odometry));
}

static void tell_imu(brainstem_t *b, const port_input_t *in)
{
    link_imu_t imu;

    imu.tick_ms = b->tick_ms;
    (void)memcpy(imu.accel_mg, in->accel_mg, sizeof(imu.accel_mg));
    (void)memcpy(imu.gyro_mradps, in->gyro_mradps, sizeof(imu.gyro_mradps));
    send(b, LINK_IMU, &imu, (uint8_t)sizeof(imu));
}

static void tell_contacts(brainstem_t *b, const port_input_t *in)
{
    link_contacts_t contacts;

    contacts.tick_ms = b->tick_ms;
    contacts.bumpers = in->bumpers;
    (void)memcpy(contacts.cliff_mm, in->cliff_mm, sizeof(contacts.cliff_mm));
    send(b, LINK_CONTACTS, &contacts, (uint8_t)sizeof(contacts));
}

static void tell_joints(brainstem_t *b, const port_input_t *in)
{
    link_joint_states_t joints;

    joints.tick_ms = b->tick_ms;
    (void)memcpy(joints.position_mrad, in->joint_mrad, sizeof(joints.position_mrad));
    (void)memcpy(joints.load_mnm, in->joint_load_mnm, sizeof(joints.load_mnm));
    send(b, LINK_JOINT_STATES, &joints, (uint8_t)sizeof(joints));
}

static void tell_power(brainstem_t *b, const port_input_t *in)
{
    link_power_t power;

    power.tick_ms = b->tick_ms;
    power.battery_mv = in->battery_mv;
    power.battery_ma = in->battery_ma;
    (void)memcpy(power.wheel_ma, in->wheel_ma, sizeof(power.wheel_ma));
    power.arm_ma = in->arm_ma;
    send(b, LINK_POWER, &power, (uint8_t)sizeof(power));
}

static void tell_quality(brainstem_t *b)
{
    link_quality_t quality;

    quality.tick_ms = b->tick_ms;
    quality.frames = b->decoder.good;
    quality.bad_crc = b->decoder.bad_crc;
    quality.bad_frame = b->decoder.bad_frame;
    quality.stale = b->stale;
    quality.unknown = b->unknown;
    quality.rx_lost = b->rx_lost;
    quality.tx_lost = b->tx_lost;
    send(b, LINK_QUALITY, &quality, (uint8_t)sizeof(quality));
}

static bool due(brainstem_t *b, uint8_t which, uint16_t period_ms)
{
    bool now = b->due_ms[which] <= 1u;

    b->due_ms[which] = now ? period_ms : (uint16_t)(b->due_ms[which] - 1u);
    return now;
}

static void tell(brainstem_t *b, const port_input_t *in, bool state_changed)
{
    if (due(b, 0u, LINK_STATUS_PERIOD_MS) || state_changed) {
        tell_status(b);
    }
    if (due(b, 1u, LINK_ODOMETRY_PERIOD_MS)) {
        tell_odometry(b, in);
    }
    if (due(b, 2u, LINK_IMU_PERIOD_MS)) {
        tell_imu(b, in);
    }
    if (due(b, 3u, LINK_CONTACTS_PERIOD_MS)) {
        tell_contacts(b, in);
    }
    if (due(b, 4u, LINK_JOINT_STATES_PERIOD_MS)) {
        tell_joints(b, in);
    }
    if (due(b, 5u, LINK_POWER_PERIOD_MS)) {
        tell_power(b, in);
    }
    if (due(b, 6u, LINK_QUALITY_PERIOD_MS)) {
        tell_quality(b);
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
    send(b, LINK_RESULT, &result, (uint8_t)sizeof(result));
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
    tell(b, in, b->reflex.state != before);
}
