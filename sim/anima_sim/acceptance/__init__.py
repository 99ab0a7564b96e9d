"""The reflex acceptance: hazards are staged, the drive is recorded, four numbers are read off the recording."""
