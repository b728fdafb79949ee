"""The matchday, as values."""
