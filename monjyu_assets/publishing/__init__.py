"""From parts to a published snapshot. Only this package writes search files, index.duckdb, manifests and CURRENT."""
