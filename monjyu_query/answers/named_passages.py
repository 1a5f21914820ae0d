"""Adds further passages and the acknowledgments of the paper that a question names to the retrieved passages."""

import re
from collections.abc import Sequence

from monjyu_core.language.packs import also
from monjyu_query.asking.passages import Passage, PassageSentence, load_passages, load_sentences
from monjyu_query.ranking.open_index import OpenIndex

_MOST = 40
"""The maximum number of passages, from the paper's beginning, and of sentences of its acknowledgments to add."""
_ASKS_WHO = re.compile(
    r"\b(?:who(?:m|se)?|fund\w*|grants?|sponsor\w*|financ\w*|paid|pays?|support(?:ed|s)? by|acknowledg\w*|thank\w*"
    r"|contribut\w*|affiliat\w*|compet\w* interests?|conflicts? of)\b" + also("named_passages.asks_who"),
    re.IGNORECASE,
)
"""Matches questions about people or funding. Other questions match acknowledgments only by chance, as by a name."""
_THANKS = """SELECT s.sentence_id, s.section_ord, s.ord, s.start, s."end", s.text, s.spans FROM sentences s
JOIN sections t USING (paper_id, section_ord) WHERE s.paper_id = ? AND t.section_type = 'acknowledgments'
ORDER BY s.section_ord, s.ord LIMIT ?"""
_CHUNKS = "SELECT chunk_id FROM chunks WHERE paper_id = ? ORDER BY ord"


def with_named(
    index: OpenIndex, paper_id: str, passages: Sequence[Passage], sentences: Sequence[PassageSentence]
) -> tuple[Sequence[Passage], Sequence[PassageSentence]]:
    """The passages and sentences, together with up to 40 further passages of the paper and their sentences; unchanged
    if `paper_id` is "" or no passage of the paper was retrieved."""
    if all(passage.paper_id != paper_id for passage in passages):
        return passages, sentences
    known, read = {passage.chunk_id for passage in passages}, {sentence.sentence_id for sentence in sentences}
    cursor = index.snapshot.cursor_of([paper_id])
    names = [name for (name,) in cursor.execute(_CHUNKS, [paper_id]).fetchall() if name not in known][:_MOST]
    more = load_passages(cursor, names)
    added = [sentence for sentence in load_sentences(cursor, more) if sentence.sentence_id not in read]
    return [*passages, *more], [*sentences, *added]


def with_thanks(
    index: OpenIndex, query: str, paper_id: str, passages: Sequence[Passage], sentences: Sequence[PassageSentence]
) -> Sequence[PassageSentence]:
    """The sentences; for a question about people or funding, together with up to 40 of the paper's acknowledgments.
    Acknowledgments are in no passage, so they are assigned to the paper's first one in `passages`."""
    own = next((one for one in passages if one.paper_id == paper_id), None) if _ASKS_WHO.search(query) else None
    if own is None:
        return sentences
    rows = index.snapshot.cursor_of([own.paper_id]).execute(_THANKS, [own.paper_id, _MOST]).fetchall()
    known = {sentence.sentence_id for sentence in sentences}
    return [*sentences, *(PassageSentence.of(own, row) for row in rows if row[0] not in known)]
