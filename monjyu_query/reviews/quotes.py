"""Finds the sentences of a paper that best support a verdict on a criterion, and quotes them from the source."""

from collections.abc import Iterable, Sequence

from monjyu_core.records.reviews import Holds, Quote, Verdict
from monjyu_query.answers.citing import cite_windows, lone
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.asking.result import Citation
from monjyu_query.digests.comparison import searched
from monjyu_query.digests.draft import Asker
from monjyu_query.digests.paper_text import PaperText, question_of
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.protocol import Criterion


class Quoting:
    """Quotes sentences of one paper in one snapshot. `places` are positions of sentences in the paper."""

    def __init__(self, index: OpenIndex, paper: PaperText) -> None:
        self._index = index
        self.paper = paper

    def best(self, places: Iterable[int], words: str) -> list[int]:
        """Return `places` ranked: self-contained ones first, then by overlap with `words` and the paper's topic."""
        asked = question_of(self._index, words)
        self_contained, terms = frozenset(self.paper.standing), self.paper.terms

        def rank(place: int) -> tuple[bool, float, int]:
            score = asked.share(terms[place]) + 0.5 * self.paper.central.get(place, 0.0)
            return place not in self_contained, -score, place

        return sorted(set(places), key=rank)

    def quotes(self, places: Sequence[int]) -> list[Quote]:
        return self.quoted([self.paper.sentences[place] for place in dict.fromkeys(places)])

    def quoted(self, sentences: Iterable[PassageSentence]) -> list[Quote]:
        """Return the sentences as quotes from the source; those that it does not contain are omitted."""
        windows = [lone(sentence) for sentence in sentences]
        return [as_quote(citation) for _, citation in cite_windows(self._index.snapshot.cursor(), windows)]


def as_quote(citation: Citation) -> Quote:
    return Quote.model_validate(citation, from_attributes=True)


# A search in the paper for a criterion that no rule decides.
PASSAGES = 4
"""The number of passages of a paper to read for a criterion."""
_SHARE, _SURE = 0.5, 0.4
"""The minimum share of a criterion's term weights in a quote, as in the cells of a study table, and the minimum
probability of evidence according to the ranker. Of the 36 papers of jose, 13 had a sentence with that share for “the
course was taught to students”, of which 6 did not support it. With both limits 2 remained, and both supported it."""


def by_search(searcher: Asker, index: OpenIndex, criterion: Criterion, paper_id: str, *, excludes: bool) -> Verdict:
    """Judge an inclusion criterion as met if a sentence clearly supports it, and an exclusion criterion as not met if
    no sentence is close to it. Otherwise quote the nearest sentence for a person to judge. Similarity alone excludes no
    paper: a lost study is worse than one read twice."""
    asked = question_of(index, criterion.text)
    found = searched(searcher, index, paper_id, criterion.text, PASSAGES)
    quotes = [as_quote(citation) for citation in found[:1]]
    near = [one for one in found if asked.share(frozenset(index.keywords.terms([one.quote])[0])) >= _SHARE]
    sure = [one for one in near if (one.relevance or 0.0) >= _SURE]
    holds: Holds = "unclear"
    if sure and not excludes:
        holds, why, quotes = "yes", "a sentence says so", [as_quote(sure[0])]
    elif excludes and not near:
        holds, why, quotes = "no", "no sentence is close to it", []
    else:
        why = "a person decides by the nearest sentence" if quotes else "no sentence is close to it: a person decides"
    return Verdict(criterion=criterion.id, holds=holds, why=why, engine="search", quotes=quotes)
