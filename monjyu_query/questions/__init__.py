"""Questions that tables answer: about the collection, lists of papers, its themes, statements that disagree."""
