"""From evidence to an answer: choose sentences, compose, cite, check."""
