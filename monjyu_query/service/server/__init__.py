"""The server around the application: addresses, workers, HTTP limits, errors, metrics."""
