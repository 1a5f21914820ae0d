"""Modes vector, keyword and hybrid."""
