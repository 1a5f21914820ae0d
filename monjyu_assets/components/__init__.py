"""Component types of `dg`: a collection that YAML declares."""
