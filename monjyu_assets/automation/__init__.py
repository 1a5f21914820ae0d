"""Dagster's sensors and maintenance jobs, which start runs."""
