"""The search modes, one folder each."""
