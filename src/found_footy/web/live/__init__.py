"""News on their way to whoever listens: one reader of the outbox, any number of listeners."""
