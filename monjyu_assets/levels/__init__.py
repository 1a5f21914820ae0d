"""The knowledge of each level, apart from Dagster and storage."""
