"""What an operator does with indexes: verify, roll back, delete, purge."""
