"""Atom feeds."""
