"""The short name by which answers speak of a paper: "Castro et al. (2021)", 「山田ほか（2021）」."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from monjyu_core.text.search_text import count_wide
from monjyu_query.search.open_index import OpenIndex

_TITLE_WORDS = 6
_TITLE_CHARACTERS = 16
"""Of a title in a script without spaces."""
_PAPERS = """SELECT p.paper_id, p.title, p.year,
  (SELECT list(a.name ORDER BY a.ord) FROM authors a WHERE a.paper_id = p.paper_id)
FROM papers p WHERE p.paper_id IN ({marks})"""


def paper_label(authors: Sequence[str], year: int | None, title: str, language: str = "en") -> str:
    """By the family names of one or two authors, of the first with "et al." where there are more, and the year; by the
    first words of the title where there is no author."""
    names = [family_name(name) for author in authors if (name := _visible(author))]
    japanese = language == "ja"
    if not names:
        who = short_title(_visible(title))
    elif len(names) == 1:
        who = names[0]
    elif len(names) == 2:
        who = f"{names[0]}・{names[1]}" if japanese else f"{names[0]} and {names[1]}"
    else:
        who = f"{names[0]}ほか" if japanese else f"{names[0]} et al."
    if year is None:
        return who
    return f"{who}（{year}）" if japanese else f"{who} ({year})"


def paper_labels(index: OpenIndex, paper_ids: Sequence[str], language: str = "en") -> dict[str, str]:
    """The labels of papers by id; of those that would have the same one, each has a letter after the year."""
    wanted = list(dict.fromkeys(paper_ids))
    if not wanted:
        return {}
    query = _PAPERS.format(marks=", ".join("?" * len(wanted)))
    rows = {row[0]: row[1:] for row in index.snapshot.cursor_of(wanted).execute(query, wanted).fetchall()}
    found: dict[str, str] = {}
    for paper_id in wanted:
        title, year, authors = rows.get(paper_id, ("", None, None))
        found[paper_id] = paper_label(authors or [], year, title or paper_id, language)
    return _distinct(found)


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
    """Without control and format characters, with which a name could turn the text around it."""
    return " ".join("".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf")).split())


def family_name(name: str) -> str:
    """The part of an author's name that citations use: what stands before a comma, else the last word with particles as
    "van"; of a Japanese name without spaces all."""
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


def short_title(title: str) -> str:
    """The first words of a title, in quotation marks."""
    if count_wide(title):
        cut = title if len(title) <= _TITLE_CHARACTERS else title[:_TITLE_CHARACTERS] + "…"
        return f"「{cut}」"
    words = title.split()
    cut = " ".join(words) if len(words) <= _TITLE_WORDS else " ".join(words[:_TITLE_WORDS]) + " …"
    return f"“{cut}”"
