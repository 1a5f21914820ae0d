"""Whether a document is an academic paper: a small score over what was found in it, and what counted against it."""

from __future__ import annotations

from collections.abc import Iterator

from monjyu_core.paper import ParsedPaper

_IMRAD = {"introduction", "related_work", "methods", "experiments", "results", "discussion", "conclusion"}
_ENOUGH = 3.0
_SHORT = 400
_WARNING = "not an academic paper: "


def judge(paper: ParsedPaper) -> None:
    """Set `is_academic_paper`; if it is false, `warnings` says what is missing. May be called again."""
    paper.warnings = [warning for warning in paper.warnings if not warning.startswith(_WARNING)]
    signals = list(_signals(paper))
    paper.is_academic_paper = sum(points for points, _ in signals) >= _ENOUGH
    if not paper.is_academic_paper:
        paper.warnings.append(_WARNING + ", ".join(missed for points, missed in signals if missed and points <= 0))


def _signals(paper: ParsedPaper) -> Iterator[tuple[float, str]]:
    """(points, what is missing if there are none) for each sign.

    An abstract, references that the text cites, and sections of the IMRaD scheme weigh most, as few other documents
    have them; a list of links alone (encyclopaedias, manuals) is not enough.
    """
    characters = sum(len(section.text) for section in paper.sections)
    kinds = {section.section_type for section in paper.sections} & _IMRAD
    yield min(2.0, 0.5 + 0.25 * len(paper.references)) if paper.references else 0.0, "no references"
    yield 1.0 if paper.inline_citations else 0.0, "no citations in the text"
    yield 1.5 if paper.abstract.strip() else 0.0, "no abstract"
    yield 1.0 if paper.title.strip() and paper.authors else 0.0, "no author" if paper.title.strip() else "no title"
    yield 0.75 * min(2, len(kinds)), "no sections such as introduction, methods or results"
    yield 1.0 if paper.doi or paper.arxiv_id or paper.pmid else 0.0, ""
    yield 0.5 if paper.keywords or paper.venue else 0.0, ""
    yield -1.0 if characters < _SHORT else 0.0, f"fewer than {_SHORT} characters" if characters < _SHORT else ""
