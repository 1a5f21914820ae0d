"""What stages share: the work on one collection, reuse, reports, what engines read."""
