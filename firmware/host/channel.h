/* Whole requests and answers over pipes. */
#ifndef AVR_BOARD_CHANNEL_H
#define AVR_BOARD_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

/* From the standard input; false when it ended. */
bool read_all(void *to, size_t size);

/* Ends the program when nobody reads any more. */
void write_all(int to, const void *from, size_t size);

#endif
