"""The context of a local question: statements of entities, relationships, reports and claims with their source
sentences, within shares of the tokens; and the chunks to which such statements lead a lazy search."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from monjyu_core.text.tokens import first_within
from monjyu_query.answers.claims import Claim, merged, within_tokens
from monjyu_query.answers.selection import Question
from monjyu_query.asking.passages import Passage, in_order, sentences_by_id
from monjyu_query.knowledge.concept_graph import has_tables
from monjyu_query.knowledge.reports import Report, Reports, claims_of
from monjyu_query.modes.local_entities import Entity
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.query_embedding import text_relevance

MOST_REPORTS = 8
MOST_SENTENCES = 3
"""The maximum number of sentences of one statement."""
_MEMBERS = """SELECT community_id, entity_id FROM entity_community_members
WHERE entity_id IN (SELECT unnest($entities::VARCHAR[]))"""
_AROUND = """SELECT coalesce(nullif(r.description, ''), concat_ws(' ', s.name, r.type, t.name)),
    coalesce(r.sentence_ids, []), coalesce(r.engine, '')
FROM relationships r JOIN entities s ON s.entity_id = r.source_id JOIN entities t ON t.entity_id = r.target_id
WHERE list_contains($entities::VARCHAR[], r.source_id) OR list_contains($entities::VARCHAR[], r.target_id)
ORDER BY (list_contains($entities::VARCHAR[], r.source_id) AND list_contains($entities::VARCHAR[], r.target_id)) DESC,
    r.weight DESC, r.relationship_id
