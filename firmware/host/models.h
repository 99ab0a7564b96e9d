/* What is on the board beside the processor. */
#ifndef AVR_BOARD_MODELS_H
#define AVR_BOARD_MODELS_H

#include <stdbool.h>
#include <stdint.h>

#include "avr_uart.h"
#include "sim_avr.h"

/* Connects the inertial unit and the analogue inputs; returns the model of USART0. */
avr_uart_t *connect_models(avr_t *avr);
void set_millivolts(uint8_t channel, uint16_t value);
void set_imu_register(uint8_t number, uint8_t value);
void put_imu_on_bus(bool there);

#endif
