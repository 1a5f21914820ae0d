"""Stages that compare what papers say with each other."""
