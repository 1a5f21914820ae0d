"""JSONL: one document a line."""
