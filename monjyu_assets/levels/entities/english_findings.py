"""Finds phrases and relationships in English sentences with spaCy's parser and its named entities."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from monjyu_assets.levels.entities.english_relations import english_relations
from monjyu_assets.levels.entities.findings import Findings, FoundPhrase, generic, head_role, heads, type_of_name
from monjyu_assets.levels.phrases.english_phrases import BATCH, names_joined, parser, phrase_of
from monjyu_assets.levels.phrases.words import LEADING, STOP_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

NAMED, DEFINED, JOINED, LISTED, HEADED, TAGGED = 0.95, 0.9, 0.9, 0.8, 0.75, 0.5
"""The confidence of a phrase's type by its origin: a known name, "X is a …", "the X library", "libraries such as X",
the phrase's head word, NER."""

NO_ENTITY = "none"
"""NER's vote for places, dates and numbers, which are not entities here."""
_NO_NAME = frozenset('“”"«»,;')
_JOINERS = frozenset(("and", "or", "and/or", "&"))
_BARE = frozenset(("data set", "training set", "test set", "software package", "software tool"))

_SUCH_AS = re.compile(r"\s{0,2},?\s{0,2}(?:such as|including|like|namely|e\.g\.,?|for example,?)\s{0,2}(?:the |an? )?")
_LIST = re.compile(r"\s{0,2}(?:,|,? ?and|,? ?or|&)\s{0,2}(?:the |an? )?")
_SHAPED = re.compile(r"[A-Z]?[a-z]+[A-Z]\w*|[A-Z][A-Z0-9-]{1,9}[a-z]?|\w*[A-Za-z]-?\d[\w.]*")


def english_findings(windows: Sequence[str]) -> list[Findings]:
    """The findings of each window, in order. They depend only on the window."""
    pipeline, lemmatizer = parser()
    with pipeline.memory_zone():
        return [_findings(doc, lemmatizer) for doc in pipeline.pipe(windows, batch_size=BATCH)]


def _findings(doc: Doc, lemmatizer: object) -> Findings:
    text = doc.text  # spaCy builds it at every call
    spans = [(span, phrase) for span in names_joined(doc) if (phrase := phrase_of(span, text, lemmatizer)) is not None]
    phrases = [typed for span, phrase in spans for typed in _typed(span, *phrase)]
    _follow_lists(doc.text, phrases)
    _read_definitions(doc, phrases)
    phrases += _people(doc, phrases)
    named = [typed for typed in phrases if not typed.bare]
    return Findings(sorted(named, key=lambda f: (f.start, -f.end)), list(english_relations(doc, lemmatizer)))


def _typed(span: Span, key: str, surface: str) -> Iterator[FoundPhrase]:
    """Yield the phrase with votes for its type; "the NumPy library" yields NumPy, a tool."""
    start = span.doc.text.find(surface, span.start_char)
    start = span.start_char if start < 0 else start
    words, written = key.split(), surface.split()
    lead = _lead(words, written) if len(words) == len(written) else 0
    start += sum(len(word) + 1 for word in written[:lead])
    words, written = words[lead:], written[lead:]
    key, surface = " ".join(words), " ".join(written)
    if not words or _NO_NAME.intersection(surface):
        return
    entity_type = head_type(words)
    prefix = _name_before_head(span, written) if entity_type else 0
    if entity_type and prefix and not _capitals(written[prefix:]):
        name = " ".join(written[:prefix])
        name_type = type_of_name(name)
        joined = head_role(written[-1].casefold()) == "identifies" and not name.isupper()
        if name_type or joined:
            votes = [(name_type, NAMED)] if name_type else [(entity_type, JOINED)]
            yield FoundPhrase(name.casefold(), name, start, start + len(name), votes, proper=True, head=span.root.i)
            if joined and (len(words) - prefix == 1 or all(word in generic() for word in words[prefix:-1])):
                return
    known = type_of_name(surface)
    proper = span.root.pos_ == "PROPN" or bool(_SHAPED.fullmatch(surface))
    votes = [(known, NAMED)] if known else []
    if (
        entity_type
        and len(words) > 1
        and key not in _BARE
        and not all(w in STOP_WORDS or w in LEADING for w in words[:-1])
    ):
        if head_role(words[-1]) != "loose" and (entity_type != "organization" or (proper and _capitals(written[:1]))):
            votes.append((entity_type, HEADED))
    elif (entity_type or head_role(words[-1]) == "loose") and not known:
        yield FoundPhrase(
            key, surface, start, start + len(surface), bare=True, head=span.root.i
        )  # "the method", "several models"
        return
    yield FoundPhrase(key, surface, start, start + len(surface), votes, proper=proper, head=span.root.i)


