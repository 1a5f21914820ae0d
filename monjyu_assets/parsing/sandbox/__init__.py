"""Parser processes: a pool of them, their limits, the worker."""
