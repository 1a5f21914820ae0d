"""Study tables: a row a paper, a column for each thing that a reader wants to know of all of them."""
