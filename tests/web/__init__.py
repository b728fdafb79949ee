"""The web application, over HTTP, on a real database."""
