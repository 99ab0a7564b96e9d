"""Dynamic parts: local perspectives, kept, found by meaning, changed by patches, put away when concluded."""
