"""LaTeX sources to a parsed paper, by pylatexenc."""
