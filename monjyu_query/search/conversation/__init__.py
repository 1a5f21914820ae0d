"""Follow-ups written out, so that every mode, and the router before it, is asked a question that stands alone."""
