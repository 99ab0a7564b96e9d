"""The firmware's own image at work in an emulator: the board, its wiring, the wire to the host, the plant behind it."""
