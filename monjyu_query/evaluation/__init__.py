"""Retrieval, lazy search and answers measured on questions with gold."""
