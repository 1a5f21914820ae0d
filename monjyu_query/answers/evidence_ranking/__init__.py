"""How probably each sentence of some passages is evidence for a question."""
