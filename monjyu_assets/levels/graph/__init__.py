"""The noun graph and its communities: co-occurrence in SQL, pruning, hierarchical Leiden."""
