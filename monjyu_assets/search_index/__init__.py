"""Writing what a snapshot is searched by, in proportion to what changed."""
