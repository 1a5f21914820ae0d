"""What a snapshot must pass besides the queries of `checks`: vectors, retrieval, saved questions."""
