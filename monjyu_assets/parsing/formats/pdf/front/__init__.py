"""Page 1: title, authors and what is said of them, abstract, identifiers, dates, venue."""
