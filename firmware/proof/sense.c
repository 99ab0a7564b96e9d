/* What is sensed becomes a live fault in the same tick, from any state and for any reading. */
#include <assert.h>

#include "../core/arith.h"
#include "invariant.h"

sense_t nondet_sense(void);
port_input_t nondet_input(void);
int16_t nondet_short(void);
bool nondet_bool(void);

void one_tick(void)
{
    sense_t s;
    port_input_t in = nondet_input();
    int16_t wheel[2] = {nondet_short(), nondet_short()};
    bool motors_on = nondet_bool();

    sense_init(&s);
    assert(sense_invariant(&s));
    s = nondet_sense();
    __CPROVER_assume(sense_invariant(&s));
    __CPROVER_assume(within(wheel[0], WHEEL_MAX_MMPS) && within(wheel[1], WHEEL_MAX_MMPS));
    sense_t before = s;
    uint16_t live = sense_step(&s, &in, motors_on, wheel);

    assert(sense_invariant(&s));
    assert(((live & LINK_FAULT_ESTOP) != 0u) == (in.estop ? true : false));
    assert(((live & LINK_FAULT_BUMPER) != 0u) == (in.bumpers != 0u));
    bool cliff = false;
    for (unsigned i = 0u; i < CLIFF_COUNT; i++) {
        bool bad = (in.cliff_mm[i] < CLIFF_NEAREST_MM) || (in.cliff_mm[i] > CLIFF_FARTHEST_MM);

        cliff = cliff || bad;
        assert(!bad || ((s.contact & ((i < 2u) ? CONTACT_FRONT : CONTACT_REAR)) != 0u));
    }
    assert(((live & LINK_FAULT_CLIFF) != 0u) == cliff);
    assert((in.bumpers == 0u) || ((s.contact & CONTACT_FRONT) != 0u));
    assert((s.contact <= 3u) && ((s.contact != 0u) == ((live & FAULTS_CONTACT) != 0u)));

    /* Tilt, as the filter sees it after this very sample: on its side or farther always, else by the angle. */
    int32_t gz = s.gravity_q8[2] / 256;
    assert((gz > 0) || ((live & LINK_FAULT_TILT) != 0u));
    int32_t gx = s.gravity_q8[0] / 256;
    assert((abs32(gx) <= 4 * abs32(gz) / 10) || ((live & LINK_FAULT_TILT) != 0u)); /* 0.38 rad is beyond 0.35 */

    /* Debounced faults come when the condition has lasted, not before. */
    bool over = (abs32(in.wheel_ma[0]) > WHEEL_CURRENT_LIMIT_MA) || (abs32(in.wheel_ma[1]) > WHEEL_CURRENT_LIMIT_MA);
    assert(over || ((live & LINK_FAULT_WHEEL_CURRENT) == 0u));
    assert((abs32(in.wheel_ma[0]) <= WHEEL_CURRENT_LIMIT_MA) || (before.wheel_current_ms[0] < WHEEL_CURRENT_AFTER_MS - 1u) ||
           ((live & LINK_FAULT_WHEEL_CURRENT) != 0u));
    assert((in.battery_mv < VOLTAGE_CUT_MV) || ((live & LINK_FAULT_UNDER_VOLTAGE) == 0u));
    assert((in.battery_mv >= VOLTAGE_CUT_MV) || (before.voltage_low_ms < VOLTAGE_AFTER_MS - 1u) ||
           ((live & LINK_FAULT_UNDER_VOLTAGE) != 0u));
    assert(motors_on || ((live & (LINK_FAULT_STALL | LINK_FAULT_ENCODER_SENSOR)) == 0u));
    assert((live & (LINK_FAULT_HOST_SILENT | LINK_FAULT_HOST_STOP | LINK_FAULT_ESCAPE_OVER | LINK_FAULT_MEMORY |
                    LINK_FAULT_TIMING)) == 0u);
}
