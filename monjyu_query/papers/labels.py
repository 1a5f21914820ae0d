"""The short names of papers in answers: "Castro et al. (2021)", 「山田ほか（2021）」."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from monjyu_core.language.packs import Texts, quoted
from monjyu_core.text.language import DEFAULT, message_language
from monjyu_core.text.search_text import count_wide
from monjyu_query.ranking.open_index import OpenIndex

_TITLE_WORDS = 6
_TITLE_CHARACTERS = 16
"""The number of characters of a title in a script without spaces."""
_PAPERS = "SELECT paper_id, title, year FROM papers WHERE paper_id IN ({marks})"
_AUTHORS = "SELECT paper_id, name FROM authors WHERE paper_id IN ({marks}) ORDER BY paper_id, ord"
"""A separate query, because a list of authors in each row of the papers takes twice the time of both."""


class Named(NamedTuple):
    """The fields from which a paper's short name is built; the title may be empty."""

    title: str
    year: int | None
    authors: list[str]


def paper_label(authors: Sequence[str], year: int | None, title: str, language: str = "en") -> str:
    """The label from the family names of one or two authors, or of the first with "et al.", and the year; from the
    first words of the title if there is no author."""
    names = [family_name(name) for author in authors if (name := _visible(author))]
    words = Texts("labels")[language]
    if not names:
        who = short_title(_visible(title), language)
    elif len(names) == 1:
        who = names[0]
    elif len(names) == 2:
        who = words["two"].format(*names)
    else:
        who = words["more"].format(names[0])
    return who if year is None else words["dated"].format(who, year)


def paper_labels(index: OpenIndex, paper_ids: Sequence[str], language: str = "en") -> dict[str, str]:
    """The labels of papers by id; equal labels get a letter after the year."""
    return labels_of(named_papers(index, paper_ids), language)


def labels_of(papers: Mapping[str, Named], language: str = "en") -> dict[str, str]:
    """Like `paper_labels`, for papers that were already read."""
    return _distinct(
        {name: paper_label(of.authors, of.year, of.title or name, language) for name, of in papers.items()}
    )


def named_papers(index: OpenIndex, paper_ids: Iterable[str]) -> dict[str, Named]:
    """The naming fields of each paper by id, in the given order; empty for a paper not in the collection."""
    wanted = list(dict.fromkeys(paper_ids))
    found = {paper_id: Named("", None, []) for paper_id in wanted}
    if wanted:
        cursor, marks = index.snapshot.cursor_of(wanted), ", ".join("?" * len(wanted))
        for paper_id, title, year in cursor.execute(_PAPERS.format(marks=marks), wanted).fetchall():
            found[paper_id] = Named(title or "", year, [])
        for paper_id, name in cursor.execute(_AUTHORS.format(marks=marks), wanted).fetchall():
            found[paper_id].authors.append(name)
    return found


def _distinct(labels: dict[str, str]) -> dict[str, str]:
    same: dict[str, list[str]] = {}
    for paper_id, label in labels.items():
        same.setdefault(label, []).append(paper_id)
    found = dict(labels)
    for label, papers in same.items():
        for letter, paper_id in zip("abcdefghijklmnopqrstuvwxyz", papers if len(papers) > 1 else (), strict=False):
            closing = label[-1] if label[-1:] in ")）" else ""
            found[paper_id] = f"{label[: -len(closing)]}{letter}{closing}" if closing else f"{label} ({letter})"
    return found


def _visible(text: str) -> str:
    """The text without control and format characters, which could reverse the surrounding text."""
    return " ".join("".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf")).split())


def family_name(name: str) -> str:
    """The part of an author's name used in citations: the part before a comma, otherwise the last word with particles
    such as "van"; in Chinese, Japanese or Korean the first word, which is the whole name if it has no spaces."""
    if "," in name:
        return name.split(",")[0].strip()
    words = name.split(" ")
    if count_wide(name):
        return words[0]
    while len(words) > 1 and words[-1].rstrip(".").casefold() in ("jr", "sr", "ii", "iii", "phd"):
        words.pop()
    start = len(words) - 1
    while start > 1 and words[start - 1].islower():
        start -= 1
    return " ".join(words[start:])


def short_title(title: str, language: str = "en") -> str:
    """The first words of a title, in quotation marks; Japanese ones if the title or the text around it is Japanese."""
    words = title.split()
    if 2 * count_wide(title) > len(title):
        cut = title if len(title) <= _TITLE_CHARACTERS else title[:_TITLE_CHARACTERS] + "…"
    else:
        cut = " ".join(words) if len(words) <= _TITLE_WORDS else " ".join(words[:_TITLE_WORDS]) + " …"
    own = message_language(title)
    return quoted(cut, own if own != DEFAULT else language)
