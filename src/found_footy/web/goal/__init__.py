"""The page of a goal, as values."""
