"""The parts of the reflex kernel: who may command, what the sensors forbid, how fast, and what is reported."""
