"""Health, metrics and the page of operations."""
