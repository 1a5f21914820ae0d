"""Which paper is meant: by its id, its DOI, words of its title, or its first author and year."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from monjyu_core.errors import QueryError
from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import compact, folded, spellings, words
from monjyu_query.catalogue.closest_paper import no_paper
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.paper_records import present_paper

_PAPERS = """SELECT p.paper_id, coalesce(p.title, ''), p.year, coalesce(p.doi, ''),
  coalesce((SELECT list(a.name ORDER BY a.ord) FROM authors a WHERE a.paper_id = p.paper_id), [])
FROM papers p ORDER BY p.paper_id"""
_YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)[a-z]?\b")
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
    found = find_papers(index, present_paper(index.snapshot, name))
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
    asked = [word for word in words(wanted) if word not in _EMPTY and not _YEAR.fullmatch(word)]
    if not asked:
        return 0.0
    own = set(words(plain))
    share = sum(word in own for word in asked) / len(asked)
    joined = "".join(asked)
    if len(joined) >= _COMPACT and joined in compact(plain):
        return 1.5 + len(joined) / len(plain)
    titled = 1 + share + len(asked) / (len(own) + 1) if share > _SHARE and _telling(asked, own) else 0.0
    return max(titled, _by_author(wanted, year, authors))


def _telling(asked: Sequence[str], own: set[str]) -> bool:
    """Two words of a title, or one that is long enough to be a name."""
    shared = [word for word in asked if word in own]
    return len(shared) > 1 or len(shared[0]) > 3


def _by_author(wanted: str, year: int | None, authors: Sequence[str]) -> float:
    """The first author's family name, and the year where one is given."""
    if not authors:
        return 0.0
    given = _YEAR.search(wanted)
    family = authors[0].split(",")[0].split()
    parts = family if "," in authors[0] else family[-1:] + (family[:1] if count_wide(authors[0]) else [])
    names = spellings(" ".join(parts))
    others = spellings(" ".join(authors[1:]))
    asked = [word for word in words(_YEAR.sub(" ", wanted)) if word not in _EMPTY]
    if not asked or asked[0] not in names or any(word not in names | others for word in asked):
        return 0.0
    if given and (year is None or str(year) != given[1]):
        return 0.0
    return 1.5 if given else 1.2


def _plain(text: str) -> str:
    """For comparing."""
    return " ".join(folded(text).split())
