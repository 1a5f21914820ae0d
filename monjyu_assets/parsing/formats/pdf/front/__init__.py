"""Page 1: title, authors with their places and addresses, abstract, identifiers, dates, venue."""
