"""What can be said about the world, as predicates that a machine checks: conditions, facts and affordances."""
