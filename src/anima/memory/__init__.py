"""What survives a restart: one versioned store in which nothing is overwritten or deleted, and its thin writer."""
