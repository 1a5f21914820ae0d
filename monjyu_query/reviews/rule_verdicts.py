"""Decides criteria by rules on a paper's fields and on phrases in its text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from monjyu_core.records.reviews import Holds, Verdict
from monjyu_core.text.search_text import count_wide
from monjyu_query.digests.paper_text import PaperText
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.protocol import Criterion, Rule, Years
from monjyu_query.reviews.quotes import Quoting

# The fields of each paper for screening, and the hash of everything that a screening may read.
_PAPERS = """SELECT p.paper_id, p.sha256, p.year, p.language, p.document_type, p.is_academic_paper,
  coalesce((SELECT list_sort(list(DISTINCT s.section_type)) FROM sections s WHERE s.paper_id = p.paper_id), []),
  md5(concat_ws(chr(31), p.title, p.abstract, p.year, p.language, p.document_type, p.is_academic_paper, t.text))
FROM papers p JOIN paper_identity i ON i.paper_id = p.paper_id AND i.canonical_id = p.paper_id
LEFT JOIN (SELECT paper_id, md5(string_agg(md5(concat_ws(chr(31), section_ord, text, spans::VARCHAR)), '' ORDER BY ord))
  AS text FROM sentences GROUP BY paper_id) t ON t.paper_id = p.paper_id
ORDER BY p.paper_id"""


@dataclass(frozen=True)
class ScreenedPaper:
    """A paper to screen. `key` changes with everything on which a decision may depend: the text and its positions, the
    paper's fields, a retraction notice. The same file parsed in the same way has the same key in every collection."""

    paper_id: str
    sha256: str
    year: int | None
    language: str
    document_type: str
    is_paper: bool
    sections: frozenset[str]
    retracted: bool
    key: str


def screened_papers(index: OpenIndex) -> list[ScreenedPaper]:
    """Return the papers to screen, one file for each readable paper, by id."""
    found = []
    for paper_id, sha256, year, language, kind, is_paper, sections, read in (
        index.snapshot.cursor().execute(_PAPERS).fetchall()
    ):
        gone = paper_id in index.retracted
        key = f"{read}r" if gone else read
        found.append(ScreenedPaper(paper_id, sha256, year, language, kind, is_paper, frozenset(sections), gone, key))
    return found


_NEVER = ("references", "acknowledgments")
"""Sections whose words say nothing about the paper's own work, unless a rule names them."""
_NAMED = 3
"""The maximum number of phrases to name in a reason."""


@dataclass(frozen=True)
class _Part:
    """A part of a rule: whether it is true, and why. `places` are the positions of supporting sentences."""

    holds: Holds
    why: str
    places: Sequence[int] = ()


def by_rule(criterion: Criterion, rule: Rule, paper: ScreenedPaper, quoting: Quoting, *, excludes: bool) -> Verdict:
    """Return the verdict of a rule. All its parts must be true; a false part decides before any unclear part.
    `excludes`: it is an exclusion criterion, which too few mentions of a phrase do not meet."""
    parts = [*_known(rule, paper), *_phrases(rule, criterion, quoting, excludes=excludes)]
    for holds in ("no", "unclear"):
        parts = [part for part in parts if part.holds == holds][:1] or parts
    return Verdict(
        criterion=criterion.id,
        holds=parts[0].holds,
        why="; ".join(part.why for part in parts),
        engine="rule",
        quotes=quoting.quotes([place for part in parts for place in part.places]),
    )


def _known(rule: Rule, paper: ScreenedPaper) -> Iterator[_Part]:
    if rule.years:
        yield _year(rule.years, paper.year)
    if rule.languages:
        yield _part(paper.language in rule.languages, f"language {paper.language}")
    if rule.document_types:
        yield _part(paper.document_type in rule.document_types, f"document type {paper.document_type}")
    if rule.sections:
        had = [kind for kind in rule.sections if kind in paper.sections]
        yield _part(bool(had), f"section {', '.join(had)}" if had else f"no section {', '.join(rule.sections)}")
    if rule.papers is not None:
        told = "has the signs of a paper" if paper.is_paper else "has no sign of a paper: abstract, references, ids"
        yield _part(paper.is_paper == rule.papers, told)
    if rule.retracted is not None:
        told = "a notice says that it is retracted" if paper.retracted else "no notice says that it is retracted"
        yield _part(paper.retracted == rule.retracted, told)


def _part(holds: bool, why: str) -> _Part:
    return _Part("yes" if holds else "no", why)


def _year(years: Years, year: int | None) -> _Part:
    if year is None:
        return _Part("unclear", "its year is not known")
    return _part((years.first or 0) <= year <= (years.last or 9999), f"year {year}")


def _phrases(rule: Rule, criterion: Criterion, quoting: Quoting, *, excludes: bool) -> Iterator[_Part]:
    titled = not rule.where or "title" in rule.where
    places = _within(quoting.paper, rule.where)
    for phrases in ([rule.mention] if rule.mention else []) + [[phrase] for phrase in rule.mention_all]:
        found = _mentioning(quoting.paper, phrases, places)
        number = len(found) + (titled and _matches(phrases, quoting.paper.title))
        shown = [phrase for phrase in phrases if _shown(phrase, quoting.paper, found, titled=titled)] or phrases
        told = f"{_named(shown)} {_times(number)} in {_where(rule)}"
        best = quoting.best(found, criterion.text)[:1]
        if number >= rule.at_least:
            yield _Part("yes", told, best)
        elif number:
            yield _Part("no" if excludes else "unclear", f"{told}, {rule.at_least} are required", best)
        else:
            yield _Part("no" if excludes else rule.otherwise, told)


def _shown(phrase: str, paper: PaperText, found: Sequence[int], *, titled: bool) -> bool:
    return bool(_mentioning(paper, [phrase], found)) or (titled and _matches([phrase], paper.title))


def _named(phrases: Sequence[str]) -> str:
    return " or ".join(f"“{phrase}”" for phrase in phrases[:_NAMED]) + (" or others" if len(phrases) > _NAMED else "")


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times" if number else "nowhere"


def _where(rule: Rule) -> str:
    return ", ".join(rule.where) if rule.where else "title and text"


def _within(paper: PaperText, where: Sequence[str]) -> list[int]:
    """Return the positions of the sentences in which a rule looks for phrases."""
    kinds = {number: kind for number, (_, kind) in paper.sections.items()}
    allowed = {number for number, kind in kinds.items() if (kind in where if where else kind not in _NEVER)}
    return [place for place, one in enumerate(paper.sentences) if one.section_ord in allowed]


def _mentioning(paper: PaperText, phrases: Sequence[str], places: Sequence[int]) -> list[int]:
    return [place for place in places if _matches(phrases, paper.sentences[place].text)]


def _matches(phrases: Sequence[str], text: str) -> bool:
    return any(phrase_pattern(phrase).search(text) for phrase in phrases)


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """Return a pattern for the words of a phrase with any white space between them: whole words (the last one with any
    ending if the phrase ends in `*`), in upper or lower case unless the phrase is one word in capitals. In scripts
    without spaces it matches anywhere."""
    stem = phrase.strip().removesuffix("*")
    words = r"\s+".join(re.escape(word) for word in stem.split())
    before, after = (r"(?<!\w)" if stem[:1].isalnum() else ""), ("" if stem != phrase.strip() else r"(?!\w)")
    if count_wide(stem):
        before = after = ""
    as_written = stem.isupper() and " " not in stem
    # Not cached here, because `re` caches compiled patterns.
    return re.compile(before + words + after, 0 if as_written else re.IGNORECASE)
