"""What the JATS, TEI and LaTeX sources of the paper on leaves have in common."""

from __future__ import annotations

SECTIONS = [
    (1, "abstract", "Abstract"),
    (1, "introduction", "Introduction"),
    (1, "methods", "Methods"),
    (2, "methods", "Walks"),
    (2, "methods", "Pruning"),
    (1, "results", "Results"),
    (1, "conclusion", "Conclusion"),
    (1, "acknowledgments", "Acknowledgments"),
    (1, "references", "References"),
]
"""Level, type and heading of each."""
NOTED = [*SECTIONS[:-1], (1, "other", "Notes"), SECTIONS[-1]]
"""The same where the source has a note to its title."""
ADDED = ("Notes", "Graphical abstract")
"""Sections that only some of the sources have."""
