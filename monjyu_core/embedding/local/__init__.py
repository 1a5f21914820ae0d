"""Embedding models that run here, with weights from packages."""
