"""What an operator wants to know: what was measured, and what it means."""
