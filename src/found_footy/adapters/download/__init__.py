"""Strangers' videos, from wherever they lie, onto our disk. `downloader.py` is the way in."""
