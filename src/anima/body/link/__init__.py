"""The serial link to the brainstem: its messages, generated from firmware/link.yaml, and their framing."""
