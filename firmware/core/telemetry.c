#include "telemetry.h"

#include <string.h>

void telemetry_init(brainstem_t *b)
{
    for (uint8_t i = 0u; i < TELEMETRY_COUNT; i++) {
        b->due_ms[i] = (uint16_t)(1u + (2u * i)); /* spread over the ticks */
    }
}

void telemetry_send(brainstem_t *b, uint8_t type, const void *payload, uint8_t size)
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
    telemetry_send(b, LINK_STATUS, &status, (uint8_t)sizeof(status));
}

static void tell_odometry(brainstem_t *b, const port_input_t *in)
{
    link_odometry_t odometry;

    odometry.tick_ms = b->tick_ms;
    (void)memcpy(odometry.count, in->wheel_count, sizeof(odometry.count));
    (void)memcpy(odometry.speed_mmps, b->sense.speed_mmps, sizeof(odometry.speed_mmps));
    telemetry_send(b, LINK_ODOMETRY, &odometry, (uint8_t)sizeof(odometry));
}

static void tell_imu(brainstem_t *b, const port_input_t *in)
{
    link_imu_t imu;

    imu.tick_ms = b->tick_ms;
    (void)memcpy(imu.accel_mg, in->accel_mg, sizeof(imu.accel_mg));
    (void)memcpy(imu.gyro_mradps, in->gyro_mradps, sizeof(imu.gyro_mradps));
    telemetry_send(b, LINK_IMU, &imu, (uint8_t)sizeof(imu));
}

static void tell_contacts(brainstem_t *b, const port_input_t *in)
{
    link_contacts_t contacts;

    contacts.tick_ms = b->tick_ms;
    contacts.bumpers = in->bumpers;
    (void)memcpy(contacts.cliff_mm, in->cliff_mm, sizeof(contacts.cliff_mm));
    telemetry_send(b, LINK_CONTACTS, &contacts, (uint8_t)sizeof(contacts));
}

static void tell_joints(brainstem_t *b, const port_input_t *in)
{
    link_joint_states_t joints;

    joints.tick_ms = b->tick_ms;
    (void)memcpy(joints.position_mrad, in->joint_mrad, sizeof(joints.position_mrad));
    (void)memcpy(joints.load_mnm, in->joint_load_mnm, sizeof(joints.load_mnm));
    telemetry_send(b, LINK_JOINT_STATES, &joints, (uint8_t)sizeof(joints));
}

static void tell_power(brainstem_t *b, const port_input_t *in)
{
    link_power_t power;

    power.tick_ms = b->tick_ms;
    power.battery_mv = in->battery_mv;
    power.battery_ma = in->battery_ma;
    (void)memcpy(power.wheel_ma, in->wheel_ma, sizeof(power.wheel_ma));
    power.arm_ma = in->arm_ma;
    telemetry_send(b, LINK_POWER, &power, (uint8_t)sizeof(power));
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
    telemetry_send(b, LINK_QUALITY, &quality, (uint8_t)sizeof(quality));
}

static bool due(brainstem_t *b, uint8_t which, uint16_t period_ms)
{
    bool now = b->due_ms[which] <= 1u;

    b->due_ms[which] = now ? period_ms : (uint16_t)(b->due_ms[which] - 1u);
    return now;
}

void telemetry_step(brainstem_t *b, const port_input_t *in, bool state_changed)
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
