/* The whole brainstem: bytes and inputs in, outputs and bytes out. No hardware, no heap, no floats, no clock but the
 * caller's: one brainstem_step is one millisecond.
 *
 *     brainstem_init(&b, boot_number, reset_cause);
 *     forever:
 *         brainstem_receive(&b, byte)           for every byte received
 *         once a millisecond:                   brainstem_step(&b, &in, late_ms, rx_lost, &out)
 *         n = brainstem_transmit(&b, buf, room)  and send buf[0..n)
 */
#ifndef BRAINSTEM_H
#define BRAINSTEM_H

#include "frame.h"
#include "motion.h"
#include "port.h"
#include "reflex.h"
#include "sense.h"

#define TX_RING_SIZE 256u      /* a power of two that an index byte wraps around at */

/* Messages that are sent periodically: status, odometry, imu, contacts, joint_states, power, quality. */
#define TELEMETRY_COUNT 7u

typedef struct {
    uint32_t tick_ms;
    uint16_t boot;
    uint8_t reset;

    frame_decoder_t decoder;
    uint16_t stale;            /* commands of another session, or older than the last */
    uint16_t unknown;          /* valid frames that say nothing to a brainstem */
    uint16_t rx_lost;          /* the port's count */

    uint16_t challenge;
    uint16_t challenge_ms;     /* how much longer it is valid; 0: used or too old */
    uint8_t session;
    bool session_heard;        /* a command of this session came in: command_seq is valid */
    uint8_t command_seq;       /* of the last command that was obeyed */
    uint8_t drive_seq;         /* of the last drive command that was obeyed */

    reflex_request_t request;  /* for the next tick */
    uint8_t request_type;
    uint8_t request_seq;
    uint8_t request_session;
    bool request_release;      /* disarm: the arm as well */
    bool drive_waits;          /* for the next tick */
    bool joints_wait;
    link_drive_t drive;
    int16_t joints_mrad[JOINT_COUNT];

    sense_t sense;
    reflex_t reflex;
    base_motion_t base;
    arm_motion_t arm;
    uint16_t live;             /* faults of the last tick */

    uint16_t due_ms[TELEMETRY_COUNT];
    uint8_t tx_seq;
    uint16_t tx_lost;
    uint8_t tx_head;
    uint8_t tx_tail;
    uint8_t tx[TX_RING_SIZE];
} brainstem_t;

void brainstem_init(brainstem_t *b, uint16_t boot, uint8_t reset);
void brainstem_receive(brainstem_t *b, uint8_t byte);

/* One millisecond. `late_ms` is how many more are already due; `rx_lost` the port's count of lost bytes. */
void brainstem_step(brainstem_t *b, const port_input_t *in, uint8_t late_ms, uint16_t rx_lost, port_output_t *out);

/* Moves at most `room` bytes that are to be sent into `buffer`; returns how many. */
uint8_t brainstem_transmit(brainstem_t *b, uint8_t *buffer, uint8_t room);

/* core/loop.c: the firmware's main loop over a port. Never returns. */
void brainstem_run(void);

#endif
