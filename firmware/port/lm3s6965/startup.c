/* From reset to main on a Cortex-M3, and the vectors. */
#include <stdint.h>

#include "brainstem.h"

extern uint32_t data_image, data_start, data_end, bss_start, bss_end, stack_top;

void reset_handler(void);
void tick_handler(void);
void host_handler(void);
void plant_handler(void);

static void stuck(void) {
    for (;;) {
        /* the watchdog ends this */
    }
}

void reset_handler(void) {
    const uint32_t *from = &data_image;
    for (uint32_t *to = &data_start; to < &data_end; to++) {
        *to = *from;
        from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end; to++) {
        *to = 0U;
    }
    brainstem_run();
}

#define EXCEPTION_STUCK stuck
typedef void (*handler_t)(void);

__attribute__((section(".vectors"), used)) static const handler_t vectors[16 + 8] = {
    (handler_t)&stack_top, reset_handler, EXCEPTION_STUCK, EXCEPTION_STUCK, EXCEPTION_STUCK, EXCEPTION_STUCK,
    EXCEPTION_STUCK, 0, 0, 0, 0, EXCEPTION_STUCK, EXCEPTION_STUCK, 0, EXCEPTION_STUCK, tick_handler,
    EXCEPTION_STUCK, EXCEPTION_STUCK, EXCEPTION_STUCK, EXCEPTION_STUCK, EXCEPTION_STUCK, host_handler, plant_handler,
    EXCEPTION_STUCK,
};
