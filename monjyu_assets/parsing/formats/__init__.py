"""One folder for each format, with one entry point each. Formats never import each other."""
