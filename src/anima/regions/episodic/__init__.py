"""What the hippocampus is made of: situations as sets of features, and traces that are found by likeness."""
