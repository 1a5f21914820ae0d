"""What speaks for a paper before it is read: citations in the collection, works shared with the best hits, its year.

All weights are 0 unless set: measured, none of them helps (docs/benchmarks.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monjyu_core.settings.search import PriorSettings
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.ranking.corpus import Corpus
from monjyu_query.ranking.fusion import Mask, Scores

BEST = 10
"""Passages whose papers count as hits."""

_WORKS = """
SELECT DISTINCT citing_id AS paper_id, cited_id AS work FROM citation_edges
UNION SELECT DISTINCT i.canonical_id, u.work_id FROM unresolved_references u JOIN paper_identity i USING (paper_id)
"""
_CITED = "SELECT cited_id, count(DISTINCT citing_id) FROM citation_edges GROUP BY cited_id"
_COUPLED = f"""
WITH works AS ({_WORKS}), sizes AS (SELECT paper_id, count(*) AS n FROM works GROUP BY paper_id)
SELECT a.paper_id, b.paper_id, count(*) / sqrt(any_value(x.n) * any_value(y.n))
FROM works a JOIN works b USING (work) JOIN sizes x ON x.paper_id = a.paper_id JOIN sizes y ON y.paper_id = b.paper_id
WHERE a.paper_id <> b.paper_id GROUP BY ALL
"""
_EDGES = """
SELECT citing_id, cited_id, 1.0 FROM citation_edges UNION SELECT cited_id, citing_id, 1.0 FROM citation_edges"""


@dataclass(frozen=True)
class PaperPrior:
    """For m papers: `cited` (m,) the logarithm of how often others here cite it, `recent` (m,) its year, both with mean
    0 and deviation 1; `pairs` (p, 2) of papers that are coupled, `strength` (p,) from 0 to 1: the cosine of their
    references (Kessler 1963, "Bibliographic coupling between scientific papers", normalised), 1 where one cites the
    other."""

    cited: NDArray[np.float32]
    recent: NDArray[np.float32]
    pairs: NDArray[np.intp]
    strength: NDArray[np.float32]

    def weighted(self, scores: Scores, corpus: Corpus, passing: Mask, weights: PriorSettings) -> Scores:
        """Scores (n,) in deviations, with what the weights say of each chunk's paper added."""
        found = weights.cited * self.cited + weights.recent * self.recent
        if weights.coupled and len(self.pairs):
            found = found + weights.coupled * self._coupled(scores, corpus, passing)
        return np.where(passing, scores + found[corpus.paper], scores).astype(np.float32)

    def _coupled(self, scores: Scores, corpus: Corpus, passing: Mask) -> NDArray[np.float32]:
        """How closely each paper (m,) is coupled with the papers of the best passages, itself left out."""
        ranked = np.where(passing, scores, -np.inf)
        best = np.argsort(-ranked, kind="stable")[:BEST]
        hit = np.zeros(len(corpus.paper_ids), np.bool_)
        hit[corpus.paper[best[ranked[best] > -np.inf]]] = True
        held = np.zeros(len(corpus.paper_ids), np.float32)
        of_hits = hit[self.pairs[:, 1]]
        np.add.at(held, self.pairs[of_hits, 0], self.strength[of_hits])
        return (held / max(int(hit.sum()), 1)).astype(np.float32)


def read_prior(snapshot: Snapshot, corpus: Corpus) -> PaperPrior:
    """What a snapshot's citation network and years say of the corpus's papers; a file stands as its paper."""
    cursor = snapshot.cursor()
    canonical = dict(cursor.execute("SELECT paper_id, canonical_id FROM paper_identity").fetchall())
    files: dict[str, list[int]] = {}
    for place, paper_id in enumerate(corpus.paper_ids):
        files.setdefault(canonical.get(paper_id, paper_id), []).append(place)
    cited = np.zeros(len(corpus.paper_ids))
    for paper_id, count in cursor.execute(_CITED).fetchall():
        cited[files.get(paper_id, [])] = np.log1p(count)
    years = dict(cursor.execute("SELECT paper_id, year FROM papers WHERE year IS NOT NULL").fetchall())
    recent = np.array([years.get(paper_id, np.nan) for paper_id in corpus.paper_ids], np.float64)
    coupled = {(a, b): strength for query in (_COUPLED, _EDGES) for a, b, strength in cursor.execute(query).fetchall()}
    pairs = [
        (one, other, strength)
        for (a, b), strength in coupled.items()
        for one in files.get(a, ())
        for other in files.get(b, ())
    ]
    return PaperPrior(
        _standard(cited),
        _standard(recent),
        np.array([pair[:2] for pair in pairs], np.intp).reshape(-1, 2),
        np.array([pair[2] for pair in pairs], np.float32),
    )


def _standard(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """With mean 0 and deviation 1; 0 where a value is not known, or all are the same."""
    known = values[~np.isnan(values)]
    spread = float(known.std()) if known.size else 0.0
    scaled = (values - known.mean()) / spread if spread > 0 else np.zeros(len(values))
    return np.nan_to_num(scaled).astype(np.float32)
