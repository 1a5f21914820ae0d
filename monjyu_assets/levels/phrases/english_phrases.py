"""Extracts noun phrases with spaCy's parser: base noun phrases, trimmed, with lemmatised heads.

The phrases come from the parser without NER (in graphrag, which runs it, author initials become the largest hubs). Only
heads are lemmatised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from monjyu_assets.levels.phrases.words import LEADING, MAX_WORDS, named_phrase, singular_acronym
from monjyu_core.embedding.local.packaged import load_model

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token


BATCH = 64
"""The number of windows per batch of the parser. A larger batch is slower and takes twice the memory."""

Phrase = tuple[str, str]
"""(key, surface)"""

_NO_START = frozenset(
    {"DET", "PRON", "NUM", "PUNCT", "SYM", "CCONJ", "SCONJ", "ADP", "PART", "ADV", "SPACE", "X", "AUX"}
)
_NO_END = frozenset({"PUNCT", "SYM", "SPACE", "CCONJ", "ADP", "PART", "DET"})
_BRACKETS = frozenset("()[]{}")
_HEADS = frozenset({"NOUN", "PROPN", "ADJ", "VERB", "X", "NUM"})


@lru_cache(maxsize=1)
def parser() -> tuple[Language, Any]:
    """The pipeline of tagger, parser and NER, and its lemmatizer, which runs on heads and verbs only."""
    pipeline = load_model()
    lemmatizer = pipeline.get_pipe("lemmatizer")
    pipeline.disable_pipe("lemmatizer")
    return pipeline, lemmatizer


def english_phrases(windows: Sequence[str]) -> list[list[Phrase]]:
    """The phrases of each window, in order. They do not depend on other windows."""
    pipeline, lemmatizer = parser()
    with pipeline.memory_zone():  # the vocabulary would grow with every word of a collection
        return [list(_phrases(doc, lemmatizer)) for doc in pipeline.pipe(windows, batch_size=BATCH, disable=["ner"])]


def _phrases(doc: Doc, lemmatizer: Any) -> Iterator[Phrase]:
    text = doc.text  # spaCy builds it at every call
    for span in names_joined(doc):
        phrase = phrase_of(span, text, lemmatizer)
        if phrase is not None:
            yield phrase


def names_joined(doc: Doc) -> Iterator[Span]:
    """The noun chunks of a document. A name is joined with the name after "of", as in "University of Michigan"."""
    held: Span | None = None
    for span in doc.noun_chunks:
        if held is None:
            held = span
        elif span.start == held.end + 1 and doc[held.end].lower_ == "of" and _is_name(held) and _is_name(span):
            yield doc[held.start : span.end]
            held = None
        else:
            yield held
            held = span
    if held is not None:
        yield held


def _is_name(span: Span) -> bool:
    return all(token.pos_ == "PROPN" or (token.i == span.start and token.pos_ == "DET") for token in span)


def phrase_of(span: Span, text: str, lemmatizer: Any) -> Phrase | None:
    """The trimmed phrase of a noun chunk, with a lemmatised head in its key; None if it names nothing."""
    tokens = core_of(span)
    if not tokens:
        return None
    head = tokens[-1]
    return named_phrase(text[tokens[0].idx : head.idx], head.text, _lemma(head, lemmatizer))


def core_of(span: Span) -> list[Token]:
    """The tokens of a noun chunk that form its phrase, the head last; none if it has no head."""
    tokens = _trimmed(list(span))
    return tokens if tokens and tokens[-1].pos_ in _HEADS else []


def _trimmed(tokens: list[Token]) -> list[Token]:
    """The last `MAX_WORDS` words of a chunk, without text up to a closing bracket, without leading determiners,
    pronouns, possessive marks, numbers and empty adjectives, and without trailing marks."""
    brackets = [n for n, token in enumerate(tokens) if token.text in _BRACKETS]
    if brackets and brackets[-1] < len(tokens) - 1:
        tokens = tokens[brackets[-1] + 1 :]
    while tokens and (tokens[-1].pos_ in _NO_END or tokens[-1].is_punct):
        tokens = tokens[:-1]
    tokens = _last_words(_without_leads(tokens))
    return _without_leads(tokens)


def _without_leads(tokens: list[Token]) -> list[Token]:
    while tokens and _leads(tokens):
        tokens = tokens[1:]
    return tokens


def _leads(tokens: list[Token]) -> bool:
    first = tokens[0]
    joined = len(tokens) > 1 and not first.whitespace_ and tokens[1].text in "-–‐‑"
    if joined:  # "two-way" and "non-linear" are single words, while "20-30" in "20-30 participants" is a range
        return len(tokens) > 2 and first.like_num and tokens[2].like_num
    return first.pos_ in _NO_START or first.is_punct or first.lower_ in LEADING


def _last_words(tokens: list[Token]) -> list[Token]:
    starts = [n for n, token in enumerate(tokens) if n == 0 or tokens[n - 1].whitespace_]
    return tokens[starts[-MAX_WORDS] :] if len(starts) > MAX_WORDS else tokens


def _lemma(head: Token, lemmatizer: Any) -> str:
    """The lemma of a plural noun. Other heads are unchanged, except that a plural acronym ("LLMs") loses its s."""
    text: str = head.text
    if head.pos_ == "NOUN":
        if head.tag_ != "NNS":
            return text
        lemmas = lemmatizer.lemmatize(head)
        return str(lemmas[0]) if lemmas and lemmas[0] else text
    return singular_acronym(text)
