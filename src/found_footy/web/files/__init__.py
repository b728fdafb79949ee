"""Films and pictures, by links that never die."""
