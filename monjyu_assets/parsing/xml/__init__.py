"""What JATS and TEI share: the tree, formulas, the last steps of a paper."""
