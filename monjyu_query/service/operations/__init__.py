"""Operations that change collections: indexing runs, backfills, rollbacks, uploads."""
