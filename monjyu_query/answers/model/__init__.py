"""Answers by a language model: streamed, each sentence held against the sources it cites."""
