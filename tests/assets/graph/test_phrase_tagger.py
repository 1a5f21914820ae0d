"""The phrase tagger: the parser's phrases on papers it did not learn from, the same in any batch and process."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from monjyu_assets.levels.phrases import tagged_phrases as tagged
from monjyu_assets.levels.phrases.cleaning import clean, windows
from monjyu_assets.levels.phrases.english_phrases import english_phrases, parser
from monjyu_assets.levels.phrases.paper_phrases import ChunkText, paper_mentions
from monjyu_assets.levels.phrases.tagged_phrases import Plurals, TokenTable, tagged_phrases
from monjyu_core.errors import ConfigurationError
from monjyu_core.text.sentences import split_sentences
from tests.conftest import CORPORA, needs_corpora

WINDOWS = [
    "Students at the University of Michigan measured neural networks, decision trees and β-amyloid plaques.",
    "It was shown that large language models (GPT-4o) don't fail in 12.5% of the cases.",
    "Seminars (“open-source software”) were held in 2019, e.g. at 3 p.m. (Unit 8) by Ph.D. students.",
    "Mice",
    "We compared the U.S. criteria, children’s analyses and matrices; see plot(x) and C++ code, too.",
    "and or the of",
]


def test_it_finds_phrases_and_their_heads() -> None:
    found = [{key for key, _ in phrases} for phrases in tagged_phrases(WINDOWS)]
    assert {"student", "university of michigan", "neural network", "decision tree", "β-amyloid plaque"} <= found[0]
    assert "large language model" in found[1]
    assert found[3] == {"mouse"}
    assert "matrix" in found[4]
    assert found[5] == set()


@pytest.mark.parametrize("batch", [1, 2, 5, 64])
def test_any_batch_gives_the_same_phrases(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text[cut:] for text in WINDOWS for cut in (0, text.find(" ") + 1)] * 20
    expected = tagged_phrases(texts)
    monkeypatch.setattr(tagged, "BATCH", batch)
    assert tagged_phrases(texts) == expected
    assert [phrases for text in texts for phrases in tagged_phrases([text])] == expected


def test_any_process_gives_the_same_phrases() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(tagged_phrases, WINDOWS).result() == tagged_phrases(WINDOWS)


def test_a_table_that_starts_again_gives_the_same_phrases(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = tagged_phrases(WINDOWS)
    monkeypatch.setattr(tagged, "MOST_PIECES", 20)
    monkeypatch.setattr(tagged, "MOST_FORMS", 3)
    assert [phrases for text in WINDOWS for phrases in tagged_phrases([text])] == expected
    assert len(tagged.tagger().table._pieces) < 40


def test_tokens_and_vectors_are_those_of_the_english_model() -> None:
    pipeline = parser()[0]
    table = TokenTable(pipeline)
    table.meet(WINDOWS)
    embedding = pipeline.get_pipe("tok2vec").model.layers[0]  # type: ignore[attr-defined]
    for text in WINDOWS:
        doc, tokens = pipeline.make_doc(text), table.read([text])
        spans = zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)
        assert [text[start:end] for start, end in spans][:-1] == [token.text for token in doc]
        # The last token of a window has a space after it here.
        expected = embedding.predict([doc])[0]
        assert np.allclose(table.vectors[tokens.rows][:-2], expected[:-1], atol=1e-5)


def test_singulars_are_the_lemmatizers() -> None:
    from spacy.tokens import Doc

    pipeline, lemmatizer = parser()
    plurals = Plurals(lemmatizer.lookups)
    words = ["mice", "analyses", "Indices", "data", "criteria", "axes", "LLMs", "ies", "s", "CO2s", "zxqs", "men"]
    for word in words:
        [lemma, *_] = lemmatizer.lemmatize(Doc(pipeline.vocab, words=[word], tags=["NNS"], pos=["NOUN"])[0])
        assert plurals.singular(word) == lemma, word


def test_acronyms_and_citations_are_treated_as_with_the_parser() -> None:
    sentences = (
        "Large language models (LLMs) answer as Smith et al. (2019) found.",
        "The LLM fails where other LLMs (Jones, 2020) agree [3, 4-6].",
    )
    found = {mention.phrase for mention in paper_mentions([ChunkText("c", sentences)], "tagger")}
    assert "large language model" in found
    assert not any(word in phrase for phrase in found for word in ("llm", "smith", "jones"))


def test_a_phrase_that_begins_ends() -> None:
    out, begin, inside, only, last = np.eye(7)[[tagged.OUT, tagged.BEGIN, tagged.INSIDE, tagged.ONLY, tagged.LAST]]
    scores = np.stack([begin, out + 0.9 * last, out, inside, only, out]).astype(np.float32)
    gaps = np.array([False] * 5 + [True])
    first, final, plural = tagged.spans(scores, gaps)
    assert first.tolist() == [0, 4] and final.tolist() == [1, 4] and not plural.any()


def test_damaged_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "phrase_tagger.npz"
    damaged.write_bytes(tagged.WEIGHTS.read_bytes()[:-1] + b"x")
    monkeypatch.setattr(tagged, "WEIGHTS", damaged)
    with pytest.raises(ConfigurationError, match="damaged"):
        tagged.tagger.__wrapped__()


@needs_corpora
def test_it_agrees_with_the_parser_on_papers_it_did_not_learn_from() -> None:
    texts = []
    for path in sorted((CORPORA / "layouts" / "body").glob("*.json"))[:4]:
        for section in json.loads(path.read_text(encoding="utf-8"))["sections"]:
            text = section.get("text", "")
            texts += [window for start, end in split_sentences(text) for window in windows(clean(text[start:end]))]
    both = ours = theirs = 0
    for found, expected in zip(map(Counter, tagged_phrases(texts)), map(Counter, english_phrases(texts)), strict=True):
        both, ours, theirs = both + (found & expected).total(), ours + found.total(), theirs + expected.total()
    assert theirs > 1500
    assert 2 * both / (ours + theirs) > 0.915
