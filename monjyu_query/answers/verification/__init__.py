"""Whether sources say what a sentence says: figures, names, negation and direction in place; a model where one is there."""
