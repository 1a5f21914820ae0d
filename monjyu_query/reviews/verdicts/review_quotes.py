"""Quotes of one paper for the criteria: which sentences show best what is so, looked up in their source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monjyu_core.reviews.review_state import Quote
from monjyu_query.answers.citing import cite_windows
from monjyu_query.answers.quote_windows import lone
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.asking.result import Citation
from monjyu_query.digests.paper_text import PaperText, question_of
from monjyu_query.ranking.open_index import OpenIndex


class Quoting:
    """The sentences of one paper over one snapshot."""

    def __init__(self, index: OpenIndex, paper: PaperText) -> None:
        self._index = index
        self.paper = paper

    def best(self, places: Iterable[int], words: str) -> list[int]:
        """Those that can stand alone first, then those that share most with the words and the paper's own gist."""
        asked = question_of(self._index, words)
        stand, terms = frozenset(self.paper.standing), self.paper.terms
        worth = {
            place: (place in stand, asked.share(terms[place]) + 0.5 * self.paper.central.get(place, 0.0))
            for place in places
        }
        return sorted(worth, key=lambda place: (*(-value for value in worth[place]), place))

    def quotes(self, places: Sequence[int]) -> list[Quote]:
        return self.quoted([self.paper.sentences[place] for place in dict.fromkeys(places)])

    def quoted(self, sentences: Iterable[PassageSentence]) -> list[Quote]:
        """As they stand in the source; one that does not is left out."""
        windows = [lone(sentence) for sentence in sentences]
        return [as_quote(citation) for _, citation in cite_windows(self._index.snapshot.cursor(), windows)]


def as_quote(citation: Citation) -> Quote:
    return Quote(
        paper_id=citation.paper_id,
        sentence_ids=citation.sentence_ids,
        quote=citation.quote,
        page=citation.page,
        boxes=citation.boxes,
        spans=citation.spans,
    )
