"""Separates the reasoning in a reply from the answer, with the same rules for whole and streamed text.

Marks count where models put them: at the beginning of the reply, and on lines of their own. A mark that a sentence, a
code block or a JSON string merely quotes is ordinary text.
"""

import json
import re
from itertools import islice

_NAMES = r"think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis|seed:think"
_MARKS = (
    (rf"<(?:{_NAMES})\s*>", rf"</(?:{_NAMES})\s*>"),
    (r"\[THINK\]", r"\[/THINK\]"),  # Magistral
    ("◁think▷", "◁/think▷"),  # Kimi
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Command A
    (r"<\|channel>\s*thought", r"<channel\|>"),  # Gemma 4
    (r"<unused94>(?:thought)?", "<unused95>"),  # MedGemma
)
_OPENING = re.compile("|".join(f"({opening})" for opening, _ in _MARKS), re.I)
_CLOSINGS = [re.compile(closing, re.I) for _, closing in _MARKS]
_CLOSING = re.compile("|".join(closing for _, closing in _MARKS), re.I)
_ON_LINE = re.compile(rf"^[ \t]*(?:{_OPENING.pattern})", re.I | re.M)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|call|start)\|>")
_BEFORE_CHANNEL = re.compile(r"(?:<\|(?:end|start)\|>|assistant|\s)*\Z")
_BARE_CHANNELS = re.compile(r"analysis(?:(?=[A-Z\W]\S|\Z)(?!\s)|\s*\n(?=(?s:.*)assistantfinal))")
"""Harmony format if the server dropped the special tokens: `analysisWe need to … assistantfinalThe answer`."""
_ANSWER_BEGINS = re.compile(
    r"\s*(?:<(?:answer|response)>|(<\|(?:START_RESPONSE|begin_of_solution|begin_of_box)\|>))\s*", re.I
)
_ANSWER_ENDS = re.compile(
    r"(?:\s*(?:<\|(?:END_RESPONSE|end_of_solution|end_of_box|im_end|eot_id|end|return|endoftext)\|>|</s>|<end_of_turn>))+\s*\Z"
)
_BARE_BEGINS = re.compile(r"analysis\w?\Z")
_WRAPPER_ENDS = re.compile(r"\s*</(?:answer|response)>\s*\Z", re.I)
_STARTS = (
    *("<think>", "<thinking>", "<thought>", "<thoughts>", "<reasoning>", "<reflection>", "<seed:think>", "[think]"),
    *("<scratchpad>", "<analysis>", "<unused94>", "<|begin_of_box|>"),
    *("◁think▷", "<|begin_of_thought|>", "<|start_thinking|>", "<|channel>thought", "<|channel|>", "<|start|>"),
    *("<|start_response|>", "<|begin_of_solution|>", "<answer>", "<response>", "analysis"),
)
_UNSURE_END = re.compile(r"\s*(?:<[^>\n]{0,24}>?|\[[A-Za-z/]{0,6}|◁[^▷\n]{0,8})\s*\Z")
_JSON = re.compile(r"\s*(?:\{|\[\s*[\[{\"])")
_MOST_MARKS = 50
_QUOTING = "`\"'“‘「『"
_CLOSING_QUOTES = ("`", '"', "'", "”", "’", "」", "』")
_ENDS = ".!?。！？…"


def answer_in(text: str, *, whole: bool = True) -> tuple[str, bool]:
    """The answer in a reply, and whether the reply contains reasoning. Truncated reasoning leaves no answer.

    With `whole` False the text is the beginning of a reply, and an end that may become a mark is held back.
    """
    rest, reasoned = _of_final_channel(text)
    while True:
        rest = rest.lstrip()
        opening = _OPENING.match(rest)
        if opening and not (end := _end_of_block(rest, opening, whole=whole)):
            if whole and _is_quotation(rest, opening.end(), None):
                break
            return "", True
        if opening and _is_quotation(rest, opening.end(), end):
            break
        after = end if opening else _end_without_opening(rest)
        if not after:
            break
        rest, reasoned = rest[after:], True
    rest, inner = _without_blocks(rest, whole=whole)
    wrapper = _ANSWER_BEGINS.match(rest)
    wrapper = wrapper if wrapper and (reasoned or wrapper[1]) else None
    if not whole and _begins_like_a_mark(rest) and not wrapper:
        return "", reasoned | inner
    rest = rest[wrapper.end() :] if wrapper else rest
    ending = _ANSWER_ENDS.search(rest) if whole else _UNSURE_END.search(rest)
    rest = rest[: ending.start()] if ending else rest
    return (_WRAPPER_ENDS.sub("", rest) if wrapper and whole else rest), reasoned | inner


