"""Which files are the same paper, and which paper a reference names. Pure functions over tables; no Dagster."""
