"""What the drives of hypothalamus and striatum are made of: battery use, heat, wear, pressure of what is unfinished."""
