"""The parts of the conflict monitor: what a running skill gains, and what the calls for an objective came to."""
