#include "sense.h"

#include "arith.h"

#define ACCEL_RANGE_MG 4000
#define GYRO_RANGE_MRADPS 17000
#define GRAVITY_RANGE_Q8 (4096L * 256L)
#define SPEED_RANGE_MMPS 5000

void sense_init(sense_t *sense)
{
    static const sense_t zero = {0};

    *sense = zero;
}

static void start(sense_t *sense, const port_input_t *in)
{
    for (uint8_t i = 0u; i < 3u; i++) {
        sense->gravity_q8[i] = clamp32(in->accel_mg[i], -ACCEL_RANGE_MG, ACCEL_RANGE_MG) * 256;
    }
    for (uint8_t side = 0u; side < 2u; side++) {
        for (uint8_t i = 0u; i < SPEED_WINDOW_MS; i++) {
            sense->count_window[side][i] = (uint16_t)((uint32_t)in->wheel_count[side] & 0xFFFFu);
        }
    }
    sense->started = true;
}

/* Which way is down: turned by the gyroscope, pulled towards the accelerometer (complementary filter). The vector
 * turns against the body, dg/dt = g × ω. */
static bool tilted(sense_t *sense, const port_input_t *in)
{
    int32_t g[3];
    int32_t turn[3]; /* rad per ms, times 2^20: one mrad/s is 1.0486, here 1.0469 */
    int32_t across;
    int32_t along;

    for (uint8_t i = 0u; i < 3u; i++) {
        int32_t rate = clamp32(in->gyro_mradps[i], -GYRO_RANGE_MRADPS, GYRO_RANGE_MRADPS);

        turn[i] = rate + (rate / 32) + (rate / 64);
        g[i] = sense->gravity_q8[i] / 256;
    }
    for (uint8_t i = 0u; i < 3u; i++) {
        uint8_t j = (i == 2u) ? 0u : (uint8_t)(i + 1u);
        uint8_t k = (j == 2u) ? 0u : (uint8_t)(j + 1u);
        int32_t accel_q8 = clamp32(in->accel_mg[i], -ACCEL_RANGE_MG, ACCEL_RANGE_MG) * 256;
        int32_t turned = sense->gravity_q8[i] + (((g[j] * turn[k]) - (g[k] * turn[j])) / 4096);

        turned += (accel_q8 - turned) / TILT_FILTER_MS;
        sense->gravity_q8[i] = clamp32(turned, -GRAVITY_RANGE_Q8, GRAVITY_RANGE_Q8);
    }
    for (uint8_t i = 0u; i < 3u; i++) {
        g[i] = sense->gravity_q8[i] / 256;
    }
    across = (g[0] * g[0]) + (g[1] * g[1]);
    along = ((g[2] * g[2]) / 1024) * TILT_TAN2_Q10;
    return (g[2] <= 0) || (across > along);
}

static bool imu_implausible(sense_t *sense, const port_input_t *in)
{
    bool same = true;
    uint32_t squares = 0u;

    for (uint8_t i = 0u; i < 3u; i++) {
        int32_t a = in->accel_mg[i];

        squares += (uint32_t)(a * a);
        same = same && (in->accel_mg[i] == sense->imu_last[i]) && (in->gyro_mradps[i] == sense->imu_last[i + 3u]);
        sense->imu_last[i] = in->accel_mg[i];
        sense->imu_last[i + 3u] = in->gyro_mradps[i];
    }
    /* A living sensor is never this quiet: its noise alone moves the last digit. */
    sense->imu_frozen_ms = lasting(same, sense->imu_frozen_ms, IMU_FROZEN_MS);
    sense->imu_bad_ms = lasting((squares < ((uint32_t)IMU_LEAST_MG * (uint32_t)IMU_LEAST_MG)) ||
                                    (squares > ((uint32_t)IMU_MOST_MG * (uint32_t)IMU_MOST_MG)),
                                sense->imu_bad_ms, IMU_AFTER_MS);
    return (sense->imu_frozen_ms >= IMU_FROZEN_MS) || (sense->imu_bad_ms >= IMU_AFTER_MS);
}

static void measure_speed(sense_t *sense, const port_input_t *in)
{
    for (uint8_t side = 0u; side < 2u; side++) {
        uint16_t now = (uint16_t)((uint32_t)in->wheel_count[side] & 0xFFFFu);
        uint16_t moved = (uint16_t)(now - sense->count_window[side][sense->window_at]);
        int32_t counts = (moved < 0x8000u) ? (int32_t)moved : ((int32_t)moved - 65536);

        sense->count_window[side][sense->window_at] = now;
        sense->speed_mmps[side] =
            (int16_t)clamp32((counts * SPEED_PER_COUNT_Q8) / 256, -SPEED_RANGE_MMPS, SPEED_RANGE_MMPS);
    }
    sense->window_at = (uint8_t)((sense->window_at + 1u) % SPEED_WINDOW_MS);
}

