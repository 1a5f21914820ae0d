"""The citation network as seen from a paper, and its exports."""
