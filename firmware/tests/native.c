/* The core as a shared library for the tests on the host: numbers in arrays, so that no caller needs to know a layout. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "brainstem.h"

enum { INPUTS = 31, OUTPUTS = 12, PEEKS = 18 };

brainstem_t *native_new(uint16_t boot, uint8_t reset)
{
    brainstem_t *b = malloc(sizeof(*b));

    if (b != NULL) {
        brainstem_init(b, boot, reset);
    }
    return b;
}

void native_delete(brainstem_t *b)
{
    free(b);
}

static void read_input(const int32_t v[INPUTS], port_input_t *in)
{
    const int32_t *p = v;

    in->estop = *p++ != 0;
    in->bumpers = (uint8_t)*p++;
    for (unsigned i = 0u; i < CLIFF_COUNT; i++) { in->cliff_mm[i] = (uint16_t)*p++; }
    for (unsigned i = 0u; i < 3u; i++) { in->accel_mg[i] = (int16_t)*p++; }
    for (unsigned i = 0u; i < 3u; i++) { in->gyro_mradps[i] = (int16_t)*p++; }
    for (unsigned i = 0u; i < 2u; i++) { in->wheel_count[i] = *p++; }
    for (unsigned i = 0u; i < 2u; i++) { in->wheel_ma[i] = (int16_t)*p++; }
    in->arm_ma = (int16_t)*p++;
    in->battery_mv = (uint16_t)*p++;
    in->battery_ma = (int16_t)*p++;
    for (unsigned i = 0u; i < JOINT_COUNT; i++) { in->joint_mrad[i] = (int16_t)*p++; }
    for (unsigned i = 0u; i < JOINT_COUNT; i++) { in->joint_load_mnm[i] = (int16_t)*p++; }
}

static void write_output(const port_output_t *out, int32_t v[OUTPUTS])
{
    int32_t *p = v;

    *p++ = out->motors_on;
    for (unsigned i = 0u; i < 2u; i++) { *p++ = out->duty_permille[i]; }
    for (unsigned i = 0u; i < 2u; i++) { *p++ = out->wheel_mmps[i]; }
    *p++ = out->servos_on;
    for (unsigned i = 0u; i < JOINT_COUNT; i++) { *p++ = out->joint_mrad[i]; }
}

void native_step(brainstem_t *b, const int32_t inputs[INPUTS], uint8_t late_ms, uint16_t rx_lost, int32_t outputs[OUTPUTS])
{
    port_input_t in;
    port_output_t out;

    read_input(inputs, &in);
    brainstem_step(b, &in, late_ms, rx_lost, &out);
    write_output(&out, outputs);
}

void native_receive(brainstem_t *b, const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0u; i < count; i++) {
        brainstem_receive(b, bytes[i]);
    }
}

uint8_t native_transmit(brainstem_t *b, uint8_t *buffer, uint8_t room)
{
    return brainstem_transmit(b, buffer, room);
}

void native_peek(const brainstem_t *b, int32_t v[PEEKS])
{
    int32_t *p = v;

    *p++ = b->reflex.state;
    *p++ = b->reflex.faults;
    *p++ = b->live;
    *p++ = b->reflex.escape_from;
    *p++ = b->base.linear_umps;
    *p++ = b->base.angular_uradps;
    *p++ = b->challenge;
    *p++ = b->challenge_ms;
    *p++ = b->session;
    *p++ = b->stale;
    *p++ = b->unknown;
    *p++ = (int32_t)b->decoder.good;
    *p++ = b->decoder.bad_crc;
    *p++ = b->decoder.bad_frame;
    *p++ = b->tx_lost;
    for (unsigned i = 0u; i < 3u; i++) { *p++ = b->sense.gravity_q8[i]; }
}

/* What a cosmic ray would do. */
void native_damage_state(brainstem_t *b, uint8_t state)
{
    b->reflex.state = state;
}

uint32_t native_encode(uint8_t type, uint8_t seq, const uint8_t *payload, uint8_t size, uint8_t out[FRAME_TX_MAX])
{
    return frame_encode(type, seq, payload, size, out);
}

uint32_t native_size(void)
{
    return (uint32_t)sizeof(brainstem_t);
}

/* ---- core/loop.c on a port that plays a script: it leaves the loop when the script is over ---- */

typedef struct {
    const uint8_t *received;
    uint32_t received_count;
    const uint8_t *ticks;      /* due at each turn of the loop */
    uint32_t turns;
    uint8_t room;
    const int32_t *inputs;
    uint32_t at, turn;
    uint32_t drives, kicks, idles, sent;
    uint8_t sent_bytes[4096];
    int32_t outputs[OUTPUTS];
    jmp_buf over;
} script_t;

static script_t script;

void port_init(void) {}
uint16_t port_boot_number(void) { return 7u; }
uint8_t port_reset_cause(void) { return LINK_RESET_POWER_ON; }
uint16_t port_rx_lost(void) { return 3u; }
uint8_t port_send_room(void) { return script.room; }
void port_kick_watchdog(void) { script.kicks++; }
void port_idle(void) { script.idles++; }
void port_sense(port_input_t *in) { read_input(script.inputs, in); }

void port_drive(const port_output_t *out)
{
    script.drives++;
    write_output(out, script.outputs);
}

uint8_t port_ticks_due(void)
{
    if (script.turn >= script.turns) {
        longjmp(script.over, 1);
    }
    return script.ticks[script.turn++];
}

bool port_receive(uint8_t *byte)
{
    bool there = script.at < script.received_count;

    if (there) {
        *byte = script.received[script.at++];
    }
    return there;
}

void port_send(const uint8_t *bytes, uint8_t count)
{
    if ((script.sent + count) <= sizeof(script.sent_bytes)) {
        (void)memcpy(&script.sent_bytes[script.sent], bytes, count);
        script.sent += count;
    }
}

/* Returns the number of bytes sent, which are in `sent`; `counts` gets drives, kicks and idles. */
uint32_t native_run(const uint8_t *received, uint32_t received_count, const uint8_t *ticks, uint32_t turns, uint8_t room,
                    const int32_t inputs[INPUTS], uint8_t sent[4096], uint32_t counts[3], int32_t outputs[OUTPUTS])
{
    (void)memset(&script, 0, sizeof(script));
    script.received = received;
    script.received_count = received_count;
    script.ticks = ticks;
    script.turns = turns;
    script.room = room;
    script.inputs = inputs;
    if (setjmp(script.over) == 0) {
        brainstem_run();
    }
    (void)memcpy(sent, script.sent_bytes, sizeof(script.sent_bytes));
    counts[0] = script.drives;
    counts[1] = script.kicks;
    counts[2] = script.idles;
    (void)memcpy(outputs, script.outputs, sizeof(script.outputs));
    return script.sent;
}
