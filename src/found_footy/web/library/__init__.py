"""The clip library: its documents in words, and what is handed in."""
