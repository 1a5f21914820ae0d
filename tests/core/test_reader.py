"""The reader: known scores, the same in any batch, passages in parts, and only from the known file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from monjyu_core.errors import ConfigurationError
from monjyu_core.reader import Reader, load_reader, trained_weights
from monjyu_core.reader.passage_reader import MOST_PIECES, rows_of
from monjyu_core.settings.settings import EmbeddingSettings

QUESTION_TEXT = "What is the main cause of HIV-1 infection in children?"
ANSWERING = [
    "Globally, 2.3 million children are infected.",
    "Mother-to-child transmission (MTCT) is the main cause of HIV-1 infection in children worldwide.",
    "Given that the receptor is expressed on placental cells, it is of interest.",
]
SILENT = ["We measured the body weight of mice.", "The mice were fed twice a day."]
LONG = [f"In year {number} the number of infected children in the cohort was {number % 7}." for number in range(20)]


@pytest.fixture(scope="module")
def reader() -> Reader:
    return load_reader("all-MiniLM-L6-v2", EmbeddingSettings(precision="f32"))


def test_the_answering_sentence_and_passage_are_found(reader: Reader) -> None:
    answering, silent = reader.read(QUESTION_TEXT, [ANSWERING, SILENT])
    assert answering.sentence_scores.argmax() == 1
    assert answering.sentence_scores[1] > 10 * max(
        answering.sentence_scores[[0, 2]].max(), silent.sentence_scores.max()
    )
    assert answering.answered > 0.5 > 0.05 > silent.answered


def test_scores_are_the_known_ones(reader: Reader) -> None:
    """Golden: of the shipped weights, to what engines and processors may differ by."""
    answering, silent = reader.read(QUESTION_TEXT, [ANSWERING, SILENT])
    found = [*answering.sentence_scores, answering.answered, *silent.sentence_scores, silent.answered]
    assert found == pytest.approx([0.0146, 0.6454, 0.0198, 0.8504, 0.0006, 0.0005, 0.0002], abs=0.005)


def test_scores_do_not_depend_on_the_batch(reader: Reader) -> None:
    passages = [ANSWERING, SILENT, LONG, ANSWERING[:1], [], [""]]
    together = reader.read(QUESTION_TEXT, passages)
    with ThreadPoolExecutor(3) as pool:
        alone = list(pool.map(lambda passage: reader.read(QUESTION_TEXT, [passage])[0], passages))
    for one, other in zip(together, alone, strict=True):
        assert one.answered == other.answered
        np.testing.assert_array_equal(one.sentence_scores, other.sentence_scores)


def test_what_holds_no_text_answers_nothing(reader: Reader) -> None:
    nothing, blank, mixed = reader.read(QUESTION_TEXT, [[], ["", " "], ["", ANSWERING[1]]])
    assert (nothing.sentence_scores.shape, nothing.answered) == ((0,), 0.0)
    assert (blank.sentence_scores.tolist(), blank.answered) == ([0.0, 0.0], 0.0)
    assert mixed.sentence_scores[0] == 0.0 < mixed.sentence_scores[1]
    assert reader.read("", [ANSWERING])[0].sentence_scores.shape == (3,)


def test_a_long_passage_is_read_in_parts(reader: Reader) -> None:
    """The answer is found wherever it is, and every sentence has a score."""
    for place in (0, 20):
        passage = [*LONG[:place], ANSWERING[1], *LONG[place:]]
        (reading,) = reader.read(QUESTION_TEXT, [passage])
        assert reading.sentence_scores.shape == (21,)
        assert reading.sentence_scores.argmax() == place
        assert (reading.sentence_scores > 0).all()


def test_rows_hold_whole_sentences_and_are_never_too_long() -> None:
    sentences = [[7] * length for length in (40, 90, 0, 120, 3, 400, 5)]
    rows = list(rows_of([5] * 80, [6] * 50, sentences, (1, 2)))
    assert all(len(row.ids) == len(row.kinds) <= MOST_PIECES for row in rows)
    assert sum(len(row.starts) - 1 for row in rows) == len(sentences)
    assert [row.first for row in rows] == sorted({row.first for row in rows})
    for row in rows:
        room = MOST_PIECES - 1 - row.starts[0]
        lengths = [min(len(one), room) for one in sentences[row.first : row.first + len(row.starts) - 1]]
        assert np.diff(row.starts).tolist() == lengths


def test_headers_are_read_but_not_scored(reader: Reader) -> None:
    plain, headed = reader.read(QUESTION_TEXT, [SILENT, SILENT], ["", "Mother-to-child transmission of HIV-1"])
    assert plain.sentence_scores.shape == headed.sentence_scores.shape
    assert plain.answered != headed.answered


def test_only_the_known_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = trained_weights.FILES["all-MiniLM-L6-v2"].name
    data = bytearray((trained_weights.FOLDER / name).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / name).write_bytes(data)
    monkeypatch.setattr(trained_weights, "FOLDER", tmp_path)
    with pytest.raises(ConfigurationError, match=r"damaged.*Install Monjyu again"):
        trained_weights.read_heads("all-MiniLM-L6-v2")
    (tmp_path / name).unlink()
    with pytest.raises(ConfigurationError, match=r"cannot be read"):
        trained_weights.read_heads("all-MiniLM-L6-v2")


def test_the_fingerprint_names_the_weights_and_loads_nothing() -> None:
    reader = load_reader("all-MiniLM-L6-v2", EmbeddingSettings())
    assert trained_weights.FILES["all-MiniLM-L6-v2"].sha256 in reader.fingerprint
    assert load_reader("all-MiniLM-L6-v2", EmbeddingSettings()) is reader
