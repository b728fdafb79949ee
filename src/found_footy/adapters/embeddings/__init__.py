"""Vectors of pictures and of words: one file a way to get them."""
