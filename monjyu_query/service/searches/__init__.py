"""Running searches: cancellation, streamed events, cached results."""
