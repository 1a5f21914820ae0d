"""Exports of answers: documents, and packages that contain an answer with its evidence and can be verified."""
