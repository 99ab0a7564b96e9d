/* The state machine that decides, once a millisecond, whether the motors may turn. */
#ifndef BRAINSTEM_REFLEX_H
#define BRAINSTEM_REFLEX_H

#include <stdbool.h>
#include <stdint.h>

#include "limits.h"
#include "link_messages.h"

/* Sides of the body that touch something or see no floor. */
#define CONTACT_FRONT 1u
#define CONTACT_REAR 2u

/* Faults that latch, and those that an arm or clear request with the escape flag may overrule. */
#define FAULTS_LATCHING ((uint16_t)(0xFFFFu & ~LINK_FAULT_HOST_SILENT))
#define FAULTS_CONTACT ((uint16_t)(LINK_FAULT_BUMPER | LINK_FAULT_CLIFF))

/* What the host asks for in this tick, most pressing last; at most one request a tick. */
typedef enum { REQUEST_NONE = 0, REQUEST_ARM, REQUEST_CLEAR, REQUEST_DISARM, REQUEST_STOP } request_kind_t;

typedef struct {
    request_kind_t kind;
    bool challenge_right;      /* arm and clear: the challenge was echoed in time */
    bool escape;               /* arm and clear: in spite of a contact */
    bool drive_fresh;          /* a valid drive command of this session came in since the last tick */
} reflex_request_t;

/* What the wheels may do in this tick. */
typedef enum { MOTION_CUT = 0, MOTION_RAMP_DOWN, MOTION_FOLLOW } motion_t;

typedef struct {
    uint8_t state;             /* LINK_STATE_… */
    uint16_t faults;           /* latched, or what ended the last session */
    uint16_t silence_ms;       /* since the last valid drive command, saturated at HOST_SILENCE_MS */
    uint8_t escape_from;       /* CONTACT_… bits that were there when it was armed to escape; 0: not escaping */
    uint16_t escape_ms;        /* how long it has been escaping */
    uint16_t released_ms;      /* how long the contact has been gone */
} reflex_t;

void reflex_init(reflex_t *reflex);

/* One tick. `live` are the faults that hold now, `contact` the sides in contact, `standing` whether the wheels' ramp
 * is at zero. Sets `outcome` (LINK_OUTCOME_…) when there was a request, and returns what the wheels may do. */
motion_t reflex_step(reflex_t *reflex, const reflex_request_t *request, uint16_t live, uint8_t contact, bool standing,
                     uint8_t *outcome);

#endif
