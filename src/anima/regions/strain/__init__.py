"""The parts of the insula: how much each small failure weighs, and the leaky sum of them."""
