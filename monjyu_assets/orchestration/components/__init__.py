"""Component types for `defs.yaml`: collections that a Dagster project declares, over the one shared set of assets."""
