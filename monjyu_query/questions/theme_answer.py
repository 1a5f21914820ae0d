"""Answers "What themes run through the collection?" with its themes by name, each with its papers and a quote."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import duckdb

from monjyu_core.language.packs import Texts
from monjyu_core.text.language import message_language
from monjyu_core.text.quotes import points_outside
from monjyu_query.answers.answer import Answer, result_of
from monjyu_query.answers.citing import cite
from monjyu_query.answers.claims import passages_of
from monjyu_query.answers.selection import is_prose, is_statement
from monjyu_query.asking.passages import PassageSentence, load_passages, load_sentences, sentences_by_id
from monjyu_query.asking.result import Routing, SearchResult, Segment
from monjyu_query.papers.labels import paper_labels
from monjyu_query.questions.intents import Intent
from monjyu_query.questions.theme_tree import MainTheme, ThemeKind, main_themes, usual_kind
from monjyu_query.ranking.filters import passing_papers
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.tools import Ask, Tools

MOST_THEMES, SHORT_LIST = 10, 3
_NAMED = 3
"""The number of papers named for a theme."""
_PASSAGES, _MENTIONS = 6, 200
"""The number of passages of a community, and of sentences that name a report's entities, in which a quote is
searched."""
_LONGEST_QUOTE = 400
_OVERVIEW = {"abstract": 0.4, "introduction": 0.2, "conclusion": 0.2}
"""The bonus of a section about the paper as a whole, added to the share of the theme's words in a sentence."""
_OTHER_PAPER = 0.15
"""The bonus of a paper that no earlier theme quotes."""
_FIRST_WORDS = 0.5
"""The bonus of a sentence with all words of the theme's first name."""
_LEAST_WORDS = 0.25
"""The least share of the theme's words in a quote."""
_PARTS = re.compile(r", | and ")
_CUT = re.compile(r"^\W*(?:\d|[a-z]{1,3}\))")
"""Matches the beginning of a list item, or of the rest of a sentence that was divided."""
_FINDINGS = """SELECT unnest(f.sentence_ids) FROM (
    SELECT unnest(findings) AS f FROM community_reports WHERE community_id = $theme)
UNION ALL SELECT * FROM (SELECT unnest(e.sentence_ids) FROM entity_community_members m JOIN entities e USING (entity_id)
    WHERE m.community_id = $theme AND contains($title, e.name) ORDER BY ALL LIMIT $most)"""
_CHUNKS = """SELECT l.chunk_id FROM chunk_communities l JOIN chunks k USING (chunk_id)
WHERE l.community_id = $theme AND list_contains($papers::VARCHAR[], k.paper_id)
ORDER BY l.share DESC, k.tokens DESC, l.chunk_id LIMIT $most"""


def theme_answer(ask: Ask, tools: Tools, intent: Intent) -> SearchResult | None:
    """The result if a question asks for the themes of the whole collection; None for other questions, if mode,
    controller or budget determine how it is answered, if a model writes answers, and if there are no themes: then an
    ordinary search answers."""
    request = ask.request
    if not request.open_ended or tools.uses_model("answer") or ask.index.snapshot.manifest.level < 1:
        return None
    cursor = ask.index.snapshot.cursor()
    papers = passing_papers(cursor, request.filters)
    kind = usual_kind(ask.index.snapshot)
    themes = main_themes(cursor, kind, papers) if len(papers) > 1 else []
    if not themes:
        return None
    answer, quoted = _themes_answer(ask, cursor, kind, themes)
    source = "community reports" if kind == "reports" else "communities of phrases"
    routing = Routing(query_type="collection", reason=f"it asks for the themes of all papers: their {source}")
    return result_of(replace(ask, mode="catalogue", routing=routing), answer, "tables", passages_of(quoted))


