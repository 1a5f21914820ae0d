"""A collection's papers on several machines: runs of groups of shards, through Dagster's run launcher."""
