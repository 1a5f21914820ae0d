"""Which paper is meant: by its id, its DOI, words of its title, or its first author and year."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from monjyu_core.errors import QueryError
from monjyu_core.text.search_text import count_wide
from monjyu_query.catalogue.closest_paper import no_paper
from monjyu_query.search.open_index import OpenIndex

_PAPERS = """SELECT p.paper_id, coalesce(p.title, ''), p.year, coalesce(p.doi, ''),
  coalesce((SELECT list(a.name ORDER BY a.ord) FROM authors a WHERE a.paper_id = p.paper_id), [])
FROM papers p ORDER BY p.paper_id"""
_YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)[a-z]?\b")
_WORD = re.compile(r"[^\W_]+")
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "the a an of in on for and or to with by from at as et al its their paper papers article study ほか 論文",
    )
)
_SHARE = 0.6
"""Of a name's words, those that a title must have."""
_COMPACT = 6
"""Letters of a name that may be written as one word or as several."""
_WIDE_SHARE = 4
"""Characters of a title in a script without spaces that a name must hold at least."""


@dataclass(frozen=True)
class PaperName:
    """`sure`: no other paper of the collection fits as well."""

    paper_id: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    sure: bool


def find_papers(index: OpenIndex, name: str, most: int = 6) -> list[PaperName]:
    """The papers that a name may mean, best first; none where nothing fits."""
    wanted = _plain(name)
    scored: list[tuple[float, PaperName]] = []
    for paper_id, title, year, doi, authors in index.snapshot.cursor().execute(_PAPERS).fetchall():
        score = _score(wanted, name.strip(), paper_id, title, year, doi, authors)
        if score:
            scored.append((score, PaperName(paper_id, title, tuple(authors), year, sure=False)))
    scored.sort(key=lambda one: (-one[0], one[1].paper_id))
    found = [one for _, one in scored[:most]]
    if found and (len(scored) == 1 or scored[0][0] > scored[1][0]):
        first = found[0]
        found[0] = PaperName(first.paper_id, first.title, first.authors, first.year, sure=True)
    return found


def one_paper(index: OpenIndex, name: str) -> str:
    """The id of the paper that is meant. QueryError where none fits, or several do."""
    found = find_papers(index, name)
    if found and found[0].sure:
        return found[0].paper_id
    listed = "; ".join(f"{one.paper_id} (“{one.title}”)" for one in found[:4])
    if found:
        raise QueryError(f"{name!r} may mean several papers: {listed}.", "Name one by its id.")
    raise no_paper(index.snapshot.cursor(), name)


def _score(
    wanted: str, name: str, paper_id: str, title: str, year: int | None, doi: str, authors: Sequence[str]
) -> float:
    """0 where the paper is not meant; ids and whole titles before parts of titles and authors."""
    if name == paper_id or (doi and name.casefold().removeprefix("https://doi.org/") == doi.casefold()):
        return 10.0
    plain = _plain(title)
    if plain and wanted == plain:
        return 5.0
    if count_wide(wanted):
        named = wanted.removesuffix("の論文").removesuffix("論文").strip("「」『』“” ")
        if len(named) >= _WIDE_SHARE and named in plain:
            return 2 + len(named) / len(plain)
        return _by_author(named, year, authors)
    words = [word for word in _WORD.findall(wanted) if word not in _EMPTY and not _YEAR.fullmatch(word)]
    if not words:
        return 0.0
    own = set(_WORD.findall(plain))
    share = sum(word in own for word in words) / len(words)
    compact = "".join(words)
    if len(compact) >= _COMPACT and compact in plain.replace(" ", ""):
        return 1.5 + len(compact) / len(plain)
    titled = 1 + share + len(words) / (len(own) + 1) if share > _SHARE and _telling(words, own) else 0.0
    return max(titled, _by_author(wanted, year, authors))


def _telling(words: Sequence[str], own: set[str]) -> bool:
    """Two words of a title, or one that is long enough to be a name."""
    shared = [word for word in words if word in own]
    return len(shared) > 1 or len(shared[0]) > 3


def _by_author(wanted: str, year: int | None, authors: Sequence[str]) -> float:
    """The first author's family name, and the year where one is given."""
    if not authors:
        return 0.0
    given = _YEAR.search(wanted)
    family = _plain(authors[0]).split(",")[0].split()
    names = set(family) if "," in authors[0] else set(family[-1:]) | set(family[:1] if count_wide(authors[0]) else [])
    others = {word for author in authors[1:] for word in _plain(author).split()}
    words = [word for word in _WORD.findall(_YEAR.sub(" ", wanted)) if word not in _EMPTY]
    if not words or words[0] not in names or any(word not in names | others for word in words):
        return 0.0
    if given and (year is None or str(year) != given[1]):
        return 0.0
    return 1.5 if given else 1.2


def _plain(text: str) -> str:
    """In small letters without accents, for comparing."""
    split = unicodedata.normalize("NFKD", text)
    bare = "".join(c for c in split if not unicodedata.combining(c) or "\u3040" <= c <= "\u30ff" or c in "\u3099\u309a")
    return " ".join(unicodedata.normalize("NFC", bare).casefold().split())
