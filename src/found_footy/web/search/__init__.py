"""The search page, as values."""
