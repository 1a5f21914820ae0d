"""A model's answer as sentences with the source numbers that it marks them with, complete sentences as they come."""

from __future__ import annotations

import re
from dataclasses import dataclass

from monjyu_core.text.sentences import split_sentences

_NUMBERS = r"\d+(?:\s*[,;、，\u2013-]\s*\d+)*"
_MARKER = re.compile(rf"[\[【［]\s*(?:sources?\s*|資料\s*)?({_NUMBERS})\s*[\]】］]", re.I)
_AFTER_END = re.compile(rf"([.!?。！？])(\s*(?:[\[【［]\s*(?:sources?\s*|資料\s*)?{_NUMBERS}\s*[\]】］]\s*)+)", re.I)
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.S | re.I)
_OPEN_THINKING = re.compile(r"<think(?:ing)?>(?!.*</think)", re.S | re.I)
_OPEN_BRACKET = re.compile(r"[\[【［][^\]】］]{0,40}\Z")
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_MARKUP = re.compile(r"[*_`#]+")
LARGEST_RANGE = 20
NO_ANSWER = "NO ANSWER"


@dataclass(frozen=True)
class Marked:
    """A sentence without its markers, and the numbers of the sources that they name, in order."""

    text: str
    sources: tuple[int, ...]


def marked_sentences(text: str, language: str) -> list[Marked]:
    """The sentences of a whole answer; thinking text and markup characters are left out."""
    text = _OPEN_THINKING.split(_THINKING.sub("", text))[0]
    text = _AFTER_END.sub(lambda match: f"{match.group(2).rstrip()}{match.group(1)} ", text)
    found: list[Marked] = []
    for line in text.splitlines():
        line = _MARKUP.sub("", _LIST_MARK.sub("", line))
        for start, end in split_sentences(line, language):
            sentence = _marked(line[start:end])
            if sentence.text.strip(" .。"):
                found.append(sentence)
            elif found:  # a marker alone belongs to the sentence before it
                found[-1] = Marked(found[-1].text, _distinct((*found[-1].sources, *sentence.sources)))
    return found


class SentenceStream:
    """Takes pieces of an answer and gives each sentence once it is certain that it has ended."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._text = ""
        self._given = 0

    def add(self, piece: str) -> list[Marked]:
        """The sentences that this piece completes: all but the last, which may go on or get a marker yet."""
        self._text += piece
        if not re.search(r"[.!?。！？\n\]】］]", piece):
            return []
        closed = _OPEN_BRACKET.sub("", self._text)
        return self._take(marked_sentences(closed, self._language)[:-1])

    def end(self, *, cut_off: bool) -> list[Marked]:
        """The rest; a last sentence that was cut off is left out."""
        sentences = marked_sentences(self._text, self._language)
        whole = self._text.rstrip()[-1:] in ".!?。！？]】］)\"'」"
        return self._take(sentences if whole or not cut_off else sentences[:-1])

    def _take(self, sentences: list[Marked]) -> list[Marked]:
        new = sentences[self._given :]
        self._given += len(new)
        return new


def abstains(sentence: Marked) -> bool:
    return sentence.text.strip(" .。!\"'").upper().startswith(NO_ANSWER)


def _marked(sentence: str) -> Marked:
    numbers = [number for match in _MARKER.finditer(sentence) for number in _expanded(match.group(1))]
    text = re.sub(r"\s+([.,;:!?。、])", r"\1", " ".join(_MARKER.sub(" ", sentence).split()))
    return Marked(text, _distinct(numbers))


def _expanded(listed: str) -> list[int]:
    numbers: list[int] = []
    for piece in re.split(r"\s*[,;、，]\s*", listed):
        ends = [int(end[:6]) for end in re.split(r"\s*[\u2013-]\s*", piece) if end]
        if len(ends) == 2 and 0 <= ends[1] - ends[0] <= LARGEST_RANGE:
            numbers += range(ends[0], ends[1] + 1)
        else:
            numbers += ends
    return numbers


def _distinct(numbers: tuple[int, ...] | list[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(numbers))
