"""Adapters that keep everything in this process."""
