"""Digests: a summary of a paper, a comparison of several, a survey of a topic. Every sentence is cited."""
