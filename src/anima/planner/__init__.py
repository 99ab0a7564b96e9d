"""The prefrontal planner: words into objectives, the focus into one checked skill call at a time."""
