"""Subscriptions, for the API and their page."""
