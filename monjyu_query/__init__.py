"""The reader: search, answers and evaluation over published snapshots. Never imports dagster."""
