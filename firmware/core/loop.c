#include "brainstem.h"

/* Bytes taken between two looks at the clock: a flood can't delay a tick by more than these. */
#define RECEIVE_BURST 16u
#define SEND_BURST 32u

/* True when a byte was there. */
static bool receive_some(brainstem_t *b)
{
    uint8_t byte;
    uint8_t taken = 0u;

    while ((taken < RECEIVE_BURST) && port_receive(&byte)) {
        brainstem_receive(b, byte);
        taken++;
    }
    return taken != 0u;
}

static void send_some(brainstem_t *b)
{
    uint8_t bytes[SEND_BURST];
    uint8_t room = port_send_room();
    uint8_t count = brainstem_transmit(b, bytes, (room < SEND_BURST) ? room : SEND_BURST);

    if (count != 0u) {
        port_send(bytes, count);
    }
}

void brainstem_run(void)
{
    static brainstem_t b;
    static port_input_t in;
    static port_output_t out;
    uint8_t due = 0u;

    port_init();
    brainstem_init(&b, port_boot_number(), port_reset_cause());
    port_drive(&out); /* all off, before anything else */
    for (;;) {
        uint8_t more = port_ticks_due();
        bool heard = receive_some(&b);

        due = ((255u - due) < more) ? 255u : (uint8_t)(due + more);
        if (due != 0u) {
            due--;
            port_sense(&in);
            brainstem_step(&b, &in, due, port_rx_lost(), &out);
            port_drive(&out);
            port_kick_watchdog();
        } else if (!heard) {
            port_idle();
        } else {
            /* more may be waiting */
        }
        send_some(&b);
    }
}
