"""What the assets do, as functions over a data folder that know nothing of Dagster."""
