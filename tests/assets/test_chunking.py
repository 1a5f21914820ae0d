"""Chunks: whole sentences, within size and window, overlapping, and no text lost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from monjyu_assets.chunking import Chunk, ChunkSizes, Piece, chunk_section, header_for, unique_ids

WORD = st.text(alphabet="abcdeé漢", min_size=1, max_size=30)
SENTENCE = st.lists(WORD, min_size=1, max_size=40).map(" ".join)


def count(texts: Sequence[str]) -> list[int]:
    """A word costs one token for every four characters begun."""
    return [sum(-(-len(word) // 4) for word in text.split()) for text in texts]


def chunks_of(sentences: list[str], sizes: ChunkSizes, header: str = "Title > Part") -> tuple[str, list[Chunk]]:
    text, pieces = "", []
    for number, sentence in enumerate(sentences):
        start = len(text) + (1 if text else 0)
        text = f"{text} {sentence}" if text else sentence
        pieces.append(Piece(f"s{number}", start, len(text)))
    return text, chunk_section("p", header, text, pieces, sizes, count, count)


@settings(max_examples=150, deadline=None)
@given(st.lists(SENTENCE, min_size=1, max_size=12), st.integers(8, 60), st.integers(0, 7))
def test_every_chunk_fits_and_no_text_is_lost(sentences: list[str], size: int, overlap: int) -> None:
    sizes = ChunkSizes(size, overlap, size + 10)
    text, chunks = chunks_of(sentences, sizes)
    covered = set()
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.pieces <= sizes.window
        assert chunk.tokens <= sizes.size
        covered.update(range(chunk.start, chunk.end))
    assert all(text[position].isspace() for position in set(range(len(text))) - covered)
    assert len(set(unique_ids(chunks))) == len(chunks)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab ", min_size=3, max_size=12).filter(str.strip).map(str.strip), min_size=2, max_size=20))
def test_chunks_advance_and_overlap_by_whole_sentences(sentences: list[str]) -> None:
    _, chunks = chunks_of(sentences, ChunkSizes(12, 5, 30))
    for before, after in pairwise(chunks):
        assert after.sentences[-1].start > before.sentences[-1].start
        shared = [piece for piece in before.sentences if piece in after.sentences]
        assert shared == list(after.sentences[: len(shared)])


def test_a_sentence_longer_than_a_chunk_is_split_at_words() -> None:
    text, chunks = chunks_of([" ".join(["word"] * 100)], ChunkSizes(20, 0, 40))
    assert len(chunks) > 4
    assert all(set(chunk.text.split()) == {"word"} for chunk in chunks)
    assert "".join(chunk.text for chunk in chunks).replace(" ", "") == text.replace(" ", "")


def test_a_text_without_spaces_is_split_too() -> None:
    _, chunks = chunks_of(["漢" * 400], ChunkSizes(20, 0, 40))
    assert sum(len(chunk.text) for chunk in chunks) == 400


def test_the_header_is_cut_to_its_share_and_never_doubled() -> None:
    assert header_for("A title", "Methods", count, 50) == "A title > Methods"
    assert header_for("A title", "A title", count, 50) == "A title"
    assert header_for("", "Methods", count, 50) == "Methods"
    assert count([header_for("word " * 200, "Methods", count, 20)])[0] <= 20
