"""Questions about the collection itself (who wrote, how many, which cite), answered from its tables."""
