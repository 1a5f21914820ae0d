"""What an index run has to do: stale shards, targets, estimates."""
