"""A draft of any format to the sentences that cite, each with what it says and whom it cites for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from monjyu_core.errors import QueryError
from monjyu_core.text.language import detect_language
from monjyu_core.text.sentences import split_sentences
from monjyu_query.answers.verification.alignment import Words
from monjyu_query.drafts.draft_pages import CLOSE, MARK, OPEN, Mark, Pages, Works, without_marks
from monjyu_query.drafts.latex_draft import read_latex
from monjyu_query.drafts.markdown_draft import read_markdown
from monjyu_query.drafts.word_xml import MOST_BYTES, read_word

Format = Literal["markdown", "latex", "docx", "text"]
FORMATS: dict[str, Format] = {
    ".md": "markdown", ".markdown": "markdown", ".tex": "latex", ".docx": "docx", ".txt": "text"
}  # fmt: skip
"""By the ending of a file's name."""
MOST_CHARACTERS = 2_000_000
LONGEST_SENTENCE = 2_000
FEWEST_WORDS = 4
"""Words that say something, for a part of a sentence to be a claim of its own."""
_ONE = f"{OPEN}\\d+{CLOSE}"
_BEHIND = re.compile(rf"([.!?。]+)(\s?)((?:{_ONE}[\s,;]{{0,2}})+)(?=\s+[^\Wa-z\d_]|\s*$)")
_STOP_BEHIND = re.compile(f"(?<={CLOSE}\\.)\\s+(?=[a-z])")
_GROUPS = re.compile(rf"{_ONE}(?:[\s,;()\[\]]*{_ONE})*")
_LOOSE = re.compile(r"[(\[](?:\s*(?:see|see also|cf\.|e\.g\.))?\s*[,;]?\s*[)\]]|\s+(?=[,.;:!?)])")
_LEADING = re.compile(r"^(?:according to|as shown (?:by|in)|following|see|in|by)?[\s,;:.]+", re.I)


@dataclass(frozen=True)
class Cited:
    """One mark of a sentence with what the draft says there of the works that it names."""

    mark: Mark
    claim: str


@dataclass(frozen=True)
class CitingSentence:
    """`number` counts the sentences that cite, from 1; `text` is as written, `before` the sentence before it."""

    number: int
    text: str
    before: str
    cited: tuple[Cited, ...]


@dataclass(frozen=True)
class Draft:
    sentences: list[CitingSentence]
    works: Works
    warnings: list[str]


def read_draft(content: str | bytes, kind: Format) -> Draft:
    """QueryError for what is too large or is not of the format."""
    pages = Pages()
    if isinstance(content, bytes) and len(content) > MOST_BYTES:
        raise QueryError(f"A draft has at most {MOST_BYTES >> 20} MiB.", "Split it.")
    if kind == "docx":
        if isinstance(content, str):
            raise QueryError("A Word file is bytes, not text.", "Give the file itself.")
        read_word(content, pages)
    else:
        text = content.decode("utf-8-sig", "replace") if isinstance(content, bytes) else content
        if len(text) > MOST_CHARACTERS:
            raise QueryError(f"A draft has at most {MOST_CHARACTERS:,} characters.", "Check it chapter by chapter.")
        (read_latex if kind == "latex" else read_markdown)(without_marks(text), pages)
    sentences = [CitingSentence(number, *one) for number, one in enumerate(_citing(pages), start=1)]
    return Draft(sentences, pages.works, pages.warnings)


def _citing(pages: Pages) -> Iterator[tuple[str, str, tuple[Cited, ...]]]:
    for text in pages.texts:
        if not MARK.search(text):
            continue
        text = _BEHIND.sub(lambda found: _before_stop(found, pages.marks), text)
        before = ""
        for sentence in _sentences(text):
            if MARK.search(sentence):
                cited = tuple(_cited(sentence[: 2 * LONGEST_SENTENCE], pages.marks))
                yield _shown(sentence, pages.marks)[:LONGEST_SENTENCE], before, cited
            before = _said(sentence)[:LONGEST_SENTENCE]


def _sentences(text: str) -> Iterator[str]:
    """A stop behind a citation ends a sentence, though the next begins small: "(Smith, 2020). nbgrader …"."""
    for start, end in split_sentences(text, detect_language(text)):
        yield from _STOP_BEHIND.split(text[start:end])


def _before_stop(found: re.Match[str], marks: Sequence[Mark]) -> str:
    """A citation behind the stop belongs to the sentence that the stop ends, unless it begins the next one."""
    if any(marks[int(number)].spoken for number in MARK.findall(found[3])):
        return found[0]
    return f" {found[3].rstrip()}{found[1]}"


def _cited(sentence: str, marks: Sequence[Mark]) -> Iterator[Cited]:
    """Each mark with the part of the sentence that leads up to its group (that follows it where it is spoken); with
    all of it where there is one group, or the part says too little."""
    groups = list(_GROUPS.finditer(sentence))
    whole = _said(sentence)
    for place, group in enumerate(groups):
        numbers = [int(number) for number in MARK.findall(group[0])]
        first = marks[numbers[0]]
        before = groups[place - 1].end() if place else 0
        after = groups[place + 1].start() if place + 1 < len(groups) else len(sentence)
        part = _said(sentence[group.end() : after] if first.spoken else sentence[before : group.start()])
        claim = part if len(groups) > 1 and len(Words(part).content) >= FEWEST_WORDS else whole
        for number in dict.fromkeys(numbers):
            yield Cited(marks[number], claim[:LONGEST_SENTENCE])


def _said(text: str) -> str:
    """Without its marks and what they leave behind."""
    text = " ".join(_LOOSE.sub("", MARK.sub(" ", text)).split())
    return _LEADING.sub("", _LOOSE.sub("", text)).strip()


def _shown(text: str, marks: Sequence[Mark]) -> str:
    return " ".join(MARK.sub(lambda found: marks[int(found[1])].text, text).split())
