"""Files to parsed papers: one folder a format, what formats share, and the processes that parsers run in."""
