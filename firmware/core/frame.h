/* Frames of the link: COBS(type, sequence, payload, CRC-16) and 0x00. Constant time per byte, no copy of the payload. */
#ifndef BRAINSTEM_FRAME_H
#define BRAINSTEM_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "link_messages.h"

#define FRAME_OVERHEAD 4u                                          /* type, sequence, CRC */
#define FRAME_RX_MAX (LINK_HOST_PAYLOAD_MAX + FRAME_OVERHEAD)      /* decoded, as received */
#define FRAME_TX_MAX (LINK_PAYLOAD_MAX + FRAME_OVERHEAD + 2u)      /* encoded, as sent: COBS code and delimiter */

typedef struct {
    uint8_t type;
    uint8_t seq;
    uint8_t size;
    const uint8_t *payload;   /* valid until the next byte is fed */
} frame_t;

typedef struct {
    uint8_t raw[FRAME_RX_MAX];
    uint8_t count;            /* bytes decoded so far */
    uint8_t left;             /* bytes left in the current COBS block */
    uint8_t code;             /* the current block's code; 0 at the start of a frame */
    bool too_long;
    uint16_t crc;             /* over raw; 0 once a right CRC has gone through it */
    uint32_t good;
    uint16_t bad_crc;
    uint16_t bad_frame;       /* cut short, too short or too long */
} frame_decoder_t;

/* Polynomial 0x1021, most significant bit first, of `byte` on top of `crc`. */
uint16_t frame_crc(uint16_t crc, uint8_t byte);

void frame_decoder_init(frame_decoder_t *decoder);

/* True when `byte` completed a valid frame, which is then in `frame`. */
bool frame_decode(frame_decoder_t *decoder, uint8_t byte, frame_t *frame);

/* Writes a frame to `out` and returns its length; 0 when `size` is more than LINK_PAYLOAD_MAX. */
uint8_t frame_encode(uint8_t type, uint8_t seq, const uint8_t *payload, uint8_t size, uint8_t out[FRAME_TX_MAX]);

#endif
