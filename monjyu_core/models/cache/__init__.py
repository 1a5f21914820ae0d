"""Answers of models, kept: in SQLite or Redis."""
