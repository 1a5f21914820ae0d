"""The server around the application: workers, HTTP limits, errors, metrics, page files and drawn pages."""