static uint16_t wheel_faults(sense_t *sense, const port_input_t *in, uint8_t side, bool motors_on, int32_t told)
{
    int32_t along = (told < 0) ? -(int32_t)sense->speed_mmps[side] : (int32_t)sense->speed_mmps[side];
    bool driven = motors_on && (abs32(told) >= STALL_MIN_COMMAND_MMPS);
    bool still = (along < STALL_MOVING_MMPS) && (along > -STALL_MOVING_MMPS);
    bool against = driven && (along <= -STALL_MOVING_MMPS);
    bool beyond = motors_on && (abs32(along) > (abs32(told) + ENCODER_TOLERANCE_MMPS));
    uint16_t faults = 0u;

    sense->stall_ms[side] = lasting(driven && still, sense->stall_ms[side], STALL_AFTER_MS);
    sense->encoder_ms[side] = lasting(against || beyond, sense->encoder_ms[side], ENCODER_AFTER_MS);
    sense->wheel_current_ms[side] = lasting(abs32(in->wheel_ma[side]) > WHEEL_CURRENT_LIMIT_MA,
                                            sense->wheel_current_ms[side], WHEEL_CURRENT_AFTER_MS);
    if (sense->stall_ms[side] >= STALL_AFTER_MS) {
        faults |= LINK_FAULT_STALL;
    }
    if (sense->encoder_ms[side] >= ENCODER_AFTER_MS) {
        faults |= LINK_FAULT_ENCODER_SENSOR;
    }
    if (sense->wheel_current_ms[side] >= WHEEL_CURRENT_AFTER_MS) {
        faults |= LINK_FAULT_WHEEL_CURRENT;
    }
    return faults;
}

static uint16_t supply_faults(sense_t *sense, const port_input_t *in)
{
    bool nonsense = (in->battery_mv < VOLTAGE_LOWEST_MV) || (in->battery_mv > VOLTAGE_HIGHEST_MV);
    uint16_t faults = 0u;

    sense->voltage_bad_ms = lasting(nonsense, sense->voltage_bad_ms, VOLTAGE_SENSE_AFTER_MS);
    sense->voltage_low_ms = lasting(in->battery_mv < VOLTAGE_CUT_MV, sense->voltage_low_ms, VOLTAGE_AFTER_MS);
    sense->arm_current_ms =
        lasting(abs32(in->arm_ma) > ARM_CURRENT_LIMIT_MA, sense->arm_current_ms, ARM_CURRENT_AFTER_MS);
    if (sense->voltage_bad_ms >= VOLTAGE_SENSE_AFTER_MS) {
        faults |= LINK_FAULT_VOLTAGE_SENSOR;
    }
    if (sense->voltage_low_ms >= VOLTAGE_AFTER_MS) {
        faults |= LINK_FAULT_UNDER_VOLTAGE;
    }
    if (sense->arm_current_ms >= ARM_CURRENT_AFTER_MS) {
        faults |= LINK_FAULT_ARM_CURRENT;
    }
    return faults;
}

static uint16_t contact_faults(sense_t *sense, const port_input_t *in)
{
    uint16_t faults = 0u;

    sense->contact = 0u;
    if (in->bumpers != 0u) {
        faults |= LINK_FAULT_BUMPER;
        sense->contact |= CONTACT_FRONT;
    }
    for (uint8_t i = 0u; i < CLIFF_COUNT; i++) {
        if ((in->cliff_mm[i] < CLIFF_NEAREST_MM) || (in->cliff_mm[i] > CLIFF_FARTHEST_MM)) {
            uint8_t side = (i < (CLIFF_COUNT / 2u)) ? CONTACT_FRONT : CONTACT_REAR;

            faults |= LINK_FAULT_CLIFF;
            sense->contact = (uint8_t)(sense->contact | side);
        }
    }
    return faults;
}

uint16_t sense_step(sense_t *sense, const port_input_t *in, bool motors_on, const int16_t wheel_mmps[2])
{
    uint16_t faults;

    if (!sense->started) {
        start(sense, in);
    }
    measure_speed(sense, in);
    faults = contact_faults(sense, in) | supply_faults(sense, in);
    for (uint8_t side = 0u; side < 2u; side++) {
        faults |= wheel_faults(sense, in, side, motors_on, wheel_mmps[side]);
    }
    if (in->estop) {
        faults |= LINK_FAULT_ESTOP;
    }
    if (tilted(sense, in)) {
        faults |= LINK_FAULT_TILT;
    }
    if (imu_implausible(sense, in)) {
        faults |= LINK_FAULT_IMU_SENSOR;
    }
    return faults;
}
