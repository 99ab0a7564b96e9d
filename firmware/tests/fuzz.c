/* Fuzzing of the whole core: bytes, ticks and readings in any order; the invariants of the proofs are checked after each.
 * With -DSTANDALONE it has its own generator and a fixed seed; else it is a libFuzzer target. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../proof/invariant.h"

#define CHECK(what)                                                          \
    do {                                                                     \
        if (!(what)) {                                                       \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
            abort();                                                         \
        }                                                                    \
    } while (0)

typedef struct {
    const uint8_t *data;
    size_t size;
    size_t at;
} source_t;

static uint8_t next(source_t *s)
{
    return (s->at < s->size) ? s->data[s->at++] : 0u;
}

static uint16_t next16(source_t *s)
{
    uint16_t low = next(s);

    return (uint16_t)(low | (uint16_t)(next(s) << 8));
}

static void calm(port_input_t *in)
{
    (void)memset(in, 0, sizeof(*in));
    for (unsigned i = 0u; i < CLIFF_COUNT; i++) {
        in->cliff_mm[i] = 115u;
    }
    in->accel_mg[2] = 1000;
    in->battery_mv = 12000u;
}

/* A frame that the firmware understands, with the right challenge or session more often than chance would have it. */
static void speak(brainstem_t *b, source_t *s)
{
    static const struct { uint8_t type, size; } known[] = {
        {LINK_HELLO, sizeof(link_hello_t)}, {LINK_ARM, sizeof(link_arm_t)},       {LINK_CLEAR, sizeof(link_clear_t)},
        {LINK_DISARM, sizeof(link_disarm_t)}, {LINK_STOP, sizeof(link_stop_t)},   {LINK_DRIVE, sizeof(link_drive_t)},
        {LINK_JOINTS, sizeof(link_joints_t)}, {LINK_PING, sizeof(link_ping_t)},   {LINK_DRIVE, sizeof(link_drive_t)},
        {0x7Fu, 3u},
    };
    uint8_t payload[LINK_PAYLOAD_MAX];
    uint8_t frame[FRAME_TX_MAX];
    uint8_t choice = next(s);
    uint8_t which = (uint8_t)(choice % (sizeof(known) / sizeof(known[0])));
    uint8_t seq = next(s);

    for (unsigned i = 0u; i < known[which].size; i++) {
        payload[i] = next(s);
    }
    if ((choice & 0x80u) == 0u) {
        if ((known[which].type == LINK_ARM) || (known[which].type == LINK_CLEAR)) {
            (void)memcpy(payload, &b->challenge, sizeof(b->challenge));
        } else if ((known[which].type == LINK_DRIVE) || (known[which].type == LINK_JOINTS)) {
            payload[0] = b->session;
            seq = (uint8_t)(b->command_seq + 1u);
        } else {
            /* as it came */
        }
    }
    uint8_t length = frame_encode(known[which].type, seq, payload, known[which].size, frame);
    uint8_t hit = next(s);

    if (hit < length) {
        frame[hit] = next(s);
    }
    for (uint8_t i = 0u; i < length; i++) {
        brainstem_receive(b, frame[i]);
        CHECK(brainstem_invariant(b));
    }
}

static void tick(brainstem_t *b, const port_input_t *in, uint8_t late)
{
    port_output_t out;
    brainstem_t before = *b;
    bool wrong_state = (before.request.kind != REQUEST_ARM) || !before.request.challenge_right ||
                       (before.reflex.state != LINK_STATE_DISARMED);

    brainstem_step(b, in, late, 0u, &out);
    CHECK(brainstem_invariant(b));
    CHECK(out.motors_on || (!out.motors_on && (out.duty_permille[0] == 0) && (out.duty_permille[1] == 0)));
    CHECK(!in->estop || (!out.motors_on && !out.servos_on));
    CHECK((b->sense.contact == 0u) || !out.motors_on || (b->reflex.escape_from == b->sense.contact));
    CHECK((b->reflex.state != LINK_STATE_ARMED) || (before.reflex.state == LINK_STATE_ARMED) || !wrong_state);
}

static void listen(brainstem_t *b, uint8_t room)
{
    uint8_t buffer[255];

    CHECK(brainstem_transmit(b, buffer, room) <= room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    source_t s = {data, size, 0u};
    brainstem_t b;
    port_input_t in;

    brainstem_init(&b, next16(&s), next(&s));
    calm(&in);
    while (s.at < s.size) {
        uint8_t act = next(&s);

        switch (act % 8u) {
        case 0u:
            brainstem_receive(&b, next(&s));
            CHECK(brainstem_invariant(&b));
            break;
        case 1u:
        case 2u:
            speak(&b, &s);
            break;
        case 3u: /* some field of the readings */
            ((uint8_t *)&in)[next16(&s) % sizeof(in)] = next(&s);
            in.estop = (act & 0x80u) != 0u;
            break;
        case 4u:
            calm(&in);
            break;
        case 5u:
            listen(&b, next(&s));
            break;
        default:
            for (uint8_t i = 0u; i <= (act / 8u); i++) {
                in.accel_mg[0] ^= 1; /* a living sensor */
                tick(&b, &in, (act == 0xFEu) ? next(&s) : 0u);
            }
            break;
        }
    }
    return 0;
}

#ifdef STANDALONE
static uint64_t state = 0x9E3779B97F4A7C15u;

static uint8_t random_byte(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint8_t)(state >> 56);
}

int main(int argc, char **argv)
{
    long runs = (argc > 1) ? strtol(argv[1], NULL, 10) : 2000;
    uint8_t data[512];

    for (long run = 0; run < runs; run++) {
        size_t size = 64u + (size_t)random_byte() + random_byte() / 2u;

        size = (size < sizeof(data)) ? size : sizeof(data);
        for (size_t i = 0u; i < size; i++) {
            data[i] = random_byte();
        }
        (void)LLVMFuzzerTestOneInput(data, size);
    }
    (void)printf("%ld runs, no invariant broken\n", runs);
    return 0;
}
#endif
