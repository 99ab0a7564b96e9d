"""What judgements are made of: questions with labels, trained heads, their training, and their commands."""
