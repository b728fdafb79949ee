"""Recordings of matches: from the polls and searches of a match to one file in the object store."""
