"""The body: its geometry and limits, where it is, how it moves about and what it sees."""
