"""The embedded engines, with real servers."""
