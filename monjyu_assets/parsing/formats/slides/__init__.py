"""Slides."""
