"""The flight recorder: what every decision was made from, so that it can be explained and replayed bit by bit."""
