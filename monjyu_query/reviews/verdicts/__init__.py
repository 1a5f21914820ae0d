"""Whether a criterion holds for a paper, each verdict with its quotes: by a rule, a search, or a model."""
