"""Pages, REST API and live updates."""
