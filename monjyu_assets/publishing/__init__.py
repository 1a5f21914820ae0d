"""From parts to a published snapshot. Only this package writes Lance, index.duckdb, manifests and CURRENT."""
