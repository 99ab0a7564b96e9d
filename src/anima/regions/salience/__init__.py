"""The parts of the amygdala: the table of what matters, and the situation that it matters in."""
