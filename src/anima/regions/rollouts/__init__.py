"""What prospection imagines with: ways on the known map, what was learned of their risks, and short rollouts."""
