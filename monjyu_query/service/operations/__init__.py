"""Work that the service starts elsewhere: backfills, rollbacks, uploads."""
