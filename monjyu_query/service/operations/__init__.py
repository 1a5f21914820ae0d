"""What the service has others do: backfills, rollbacks, uploads."""
