"""What people see and say in a terminal: the running trace, and how an errand went."""