class AnswerStream:
    """The answer of a streamed reply, piece by piece. `whole`, the answer of the whole reply, takes precedence over the
    pieces: they differ if the reply begins inside its reasoning, which only the closing mark shows.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._given = ""
        self._plain = False

    def feed(self, piece: str) -> str:
        """The part of the answer that is certain by now; it may be empty."""
        if self._plain and not any(mark in piece for mark in "<[◁"):
            self._pieces.append(piece)
            return piece
        text = self._joined() + piece
        self._pieces = [text]
        answer, reasoned = answer_in(text, whole=False)
        given = self._next(answer)
        self._plain = not reasoned and answer == text.lstrip() and not _begins_like_a_mark(answer)
        return given

    def end(self) -> str:
        """The rest of the answer that was held back."""
        return self._next(self.whole[0])

    @property
    def whole(self) -> tuple[str, bool]:
        """The answer of the whole reply, and whether it contains reasoning."""
        return answer_in(self._joined())

    def _joined(self) -> str:
        """All text so far. Pieces are joined in batches, because appending each one would copy the text each time."""
        if self._plain:
            self._given, self._plain = "".join(self._pieces).lstrip(), False
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def _next(self, answer: str) -> str:
        if not answer.startswith(self._given):
            return ""
        new = answer[len(self._given) :]
        self._given = answer
        return new


def _of_final_channel(text: str) -> tuple[str, bool]:
    """The final channel of a reply in OpenAI's harmony format; other text unchanged."""
    begun = text.lstrip()
    if _BARE_CHANNELS.match(begun):
        return begun.rpartition("assistantfinal")[2] if "assistantfinal" in begun else "", True
    marks = list(_CHANNEL.finditer(begun))
    if not marks or not _BEFORE_CHANNEL.fullmatch(begun, 0, marks[0].start()):
        marks = [mark for mark in marks if mark[1] == "final" and begun[: mark.start()].endswith("<|start|>assistant")]
        if not marks:
            unfinished = begun.startswith(("<|channel|>", "<|start|>"))
            return ("", True) if unfinished else (text, False)
    finals = [_message(begun, mark.end()) for mark in marks if mark[1] == "final"]
    return "".join(finals), True


def _message(text: str, start: int) -> str:
    end = _END_OF_MESSAGE.search(text, start)
    return text[start : end.start() if end else len(text)]


def _end_of_block(text: str, opening: re.Match[str], *, whole: bool) -> int | None:
    """The end of the block that `opening` begins; None if it does not end. A closing mark that the reasoning quotes
    counts only if the reply is whole and has no other."""
    closings = list(islice(_CLOSINGS[(opening.lastindex or 1) - 1].finditer(text, opening.end()), _MOST_MARKS))
    for closing in closings:
        after = text[closing.end() :]
        if not (text[closing.start() - 1] in _QUOTING or after[:1] in _CLOSING_QUOTES or _goes_on(after)):
            return closing.end()
    return closings[0].end() if closings and whole else None


def _goes_on(after: str) -> bool:
    """Whether the text after a mark continues the sentence that contains the mark."""
    return bool(re.match(r" +[a-z(]|[,;:)]", after))


def _is_quotation(text: str, start: int, end: int | None) -> bool:
    """Whether the block after the mark that ends at `start` is quoted: `<think> and </think> are marks`."""
    line = text[start:].partition("\n")[0]
    if end is None:
        return bool(re.match(r" [a-z]", line)) and "\n" not in text[start:]
    return "\n" not in text[start:end] and bool(re.match(r"[,.;:)]|\s+[a-z(]", text[end:].partition("\n")[0]))


def _end_without_opening(text: str) -> int | None:
    """Where the answer begins if the opening mark was in the prompt; None if no mark ends the reasoning."""
    for number, closing in enumerate(_CLOSING.finditer(text)):
        if number == _MOST_MARKS or _ON_LINE.search(text, 0, closing.start()):
            return None
        if _closes(text[: closing.start()], text[closing.end() :]) and not _in_json(text, closing.start()):
            return closing.end()
    return None


def _closes(before: str, after: str) -> bool:
    """Whether a closing mark between the two texts ends reasoning, judged by where models put it."""
    if (before.rstrip(" ")[-1:] in _QUOTING and before) or before.count("```") % 2:
        return False
    own_line = not before.strip() or before.rstrip(" \t").endswith("\n")
    follows = after.lstrip()
    goes_on = follows[:1].islower() or (follows[:1] in ",.;:)" and bool(follows))
    if own_line and after[:1] in ("", "\n", "\r"):
        return True
    ended = before.rstrip()[-1:] in _ENDS
    if goes_on or (not follows and not ended) or (not own_line and not ended and before.endswith(" ")):
        return False
    return own_line or ended or after[:1] in ("\n", "\r", "{", "*", "#") or after[:1].isupper()


def _in_json(text: str, place: int) -> bool:
    """Whether the position is inside a JSON object or list of the reply."""
    if _JSON.match(text):
        return True
    starts = [found.start() for found in re.finditer(r"[{\[]", text[:place])]
    for start in starts[:_MOST_MARKS]:
        try:
            if json.JSONDecoder().raw_decode(text, start)[1] > place:
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _without_blocks(text: str, *, whole: bool) -> tuple[str, bool]:
    """The text without further reasoning blocks: each begins and ends on its own line, outside code."""
    start, kept, found = 0, "", False
    for _ in range(_MOST_MARKS):
        opening = _ON_LINE.search(text, start)
        if opening is None:
            break
        mark = _OPENING.search(text, opening.start())
        end = _end_of_block(text, mark, whole=whole) if mark else None
        before = text[: opening.start()].rstrip()
        in_code = before.count("```") % 2 or before.endswith((":", "："))  # an example, or inside a code block
        if not in_code and end is None and not whole:
            return kept + text[start : opening.start()], True
        if in_code or end is None or text[end : end + 1] not in ("", "\n", "\r"):
            kept += text[start : opening.end()]
            start = opening.end()
            continue
        kept, start, found = kept + text[start : opening.start()], end, True
    return kept + text[start:], found


def _begins_like_a_mark(text: str) -> bool:
    begun = text.lstrip().lower()
    return any(mark.startswith(begun) for mark in _STARTS) or bool(_BARE_BEGINS.match(text.lstrip()))
