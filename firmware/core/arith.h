/* Small integer helpers. */
#ifndef BRAINSTEM_ARITH_H
#define BRAINSTEM_ARITH_H

#include <stdbool.h>
#include <stdint.h>

static inline int32_t clamp32(int32_t value, int32_t lowest, int32_t highest)
{
    int32_t out = value;

    if (value < lowest) {
        out = lowest;
    } else if (value > highest) {
        out = highest;
    } else {
        /* within */
    }
    return out;
}

static inline int32_t abs32(int32_t value)
{
    return (value < 0) ? -value : value;
}

/* How many ticks in a row `holds` has been true, up to `most`. */
static inline uint16_t lasting(bool holds, uint16_t ticks, uint16_t most)
{
    uint16_t out = 0u;

    if (holds) {
        out = (ticks < most) ? (uint16_t)(ticks + 1u) : most;
    }
    return out;
}

#endif
