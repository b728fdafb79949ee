"""Messages to subscribers."""
