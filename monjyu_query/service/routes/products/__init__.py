"""Routes of what is made from answers, one module a topic."""
