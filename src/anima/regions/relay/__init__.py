"""The parts of the thalamus: what messages are turned into facts, trends over slow series, and who may pass when."""
