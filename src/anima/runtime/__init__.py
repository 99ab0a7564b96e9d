"""How components run: the inbox that a step reads, and the graph that runs the whole table in one process."""
