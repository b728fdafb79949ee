"""What programs read."""