def _lead(words: Sequence[str], written: Sequence[str]) -> int:
    """The number of leading words that are not part of the name: another name and "and", an owner, generic words."""
    lead = 0
    for place, word in enumerate(words[:-1], start=1):
        owner = word.endswith(("'s", "’s")) and written[place][:1].islower()
        joined = word in _JOINERS and not _capitals([*written[: place - 1], *written[place:]])
        if owner or joined:
            lead = place
    while lead < len(words) - 1 and words[lead] in generic():
        lead += 1
    return lead


def head_type(words: Sequence[str]) -> str | None:
    """The type that the last word of a phrase implies, or None."""
    if len(words) > 1 and words[-1] == "network" and words[-2] in {"neural", "bayesian", "adversarial", "belief"}:
        return "model"
    if words[-1] == "set" and len(words) > 1 and words[-2] in {"data", "training", "test", "validation"}:
        return "dataset"
    return heads().get(words[-1])


def _name_before_head(span: Span, written: Sequence[str]) -> int:
    """The number of leading words that form a name, whose type the remaining words give."""
    tags = {token.text: token.pos_ for token in span}
    identified = head_role(written[-1].casefold()) == "identifies"
    count = 0
    for word in written[:-1]:
        named = tags.get(word) == "PROPN" and (_SHAPED.fullmatch(word) or (identified and word[:1].isupper()))
        if not (type_of_name(word) or named):
            break
        count += 1
    return count


def _capitals(words: Sequence[str]) -> bool:
    return all(word[:1].isupper() for word in words)


def _follow_lists(text: str, phrases: list[FoundPhrase]) -> None:
    """Vote for the type of names in lists: in "libraries such as X, Y and Z", they get the type of "libraries"."""
    entity_type: str | None = None
    for before, phrase in pairwise(phrases):
        between = text[before.end : phrase.start]
        if _SUCH_AS.fullmatch(between):
            entity_type = head_type(before.key.split())
        elif not (entity_type and _LIST.fullmatch(between)):
            entity_type = None
        if entity_type and phrase.proper:
            phrase.votes.append((entity_type, LISTED))


def _read_definitions(doc: Doc, phrases: list[FoundPhrase]) -> None:
    """Mark defined phrases and vote for their type: in "X is a library", X gets the type of "library"."""
    for token in doc:
        if token.lemma_ != "be" and token.lower_ not in {"is", "are", "was", "were"}:
            continue
        subject = next((child for child in token.children if child.dep_ == "nsubj"), None)
        complement = next((child for child in token.children if child.dep_ == "attr"), None)
        if subject is None or complement is None or subject.i > token.i:
            continue
        phrase = next((f for f in phrases if f.start <= subject.idx < f.end), None)
        if phrase is None:
            continue
        phrase.defined = True
        entity_type = heads().get(complement.lower_)
        if entity_type and phrase.proper:
            phrase.votes.append((entity_type, DEFINED))


_TAGS = {"PERSON": "researcher", "ORG": "organization"} | dict.fromkeys(
    ("GPE", "LOC", "FAC", "NORP", "DATE", "TIME", "CARDINAL", "ORDINAL", "QUANTITY", "MONEY", "PERCENT"), NO_ENTITY
)


def _people(doc: Doc, phrases: list[FoundPhrase]) -> Iterator[FoundPhrase]:
    """Add NER's votes to phrases that end with a named entity; yield people whom no phrase overlaps."""
    for entity in doc.ents:
        entity_type = _TAGS.get(entity.label_)
        if entity_type is None:
            continue
        at = [f for f in phrases if f.start < entity.end_char and f.end > entity.start_char]
        for phrase in at:
            if abs(phrase.end - entity.end_char) <= 1 and phrase.proper:
                phrase.votes.append((entity_type, TAGGED))
        if not at and entity_type == "researcher":
            yield FoundPhrase(
                entity.text.casefold(),
                entity.text,
                entity.start_char,
                entity.end_char,
                [(entity_type, TAGGED)],
                proper=True,
                head=entity.root.i,
            )


def english_subjects(windows: Sequence[str]) -> list[str | None]:
    """The subject of each window: the phrase of its first subject that is not a pronoun, otherwise of its first object;
    "" if there is neither, None if there is no verb."""
    pipeline, lemmatizer = parser()
    with pipeline.memory_zone():
        return [_subject(doc, lemmatizer) for doc in pipeline.pipe(windows, batch_size=BATCH, disable=["ner"])]


def _subject(doc: Doc, lemmatizer: object) -> str | None:
    if not any(token.pos_ in {"VERB", "AUX"} and token.dep_ in {"ROOT", "conj", "ccomp"} for token in doc):
        return None
    spans = {token.i: span for span in doc.noun_chunks for token in span}
    for roles in (("nsubj", "nsubjpass"), ("dobj", "attr", "pobj")):
        for token in doc:
            if token.dep_ in roles and token.pos_ != "PRON" and token.i in spans:
                phrase = phrase_of(spans[token.i], doc.text, lemmatizer)
                if phrase is not None:
                    return phrase[1]
    return ""
