"""X through a logged-in browser: `footy browser`, a service on loopback that drives Chromium."""
