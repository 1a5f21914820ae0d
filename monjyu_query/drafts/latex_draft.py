r"""LaTeX: paragraphs with marks for the `\cite` commands. Nothing that it names is opened."""

from __future__ import annotations

import re

from monjyu_query.drafts.citation_marks import arxiv_in, doi_in, mark_text, year_in
from monjyu_query.drafts.cited_works import plain
from monjyu_query.drafts.draft_pages import MARK, Pages, Wanted, Work

LONGEST_PARAGRAPH = 20_000
"""Characters that pylatexenc is given at once; a longer one only loses its commands."""
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.S)
_LEFT_OUT = (
    "verbatim",
    "lstlisting",
    "minted",
    "equation",
    "equation*",
    "align",
    "align*",
    "tikzpicture",
    "comment",
    "tabular",
)
_LIST = re.compile(r"\\begin\s*\{thebibliography\}(.*?)(?:\\end\s*\{thebibliography\}|\Z)", re.S)
_ITEM = re.compile(r"\\bibitem\s*(?:\[[^\]]{0,300}\])?\s*\{([^{}]{1,200})\}")
_CITE = re.compile(
    r"~?\\([a-zA-Z]{0,12}[cC]ite[a-zA-Z]{0,12}\*?)\s?((?:\[[^\[\]]{0,200}\]\s?){0,2})\{([^{}]{0,2000})\}"
)
_SPOKEN = ("citet", "textcite", "citealt", "citeauthor", "onlinecite")
_PARTS = re.compile(
    r"\n\s*\n|\\(?:sub){0,2}(?:section|paragraph|chapter)\*?\s*\{[^{}]{0,500}\}|\\item\b|\\caption\b|\\par\b"
)


def read_latex(text: str, pages: Pages) -> None:
    r"""Fill `pages` from the document's own text; of `\bibitem`s the works."""
    text = _COMMENT.sub("", text)
    for item in _LIST.finditer(text):
        _listed(item[1], pages)
    body = _BODY.search(text)
    text = _LIST.sub("\n\n", body[1] if body else text)
    for name in _LEFT_OUT:
        text = re.sub(
            rf"\\begin\s*\{{{re.escape(name)}\}}.*?(?:\\end\s*\{{{re.escape(name)}\}}|\Z)", " ", text, flags=re.S
        )
    text = _CITE.sub(lambda found: _cited(found, pages), text)
    for part in _PARTS.split(text):
        if MARK.search(part) or "(" in part or "http" in part:
            pages.texts.append(mark_text(" ".join(_plain(part).split()), pages))


def _listed(text: str, pages: Pages) -> None:
    pieces = _ITEM.split(text)
    for number, (key, entry) in enumerate(zip(pieces[1::2], pieces[2::2], strict=True), start=1):
        raw = plain(entry)[:2000]
        work = Work(year=year_in(raw), doi=doi_in(entry), arxiv_id=arxiv_in(entry), raw=raw, label=str(number))
        pages.works.by_key.setdefault(key.strip(), work)


def _cited(found: re.Match[str], pages: Pages) -> str:
    command = found[1].casefold().rstrip("*")
    if command == "nocite":
        return ""
    keys = [key.strip() for key in found[3].split(",") if key.strip()]
    spoken = command.startswith(_SPOKEN)
    mark = pages.mark(found[0].lstrip("~"), [Wanted(key=key) for key in keys], spoken=spoken)
    return f" {mark}" if keys else ""


def _plain(latex: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    if len(latex) > LONGEST_PARAGRAPH:
        return plain(latex)
    try:
        return str(LatexNodes2Text(math_mode="text").latex_to_text(latex, tolerant_parsing=True))
    except Exception:  # what its parser makes of hostile text is not documented
        return plain(latex)
