"""Splits a model's answer into sentences with the source numbers that mark them, yielding each sentence when it is
complete."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from monjyu_core.language.packs import also
from monjyu_core.text.search_text import count_wide
from monjyu_core.text.sentences import split_sentences

_NUMBERS = r"\d+(?:\s*[,;、，\u2013-]\s*\d+)*"
_SOURCE = also("marked_sentences.source")
_MARKER = re.compile(rf"[\[【［]\s*(?:(?:sources?{_SOURCE})\s*)?({_NUMBERS})\s*[\]】］]", re.I)
_AFTER_END = re.compile(
    rf"([.!?。！？])(\s*(?:[\[【［]\s*(?:(?:sources?{_SOURCE})\s*)?{_NUMBERS}\s*[\]】］]\s*)+)", re.I
)
_OPEN_BRACKET = re.compile(r"[\[【［][^\]】］]{0,40}\Z")
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+\S|^\s*\*\*[^*]{2,80}\*\*:?\s*$")
_MARKUP = re.compile(r"[*_`#]+")
_ESCAPED = re.compile(rf"\\[\[【［]\s*{_NUMBERS}\s*\\?[\]】］]")
_CLOSING = re.compile(r"[.,;:!?。、！？]?[\"”」』]")
_OPEN, _CLOSE = "“「『", "”」』"
_HIDDEN = str.maketrans("[]【】［］", "\ue000\ue001\ue002\ue003\ue004\ue005")
_SHOWN = {hidden: shown for shown, hidden in _HIDDEN.items()}
"""Restores the brackets of papers, which `_HIDDEN` replaces while markers are searched."""
LARGEST_RANGE = 20
NO_ANSWER = "NO ANSWER"
BEFORE, BEFORE_WIDE = 10, 6
"""The number of characters (without white space) before a bracket that must also precede an equal bracket in a source;
the second number is for scripts whose characters carry more."""


@dataclass(frozen=True)
class Marked:
    """A sentence without its markers, and the source numbers in them, in order. `begins`: an empty line precedes it;
    `item`: it begins a list item; `heading`: it is a heading, not a sentence."""

    text: str
    sources: tuple[int, ...]
    begins: bool = False
    item: bool = False
    heading: bool = False


class PaperBrackets:
    """Distinguishes a source's own `[2]`, which a model copied, from the model's marker for source 2.

    A bracket is the source's if it is escaped, if a source has it after the same words, or if it is inside a quotation.
    """

    def __init__(self, sources: Iterable[str] = ()) -> None:
        self._sources = [_packed(source) for source in sources if _MARKER.search(source)]

    def hidden(self, text: str) -> str:
        """The text with the paper's own brackets replaced by other characters, from which `_SHOWN` restores them."""
        text = text.translate(dict.fromkeys(_SHOWN))
        text = _ESCAPED.sub(lambda match: match.group().replace("\\", "").translate(_HIDDEN), text)
        return _MARKER.sub(lambda match: match.group().translate(_HIDDEN) if self._own(match) else match.group(), text)

    def _own(self, match: re.Match[str]) -> bool:
        line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
        line = _packed(line)
        least = BEFORE_WIDE if count_wide(line[-BEFORE_WIDE:]) > BEFORE_WIDE // 2 else BEFORE
        before = line[-least:]
        known = len(before) == least and any(before + _packed(match.group()) in text for text in self._sources)
        return known or (_quotes(line) and not _CLOSING.match(match.string, match.end()))


def _packed(text: str) -> str:
    return "".join(text.split())


def _quotes(line: str) -> bool:
    """Whether a quotation is open at the end of the line."""
    opened = any(line.count(one) > line.count(other) for one, other in zip(_OPEN, _CLOSE, strict=True))
    return opened or line.count('"') % 2 == 1


def marked_sentences(text: str, language: str, papers: PaperBrackets | None = None) -> list[Marked]:
    """The sentences of a whole answer, without markup characters."""
    text = (papers or PaperBrackets()).hidden(text)
    text = _AFTER_END.sub(lambda match: f"{match.group(2).rstrip()}{match.group(1)} ", text)
    found: list[Marked] = []
    begins = False
    for line in text.splitlines():
        begins |= bool(found) and not line.strip()
        heading, item = bool(_HEADING.match(line)), bool(_LIST_MARK.match(line))
        line = _MARKUP.sub("", _LIST_MARK.sub("", line))
        if heading and line.strip():
            found.append(Marked(_marked(line.strip()).text, (), begins=True, heading=True))
            begins = False
            continue
        for start, end in split_sentences(line, language):
            sentence = _marked(line[start:end])
            if sentence.text.strip(" .。"):
                found.append(replace(sentence, begins=begins, item=item))
                begins = item = False
            elif found and not found[-1].heading:  # a marker alone belongs to the sentence before it
                found[-1] = replace(found[-1], sources=_distinct((*found[-1].sources, *sentence.sources)))
    return found


class SentenceStream:
    """Accepts pieces of an answer and returns each sentence once its end is certain."""

    def __init__(self, language: str, papers: PaperBrackets | None = None) -> None:
        self._language = language
        self._papers = papers
        self._text = ""
        self._given = 0

    def add(self, piece: str) -> list[Marked]:
        """The sentences that this piece completes: all but the last, which may continue or still get a marker."""
        self._text += piece
        if not re.search(r"[.!?。！？\n\]】］]", piece):
            return []
        closed = _OPEN_BRACKET.sub("", self._text)
        return self._take(marked_sentences(closed, self._language, self._papers)[:-1])

    def end(self, *, cut_off: bool) -> list[Marked]:
        """The remaining sentences; a truncated last sentence is omitted."""
        sentences = marked_sentences(self._text, self._language, self._papers)
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
    return Marked(text.translate(_SHOWN), _distinct(numbers))


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
