"""What living reviews remember between runs; here, so that deletions and purges by the writer reach it."""
