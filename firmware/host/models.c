/* What is on the board beside the processor, and what simavr's own models need help with. */
#include <string.h>

#include "models.h"

#include "avr_adc.h"
#include "avr_twi.h"

#define IMU_ADDRESS 0x68u

/* --- the inertial unit: an MPU-6050's register file on the two-wire bus --------------------------------------------- */

static uint8_t imu[128];
static bool imu_on_bus = true;
static uint8_t imu_selected, imu_pointer;
static bool imu_pointed;
static avr_irq_t *twi;

static void on_twi(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)param;
    avr_twi_msg_irq_t v = {.u.v = value};
    if (v.u.twi.msg & TWI_COND_STOP) {
        imu_selected = 0;
    }
    if (v.u.twi.msg & TWI_COND_START) {
        imu_selected = 0;
        imu_pointed = false;
        if (imu_on_bus && (v.u.twi.addr >> 1) == IMU_ADDRESS) {
            imu_selected = v.u.twi.addr;
            avr_raise_irq(twi + TWI_IRQ_INPUT, avr_twi_irq_msg(TWI_COND_ACK, imu_selected, 1));
        }
    }
    if (imu_selected == 0) {
        return;
    }
    if (v.u.twi.msg & TWI_COND_WRITE) {
        avr_raise_irq(twi + TWI_IRQ_INPUT, avr_twi_irq_msg(TWI_COND_ACK, imu_selected, 1));
        if (!imu_pointed) {
            imu_pointer = v.u.twi.data & 127u;
            imu_pointed = true;
        } else {
            imu[imu_pointer++ & 127u] = v.u.twi.data;
        }
    }
    if (v.u.twi.msg & TWI_COND_READ) {
        avr_raise_irq(twi + TWI_IRQ_INPUT, avr_twi_irq_msg(TWI_COND_READ, imu_selected, imu[imu_pointer++ & 127u]));
    }
}

void set_imu_register(uint8_t number, uint8_t value) { imu[number & 127u] = value; }
void put_imu_on_bus(bool there) { imu_on_bus = there; }

/* --- analogue inputs ------------------------------------------------------------------------------------------------- */

/* simavr keeps eight voltages for sixteen channels: the one that is about to be converted is put into its slot. */
static uint16_t millivolts[16];
static avr_irq_t *adc;
static avr_t *processor;

static void on_conversion(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq;
    (void)value;
    (void)param;
    unsigned channel = (processor->data[0x7C] & 7u) | (processor->data[0x7B] & 8u);
    /* simavr counts 1023 steps to the reference, the chip 1024. */
    avr_raise_irq(adc + ADC_IRQ_ADC0 + (channel & 7u), (millivolts[channel] * 1024u + 511u) / 1023u);
}

void set_millivolts(uint8_t channel, uint16_t value) { millivolts[channel & 15u] = value; }

/* --- connecting ------------------------------------------------------------------------------------------------------ */

avr_uart_t *connect_models(avr_t *avr) {
    avr_uart_t *uart = NULL;
    processor = avr;
    for (avr_io_t *io = avr->io_port; io != NULL; io = io->next) {
        if (strcmp(io->kind, "uart") == 0 && ((avr_uart_t *)io)->name == '0') {
            uart = (avr_uart_t *)io;
        }
        if (strcmp(io->kind, "adc") == 0) {
            avr_adc_t *model = (avr_adc_t *)io;
            for (unsigned k = 0; k < 8u; k++) {
                model->muxmode[k] = model->muxmode[32u + k] = (avr_adc_mux_t)AVR_ADC_SINGLE(k);
            }
        }
    }
    adc = avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, 0);
    avr_irq_register_notify(adc + ADC_IRQ_OUT_TRIGGER, on_conversion, NULL);
    twi = avr_io_getirq(avr, AVR_IOCTL_TWI_GETIRQ(0), 0);
    avr_irq_register_notify(twi + TWI_IRQ_OUTPUT, on_twi, NULL);
    imu[0x75] = IMU_ADDRESS; /* WHO_AM_I */
    return uart;
}
