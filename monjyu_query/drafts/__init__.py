"""Drafts with citations: what they cite of a collection, and whether the papers say what the draft says of them."""
