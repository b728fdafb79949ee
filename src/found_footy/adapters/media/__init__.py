"""Decoding strangers' files in processes that may die of them. `limited.py` is the way in."""
