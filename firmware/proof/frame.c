/* The decoder is safe for any byte in any state, what it calls a frame is one, and the encoder stays in its
 * buffer. That decoding undoes encoding is shown by the tests and the fuzzer. */
#include <assert.h>

#include "invariant.h"

frame_decoder_t nondet_decoder(void);
uint8_t nondet_byte(void);

void decoding_is_safe(void)
{
    frame_decoder_t d;
    frame_t frame;

    frame_decoder_init(&d);
    assert(decoder_invariant(&d)); /* at the start */
    d = nondet_decoder();
    __CPROVER_assume(decoder_invariant(&d));
    uint16_t crc = d.crc;
    uint8_t count = d.count;
    bool whole = d.left == 0u;
    bool valid = frame_decode(&d, nondet_byte(), &frame);

    assert(decoder_invariant(&d)); /* after any byte */
    if (valid) {
        assert(frame.payload == &d.raw[2]);
        assert(frame.size <= LINK_HOST_PAYLOAD_MAX);
        assert((unsigned)frame.size + FRAME_OVERHEAD == count);
        assert((crc == 0u) && whole);
        assert(d.count == 0u); /* the next frame starts afresh */
    }
}

/* The encoder stays within its buffer for every length, whatever the bytes are. */
void encoding_is_safe(void)
{
    uint8_t payload[LINK_PAYLOAD_MAX];
    uint8_t out[FRAME_TX_MAX];
    uint8_t size = nondet_byte();

    __CPROVER_assume(size <= LINK_PAYLOAD_MAX);
    assert(frame_encode(nondet_byte(), nondet_byte(), payload, size, out) == size + FRAME_OVERHEAD + 2u);
}

void a_long_payload_is_refused(void)
{
    uint8_t out[FRAME_TX_MAX];
    uint8_t payload[1];
    uint8_t size = nondet_byte();

    __CPROVER_assume(size > LINK_PAYLOAD_MAX);
    assert(frame_encode(nondet_byte(), nondet_byte(), payload, size, out) == 0u);
}