LIMIT $most"""


@dataclass(frozen=True)
class SourcedStatement:
    """A statement before its sentences are looked up."""

    text: str
    sentence_ids: tuple[str, ...]
    engine: str
    community: str | None = None


@dataclass(frozen=True)
class Weigher:
    """Finds the sentences of statements and their weights. `similar` (n,): the passages' similarity to the question;
    `within`: the chunks that pass the filters, None for all."""

    index: OpenIndex
    question: Question
    similar: Scores
    within: set[str] | None

    def weighed(self, statements: Iterable[SourcedStatement], most_tokens: int) -> list[Claim]:
        """The statements as claims, best first, without duplicates, up to `most_tokens` in total; those without a
        source sentence or without relevance are omitted."""
        said = list(statements)
        cursor = self.index.snapshot.cursor()
        known = sentences_by_id(cursor, (name for one in said for name in one.sentence_ids), self.within)
        rows = self.index.corpus.chunk_ids.rows_of(sentence.passage.chunk_id for sentence in known.values())
        terms = self.index.keywords.terms([one.text for one in said])
        claims: list[tuple[Claim, frozenset[str]]] = []
        for one, own in zip(said, terms, strict=True):
            sentences = in_order(known, one.sentence_ids)[:MOST_SENTENCES]
            if sentences:
                similar = float(self.similar[rows[sentences[0].passage.chunk_id]])
                score = text_relevance(self.question.share(set(own)), similar, self.index.scale)
                text = " ".join(one.text.split())
                claims.append((Claim(text, sentences, score, one.community, one.engine), frozenset(own)))
        claims.sort(key=lambda pair: (-pair[0].score, pair[0].statement))
        return within_tokens(merged([pair for pair in claims if pair[0].score > 0]), most_tokens, at_least=0)


def passages_within(passages: Sequence[Passage], most: int) -> list[Passage]:
    """The first passages that have at most `most` tokens together, but at least one."""
    return list(passages[: first_within([passage.text for passage in passages], most)])


def of_entities(index: OpenIndex, entities: Sequence[Entity], most: int) -> list[SourcedStatement]:
    """Statements about the entities and, at most `most` per entity on average, about their relationships: those between
    two of the entities first, then by weight."""
    said = [
        SourcedStatement(f"{e.name} ({e.type}): {e.description}", e.sentence_ids, e.engine)
        for e in entities
        if e.description and e.description != e.name
    ]
    cursor = index.snapshot.cursor()
    if not entities or not has_tables(cursor, ("relationships",)):
        return said
    values = {"entities": [entity.id for entity in entities], "most": most * len(entities)}
    related = cursor.execute(_AROUND, values).fetchall()
    return said + [SourcedStatement(text, tuple(sentences), engine) for text, sentences, engine in related]


def of_claims(index: OpenIndex, chunks: Iterable[str]) -> list[SourcedStatement]:
    """The stored claims of `chunks`."""
    found = claims_of(index.snapshot.cursor(), chunks)
    return [SourcedStatement(claim.statement, claim.sentence_ids, claim.engine) for claim in found]


def of_reports(index: OpenIndex, reports: Reports, entities: Sequence[Entity], near: Scores) -> list[Report]:
    """Up to eight reports on the communities of the entities: those with the most entities first, then those most
    similar to the question."""
    cursor = index.snapshot.cursor()
    if not reports.all or not entities or not has_tables(cursor, ("entity_community_members",)):
        return []
    members = cursor.execute(_MEMBERS, {"entities": [entity.id for entity in entities]}).fetchall()
    counts = Counter(community for community, _ in members)
    places = [place for place, report in enumerate(reports.all) if counts[report.id]]
    places.sort(key=lambda place: (-counts[reports.all[place].id], -float(near[place]), -reports.all[place].level))
    return [reports.all[place] for place in places[:MOST_REPORTS]]


def findings_of(reports: Sequence[Report]) -> list[SourcedStatement]:
    return [
        SourcedStatement(finding.text, finding.sentence_ids, report.engine, report.id)
        for report in reports
        for finding in report.findings
    ]


# Evidence of levels 2 to 4 for a question: the chunks of its entities, relationships, report findings and claims.
MOST = 1000
"""The maximum number of items of each kind that are compared with a question: those with the most of its words."""
_LEAST_SHARE = 0.3
"""The minimum share of the question's term weights that a text must have to lead to its chunks."""
_KINDS: dict[str, tuple[int, str]] = {
    "entities": (
        2,
        """SELECT e.name || ' ' || coalesce(e.description, '') AS text, list(c.chunk_id) AS chunks
        FROM entities e JOIN entity_chunks c USING (entity_id) GROUP BY e.entity_id, text""",
    ),
    "relationships": (2, "SELECT description AS text, chunk_ids AS chunks FROM relationships"),
    "community_reports": (
        3,
        """SELECT text, list(DISTINCT chunk_id) AS chunks FROM (
            SELECT f.summary || ' ' || f.explanation AS text, unnest(f.sentence_ids) AS sentence_id
            FROM (SELECT unnest(findings) AS f FROM community_reports)) JOIN chunk_sentences USING (sentence_id)
        GROUP BY text""",
    ),
    "claims": (4, "SELECT coalesce(subject, '') || ' ' || statement AS text, [chunk_id] AS chunks FROM claims"),
}
_LIKE = """WITH told AS ({}), counted AS (SELECT text, chunks,
    len(list_filter($words::VARCHAR[], lambda word: contains(lower(text), word))) AS words FROM told)
SELECT text, chunks FROM counted WHERE words > 0 ORDER BY words DESC, text LIMIT $most"""


def leads_of(index: OpenIndex, question: Question, level: int) -> dict[int, tuple[float, int]]:
    """The rows of the source chunks of texts of levels 2 up to `level`, with the largest share (0 to 1) of the
    question's terms in such a text, and its level. Empty if the snapshot has none of them."""
    cursor = index.snapshot.cursor()
    words = [word for word in question.weights if len(word) > 1]
    found: dict[str, tuple[float, int]] = {}
    for table, (of, told) in _KINDS.items():
        if of > level or not words or not has_tables(cursor, (table,)):
            continue
        rows = cursor.execute(_LIKE.format(told), {"words": words, "most": MOST}).fetchall()
        terms = index.keywords.terms([text for text, _ in rows])
        for (_, chunks), own in zip(rows, terms, strict=True):
            share = question.share(set(own))
            if share >= _LEAST_SHARE:
                found |= {chunk: max(found.get(chunk, (0.0, 0)), (share, of)) for chunk in chunks}
    return {row: found[chunk] for chunk, row in index.corpus.chunk_ids.rows_of(found).items()}
