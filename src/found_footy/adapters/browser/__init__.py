"""`footy browser`: a service on loopback that drives Chromium, for searches of X and for pages of feeds."""
