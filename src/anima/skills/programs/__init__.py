"""The motor programs: one module per skill, named as the skill, with `run(arguments, body)`."""
