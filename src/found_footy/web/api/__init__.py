"""REST API and feeds for programs."""
