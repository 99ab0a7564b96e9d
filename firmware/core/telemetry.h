/* What the brainstem says, and the ring of bytes that wait to be sent. */
#ifndef BRAINSTEM_TELEMETRY_H
#define BRAINSTEM_TELEMETRY_H

#include "brainstem.h"

void telemetry_init(brainstem_t *b);

/* Queues a message; when there is no room for all of it, it is dropped and counted. */
void telemetry_send(brainstem_t *b, uint8_t type, const void *payload, uint8_t size);

/* One tick: what is due, and the status when the state changed. */
void telemetry_step(brainstem_t *b, const port_input_t *in, bool state_changed);

#endif
