"""The clip library: states of sources and clips, the stages between them, cuts, review and undo."""
