"""Where people post clips: one file a place, one port for all."""
