"""Chunks: within size and window, in order, overlapping, and no text lost, whatever strategy groups the sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from monjyu_assets.chunking import (
    STRATEGIES,
    Chunk,
    ChunkSizes,
    Measure,
    Piece,
    SectionText,
    chunk_section,
    header_for,
    unique_ids,
)
from monjyu_core.settings.settings import ChunkStrategy
from tests.properties import examples, given, st

WORD = st.text(alphabet="abcdeé漢、", min_size=1, max_size=30)
SENTENCE = st.lists(WORD, min_size=1, max_size=40).map(" ".join)
GAP = st.sampled_from([" ", "\n\n", ""])


def count(texts: Sequence[str]) -> list[int]:
    """A word costs one token for every four characters begun."""
    return [sum(-(-len(word) // 4) for word in text.split()) for text in texts]


def section_of(sentences: list[str], gaps: list[str], topics: set[int] | None = None) -> SectionText:
    """A section of these sentences; `topics` are the numbers of those that begin a topic."""
    text, pieces = "", []
    for number, sentence in enumerate(sentences):
        text += gaps[number % len(gaps)] if text else ""
        pieces.append(Piece(f"s{number}", len(text), len(text) + len(sentence)))
        text += sentence
    return SectionText(
        "Title > Part", text, tuple(pieces), frozenset(pieces[n].start for n in topics or () if n < len(pieces))
    )


def chunks_of(section: SectionText, sizes: ChunkSizes, strategy: ChunkStrategy = "section") -> list[Chunk]:
    return chunk_section("p", section, sizes, Measure(count, count), STRATEGIES[strategy])


def texts(
    strategy: ChunkStrategy, section: SectionText, size: int = 100, overlap: int = 0, most: int = 1, least: int = 0
) -> list[str]:
    return [chunk.text for chunk in chunks_of(section, ChunkSizes(size, overlap, 200, most, least), strategy)]


@examples(200)
@given(
    st.sampled_from(sorted(STRATEGIES)),
    st.lists(SENTENCE, min_size=1, max_size=12),
    st.lists(GAP, min_size=1, max_size=4),
    st.sets(st.integers(0, 11)),
    st.tuples(st.integers(8, 60), st.integers(0, 7), st.integers(0, 20), st.integers(1, 4), st.integers(0, 30)),
)
def test_every_chunk_fits_and_no_text_is_lost(
    strategy: ChunkStrategy, sentences: list[str], gaps: list[str], topics: set[int], numbers: tuple[int, ...]
) -> None:
    size, overlap, more, most, least = numbers
    sizes = ChunkSizes(size, overlap, size + more, most, least)
    section = section_of(sentences, gaps, topics)
    chunks = chunks_of(section, sizes, strategy)
    by_id = {piece.sentence_id: piece for piece in section.sentences}
    covered: set[int] = set()
    for chunk in chunks:
        assert chunk.text == section.text[chunk.start : chunk.end] == chunk.text.strip()
        assert chunk.tokens <= size + len(chunk.sentences), "words that touch may share a token, and part again"
        assert chunk.pieces <= sizes.window
        assert (chunk.sentences[0].start, chunk.sentences[-1].end) == (chunk.start, chunk.end)
        assert all(before.end <= after.start for before, after in pairwise(chunk.sentences))
        for piece in chunk.sentences:
            whole = by_id[piece.sentence_id]
            assert whole.start <= piece.start < piece.end <= whole.end
            covered.update(range(piece.start, piece.end))
    assert all(before.end < after.end and before.start < after.start for before, after in pairwise(chunks))
    assert not "".join(c for place, c in enumerate(section.text) if place not in covered).strip()
    ids = unique_ids(chunks)
    assert len(set(ids)) == len(chunks)
    assert ids == unique_ids(chunks_of(section, sizes, strategy))


@examples(50)
@given(
    st.sampled_from([name for name in sorted(STRATEGIES) if name != "fixed"]),
    st.lists(st.text("ab ", min_size=3, max_size=12).filter(str.strip).map(str.strip), min_size=2, max_size=20),
    st.integers(0, 6),
)
def test_chunks_advance_and_overlap_by_whole_sentences(
    strategy: ChunkStrategy, sentences: list[str], least: int
) -> None:
    chunks = chunks_of(section_of(sentences, [" ", "\n\n"], {4, 9}), ChunkSizes(12, 5, 30, 3, least), strategy)
    for before, after in pairwise(chunks):
        assert after.sentences[-1].start > before.sentences[-1].start
        shared = [piece for piece in before.sentences if piece in after.sentences]
        assert shared == list(after.sentences[: len(shared)])


def test_a_sentence_longer_than_a_chunk_is_split_at_words() -> None:
    section = section_of([" ".join(["word"] * 100)], [" "])
    chunks = chunks_of(section, ChunkSizes(20, 0, 40))
    assert len(chunks) > 4
    assert all(set(chunk.text.split()) == {"word"} for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks).replace(" ", "") == section.text.replace(" ", "")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_text_without_spaces_is_split_too(strategy: ChunkStrategy) -> None:
    chunks = chunks_of(section_of(["漢" * 400], [" "]), ChunkSizes(20, 0, 40), strategy)
    assert sum(len(chunk.text) for chunk in chunks) == 400


ABC = ["a a a.", "b b b.", "c c c.", "d d d."]


def test_fixed_windows_are_full_and_may_cut_a_sentence() -> None:
    section = section_of(ABC, [" "])
    assert texts("fixed", section, size=8) == ["a a a. b b b. c c", "c. d d d."]
    chunks = chunks_of(section, ChunkSizes(8, 0, 50), "fixed")
    assert [piece.sentence_id for piece in chunks[1].sentences] == ["s2", "s3"]


def test_fixed_windows_overlap_from_the_start_of_a_sentence_where_one_lies_within_the_overlap() -> None:
    section = section_of(ABC, [" "])
    assert texts("fixed", section, size=8, overlap=3) == ["a a a. b b b. c c", "c c c. d d d."]
    assert texts("fixed", section, size=8, overlap=1) == ["a a a. b b b. c c", "c c. d d d."]


def test_sentences_stand_alone_or_in_threes() -> None:
    section = section_of(ABC, [" "])
    assert texts("sentence", section, overlap=50) == ABC
    assert texts("sentence", section, most=3) == ["a a a. b b b. c c c.", "d d d."]
    assert texts("sentence", section, overlap=3, most=3) == ["a a a. b b b. c c c.", "c c c. d d d."]
    assert texts("sentence", section, size=2) == ["a a", "a.", "b b", "b.", "c c", "c.", "d d", "d."]


def test_paragraphs_are_merged_up_to_the_size_and_cut_only_beyond_it() -> None:
    section = section_of(ABC, ["\n\n", " ", "\n\n", " "])  # a b / c d, by the gap in front of each
    assert section.text == "a a a. b b b.\n\nc c c. d d d."
    assert texts("paragraph", section) == [section.text]
    assert texts("paragraph", section, size=9, overlap=3) == ["a a a. b b b.", "c c c. d d d."]
    assert texts("paragraph", section, size=5) == ABC


def test_a_semantic_chunk_ends_where_the_topic_does() -> None:
    section = section_of(ABC, [" "], topics={1})
    assert texts("semantic", section, overlap=50) == ["a a a.", "b b b. c c c. d d d."]
    assert texts("semantic", section, size=6) == ["a a a.", "b b b. c c c.", "d d d."]


def test_small_chunks_join_their_neighbours() -> None:
    section = section_of(["a a a a a a.", "b b b.", "c c c c c c.", "None."], [" "], topics={1, 2, 3})
    assert texts("semantic", section) == ["a a a a a a.", "b b b.", "c c c c c c.", "None."]
    assert texts("semantic", section, least=4) == ["a a a a a a.", "b b b. c c c c c c. None."]
    assert texts("semantic", section, size=8, least=3) == ["a a a a a a.", "b b b.", "c c c c c c. None."]
    assert texts("section", section, size=15, least=4) == ["a a a a a a. b b b. c c c c c c.", "c c c c c c. None."]
    assert texts("sentence", section, least=4) == texts("sentence", section)


def test_a_small_chunk_stays_where_nothing_has_room() -> None:
    section = section_of(["a a a a a a.", "b.", "c c c c c c."], [" "], topics={1, 2})
    assert texts("semantic", section, size=6, least=3) == ["a a a a a a.", "b.", "c c c c c c."]
    assert texts("section", section_of(["None."], [" "]), least=30) == ["None."]


def test_the_header_is_cut_to_its_share_and_never_doubled() -> None:
    assert header_for("A title", "Methods", count, 50) == "A title > Methods"
    assert header_for("A title", "A title", count, 50) == "A title"
    assert header_for("", "Methods", count, 50) == "Methods"
    assert count([header_for("word " * 200, "Methods", count, 20)])[0] <= 20
