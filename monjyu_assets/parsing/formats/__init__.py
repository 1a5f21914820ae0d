"""One folder a format, each with one door. Formats never import each other."""
