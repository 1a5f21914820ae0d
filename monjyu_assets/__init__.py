"""The writer: Dagster assets, and the pure functions behind them."""
