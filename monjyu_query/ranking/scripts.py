"""Collections in two scripts: a question also finds answers in the other script.

Neither ranker compares texts across scripts: a text in another script does not contain the question's words, and models
prefer a text in the question's language to a better one in another. So the fused ranking orders the chunks within each
script, and the similarity alone, shifted to the same mean in each script, merges the two: scores are normalised per
language before they are merged, as in Savoy 2004, "Combining multiple strategies for effective monolingual and
cross-language retrieval".
"""

from collections.abc import Set

import numpy as np
from numpy.typing import NDArray

from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.text.language import SAME_SCRIPT, question_language
from monjyu_core.text.search_text import count_wide
from monjyu_query.ranking.corpus import Corpus
from monjyu_query.ranking.fusion import Mask, Scores

LATIN_MODELS = frozenset({"all-MiniLM-L6-v2"})
"""Models that are trained almost only on Latin letters."""
_LATIN_GREEK = "\u0400"
"""Letters before this one belong to scripts that such a model has seen: Greek occurs in formulas."""


_WIDE_SHARE = 5
"""A text counts as Chinese, Japanese or Korean if more than one in `_WIDE_SHARE` of its characters is of these
scripts."""
FEWEST = 10
"""The minimum number of chunks of a script for a meaningful mean."""

_WIDE_CHUNKS = r"""SELECT chunk_id FROM chunks JOIN papers USING (paper_id) WHERE language IN ('ja', 'ko', 'zh') AND
5 * len(regexp_extract_all(chunks.text, '[\x{3041}-\x{30ff}\x{3400}-\x{9fff}\x{ac00}-\x{d7a3}]')) > length(chunks.text)
"""


def unread(query: str, model: str) -> bool:
    """Whether the model does not read the script of the question, so that its similarities say nothing."""
    letters = [letter for letter in query if letter.isalpha()]
    return model in LATIN_MODELS and 2 * sum(letter >= _LATIN_GREEK for letter in letters) > len(letters)


def foreign(query: str, languages: Set[str]) -> bool:
    """Whether the question is in none of the papers' `languages` (ISO 639-1)."""
    asked = question_language(query)
    return asked is not None and not languages & SAME_SCRIPT.get(asked, {asked})


def across(query: str, model: str, languages: Set[str]) -> bool:
    """Whether the question is in none of the papers' `languages` and the model does not compare any."""
    return model in LATIN_MODELS and foreign(query, languages)


def is_wide(text: str) -> bool:
    """Whether a text is in Chinese, Japanese or Korean: more than a fifth of its characters are."""
    return _WIDE_SHARE * count_wide(text) > len(text)


def wide_chunks(snapshot: Snapshot, corpus: Corpus) -> Mask:
    """Mask (n,) of the chunks of CJK papers with more than a fifth of their characters in these scripts."""
    wide = np.zeros(len(corpus), np.bool_)
    found = [row[0] for row in snapshot.cursor().execute(_WIDE_CHUNKS).fetchall()]
    wide[list(corpus.chunk_ids.rows_of(found).values())] = True
    return wide


def levelled(similarity: Scores, wide: Mask, passing: Mask) -> Scores:
    """The similarities with both scripts shifted to their common mean; unchanged if one has few chunks."""
    groups = _groups(wide, passing)
    if not groups:
        return similarity
    result = similarity.copy()
    middle = similarity[passing].mean(dtype=np.float64)
    for group in groups:
        result[group] += np.float32(middle - similarity[group].mean(dtype=np.float64))
    return result


def levels(similarity: Scores, wide: Mask) -> NDArray[np.float32]:
    """The shift of each script's similarities, other (0) and wide (1), to their common mean; 0 if a script has few."""
    shifts = np.zeros(2, np.float32)
    for place, group in enumerate((~wide, wide) if _groups(wide, np.ones(len(wide), np.bool_)) else ()):
        shifts[place] = similarity.mean(dtype=np.float64) - similarity[group].mean(dtype=np.float64)
    return shifts


def merged(scores: Scores, similarity: Scores, wide: Mask, passing: Mask) -> Scores:
    """The order of `scores` within each script, merged by the levelled `similarity`: the best chunk of a script gets
    the highest similarity in it, and so on. Unchanged if a script has few."""
    result = scores.copy()
    for group in _groups(wide, passing):
        rows = np.flatnonzero(group)
        best_first = rows[np.argsort(-scores[rows], kind="stable")]
        result[best_first] = np.sort(similarity[rows])[::-1]
    return result


def _groups(wide: Mask, passing: Mask) -> list[Mask]:
    groups = [passing & wide, passing & ~wide]
    return groups if min(np.count_nonzero(group) for group in groups) >= FEWEST else []