def _themes_answer(
    ask: Ask, cursor: duckdb.DuckDBPyConnection, kind: ThemeKind, themes: Sequence[MainTheme]
) -> tuple[Answer, list[PassageSentence]]:
    language = message_language(ask.request.query)
    words = Texts("themes")[language]
    most_shown = SHORT_LIST if ask.request.response_type == "short" else MOST_THEMES
    quoted = _quotes(ask.index, cursor, kind, themes, most_shown)
    shown = [theme for theme in themes if theme.theme_id in quoted] or themes[:most_shown]
    cited = {one.sentence_ids[0]: one for one in cite(cursor, list(quoted.values()))}
    labels = paper_labels(ask.index, [paper for theme in shown for paper in theme.papers], language)
    most = words["shown"].format(shown=len(shown)) if len(shown) < len(themes) else ""
    segments = [Segment(text=words["all"].format(n=len(themes), most=most))]
    for place, theme in enumerate(shown):
        lead = "\n- " if place else "\n\n- "
        said = f"{lead}{theme.title}: {_count(theme, labels, words)}{words['end']}".rstrip()
        segments.append(Segment(text=said, label=theme.title))
        sentence = quoted.get(theme.theme_id)
        citation = cited.get(sentence.sentence_id) if sentence else None
        if citation is not None:
            told = f" {labels[citation.paper_id]}: {' '.join(citation.quote.split())}"
            segments.append(Segment(text=told, citations=[citation.n]))
    segments.append(Segment(text=f"\n\n{words['note']}"))
    citations = list(cited.values())
    return Answer(segments, "complete", citations, verified=bool(citations)), list(quoted.values())


def _count(theme: MainTheme, labels: dict[str, str], words: Mapping[str, str]) -> str:
    names = [labels[paper] for paper in theme.papers[:_NAMED]]
    listed = words["comma"].join(names[:-1]) + words["and"] + names[-1] if len(names) > 1 else names[0]
    many = "among" if len(theme.papers) > _NAMED else "papers"
    return words["one" if len(theme.papers) == 1 else many].format(n=len(theme.papers), names=listed)


def _quotes(
    index: OpenIndex, cursor: duckdb.DuckDBPyConnection, kind: ThemeKind, themes: Sequence[MainTheme], most: int
) -> dict[str, PassageSentence]:
    """The quotes of the first `most` themes that have one, by id: a sentence of one of the theme's papers with most of
    the theme's words. A theme without such a sentence has none, because its name does not fit."""
    found: dict[str, PassageSentence] = {}
    for theme in themes:
        given = _of_report(cursor, theme) if kind == "reports" else _of_community(cursor, theme)
        best = _best(index, theme, given, {sentence.passage.paper_id for sentence in found.values()})
        known = {sentence.sentence_id for sentence in found.values()}
        if best is not None and best.sentence_id not in known:
            found[theme.theme_id] = best
        if len(found) == most:
            break
    return found


def _of_report(cursor: duckdb.DuckDBPyConnection, theme: MainTheme) -> list[PassageSentence]:
    values = {"theme": theme.theme_id, "title": theme.title, "most": _MENTIONS}
    names = [name for (name,) in cursor.execute(_FINDINGS, values).fetchall()]
    sentences = sentences_by_id(cursor, names)
    return [sentences[name] for name in dict.fromkeys(names) if name in sentences]


def _of_community(cursor: duckdb.DuckDBPyConnection, theme: MainTheme) -> list[PassageSentence]:
    values = {"theme": theme.theme_id, "papers": list(theme.papers), "most": _PASSAGES}
    chunks = [name for (name,) in cursor.execute(_CHUNKS, values).fetchall()]
    return load_sentences(cursor, load_passages(cursor, chunks))


def _best(
    index: OpenIndex, theme: MainTheme, sentences: Sequence[PassageSentence], quoted: Collection[str]
) -> PassageSentence | None:
    kept = [one for one in sentences if one.passage.paper_id in theme.papers and _can_stand(one.text)]
    if not kept:
        return None
    first = _PARTS.split(theme.title)[0]
    [wanted, lead, *terms] = map(set, index.keywords.terms([theme.title, first, *(one.text for one in kept)]))
    shares = [len(wanted & own) / max(len(wanted), 1) for own in terms]
    worth = [
        share
        + _FIRST_WORDS * (lead <= own)
        + _OVERVIEW.get(one.passage.section_type, 0.0)
        + _OTHER_PAPER * (one.passage.paper_id not in quoted)
        - len(one.text) / _LONGEST_QUOTE / 4
        for one, own, share in zip(kept, terms, shares, strict=True)
    ]
    best = worth.index(max(worth))
    return kept[best] if shares[best] >= _LEAST_WORDS or lead <= terms[best] else None


def _can_stand(text: str) -> bool:
    whole = is_statement(text) and is_prose(text) and not points_outside(text) and not _CUT.match(text)
    return whole and len(text) <= _LONGEST_QUOTE
