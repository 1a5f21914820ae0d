"""Archives: what may be unpacked, within limits."""
