"""All that knows Dagster: assets, checks, jobs, automation, runs. `monjyu_assets.definitions` is its face."""
