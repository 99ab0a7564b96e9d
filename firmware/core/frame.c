#include "frame.h"

#define CRC_OPEN 0xFFFFu

static uint16_t seed(uint8_t type)
{
    /* A frame of another schema has a wrong CRC, and it costs no byte to tell. */
    return LINK_IS_OPEN(type) ? (uint16_t)CRC_OPEN : (uint16_t)LINK_CRC_SEED;
}

uint16_t frame_crc(uint16_t crc, uint8_t byte)
{
    uint8_t x = (uint8_t)((uint8_t)(crc >> 8) ^ byte);

    x = (uint8_t)(x ^ (uint8_t)(x >> 4));
    return (uint16_t)((uint16_t)(crc << 8) ^ (uint16_t)((uint16_t)x << 12) ^ (uint16_t)((uint16_t)x << 5) ^ x);
}

static void restart(frame_decoder_t *decoder)
{
    decoder->count = 0u;
    decoder->left = 0u;
    decoder->code = 0u;
    decoder->too_long = false;
    decoder->crc = CRC_OPEN;
}

void frame_decoder_init(frame_decoder_t *decoder)
{
    restart(decoder);
    decoder->good = 0u;
    decoder->bad_crc = 0u;
    decoder->bad_frame = 0u;
}

static void push(frame_decoder_t *decoder, uint8_t byte)
{
    if (decoder->count < FRAME_RX_MAX) {
        if (decoder->count == 0u) {
            decoder->crc = seed(byte);
        }
        decoder->raw[decoder->count] = byte;
        decoder->count++;
        decoder->crc = frame_crc(decoder->crc, byte);
    } else {
        decoder->too_long = true;
    }
}

static bool finish(frame_decoder_t *decoder, frame_t *frame)
{
    bool valid = false;

    if (decoder->code == 0u) {
        /* a delimiter on its own: resynchronizes */
    } else if (decoder->too_long || (decoder->left != 0u) || (decoder->count < FRAME_OVERHEAD)) {
        decoder->bad_frame++;
    } else if (decoder->crc != 0u) {
        decoder->bad_crc++;
    } else {
        frame->type = decoder->raw[0];
        frame->seq = decoder->raw[1];
        frame->size = (uint8_t)(decoder->count - FRAME_OVERHEAD);
        frame->payload = &decoder->raw[2];
        decoder->good++;
        valid = true;
    }
    restart(decoder);
    return valid;
}

bool frame_decode(frame_decoder_t *decoder, uint8_t byte, frame_t *frame)
{
    bool valid = false;

    if (byte == 0u) {
        valid = finish(decoder, frame);
    } else if (decoder->left != 0u) {
        decoder->left--;
        push(decoder, byte);
    } else {
        /* A block ends in a zero that isn't sent, unless it was the first, or a full one. */
        if ((decoder->code != 0u) && (decoder->code != 0xFFu)) {
            push(decoder, 0u);
        }
        decoder->code = byte;
        decoder->left = (uint8_t)(byte - 1u);
    }
    return valid;
}

typedef struct {
    uint8_t *out;
    uint8_t length;
    uint8_t code_at;
    uint16_t crc;
} encoder_t;

static void put(encoder_t *encoder, uint8_t byte)
{
    if (byte == 0u) {
        encoder->out[encoder->code_at] = (uint8_t)(encoder->length - encoder->code_at);
        encoder->code_at = encoder->length;
    } else {
        encoder->out[encoder->length] = byte;
    }
    encoder->length++;
    encoder->crc = frame_crc(encoder->crc, byte);
}

uint8_t frame_encode(uint8_t type, uint8_t seq, const uint8_t *payload, uint8_t size, uint8_t out[FRAME_TX_MAX])
{
    encoder_t encoder = {out, 1u, 0u, 0u};
    uint8_t length = 0u;

    if (size <= LINK_PAYLOAD_MAX) {
        uint16_t crc;

        encoder.crc = seed(type);
        put(&encoder, type);
        put(&encoder, seq);
        for (uint8_t i = 0u; i < size; i++) {
            put(&encoder, payload[i]);
        }
        crc = encoder.crc;
        put(&encoder, (uint8_t)(crc >> 8));
        put(&encoder, (uint8_t)(crc & 0xFFu));
        out[encoder.code_at] = (uint8_t)(encoder.length - encoder.code_at);
        out[encoder.length] = 0u;
        length = (uint8_t)(encoder.length + 1u);
    }
    return length;
}
