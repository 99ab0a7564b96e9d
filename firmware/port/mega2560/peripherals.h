/* What the parts of this port offer each other. */
#ifndef BRAINSTEM_MEGA2560_PERIPHERALS_H
#define BRAINSTEM_MEGA2560_PERIPHERALS_H

#include <stdint.h>

void outputs_init(void);
void inputs_init(void);
void imu_init(void);
/* Once a millisecond: the last good sample. */
void imu_step(int16_t accel_mg[3], int16_t gyro_mradps[3]);

#endif
