"""Reasoning marks in replies: whole, streamed in pieces of any size, quoted, unclosed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monjyu_core.models.clients.reasoning import AnswerStream, answer_in
from tests.conftest import CORPORA, needs_corpora

ANSWER = "The lake is frozen for 141 days [1]."
REASONED = [
    f"<think>so</think>{ANSWER}",
    f" <think>\nso\n</think>\n\n{ANSWER}",
    f"<thinking>a</thinking>\n{ANSWER}",
    f"<thought>a</thought>{ANSWER}",
    f"<seed:think>a</seed:think>{ANSWER}",
    f"[THINK]a [1] b[/THINK]{ANSWER}",
    f"<think>a</think>\n<think>b</think>\n{ANSWER}",
    f"◁think▷a◁/think▷{ANSWER}",
    f"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}<|return|>",
    f"<|start|>assistant<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b<|end|>"
    f"<|start|>assistant<|channel|>final <|constrain|>text<|message|>{ANSWER}",
    f"analysisWe need the days.assistantfinal{ANSWER}",
    f"<|channel>thought\na\n<channel|>{ANSWER}",
    f"<think></think>\n\n<answer>{ANSWER}</answer>",
    f"<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
    f"{ANSWER}<|im_end|>",
    f"<think>It quotes `</think>` here.\n</think>\n\n{ANSWER}",
    f"<think>a <think> nested</think> b</think>{ANSWER}",
    f"<think>The tag </think> is in the text, I go on.\n</think>\n\n{ANSWER}",
    f"<think>a</think><|begin_of_box|>{ANSWER}<|end_of_box|>",
    f"<scratchpad>a</scratchpad>\n{ANSWER}",
    f"<unused94>thought\na<unused95>{ANSWER}",
]
ONLY_CLOSED = [
    f"Okay, the user wants days.\nLet me think.\n</think>\n\n{ANSWER}",
    f"Let me think now</think>\n\n{ANSWER}",
    f"It is 141.</think>{ANSWER}",
    f"The paper quotes <think> and </think> too.\nSo 141.\n</think>\n\n{ANSWER}",
    f"[1] has it.\n[/THINK]\n{ANSWER}",
    f"so 141[/THINK]{ANSWER}",
    f"analysis\nWe need the days.\nassistantfinal\n{ANSWER}",
]
QUOTED = [
    "The model ends its reasoning with </think> and answers [1].",
    "The marks are `<think>` and `</think>` [1].",
    "<think> and </think> are the marks [1].",
    "It writes <think>, then reasons, then </think>, then answers [1].",
    "```\n<think>\na\n</think>\n```\nis how it looks [1].",
    "The closing mark is </think>\n\nAccuracy rises [2].",
    "The form is:\n\n<think>\nreasons\n</think>\n\nas [1] says.",
    "Models write <|channel|>analysis<|message|> first [1].",
    "Analysis of variance was used [1].",
    "analysis of variance was used [1].",
    "b <think>",
    "<thin",
    "<b>bold</b>",
    json.dumps({"claims": [{"statement": "It ends with </think> and answers.", "sentences": [3]}]}),
    'Sure. {"statement": "It reasons. </think> The answer follows."} I hope it helps.',
    "",
]
UNCLOSED = [
    "<think>a",
    "<think>\nThe user wants",
    "[THINK]a",
    "<|channel|>analysis<|message|>We need",
    "analysisWe need",
]


def streamed(text: str, size: int) -> tuple[str, str]:
    """What the stream gives in pieces of a size, and the whole reply's answer."""
    stream = AnswerStream()
    pieces = [stream.feed(text[start : start + size]) for start in range(0, len(text), size)]
    return "".join([*pieces, stream.end()]), stream.whole[0]


@pytest.mark.parametrize("text", [*REASONED, *QUOTED, *UNCLOSED])
def test_whole_and_streamed_give_the_same_answer(text: str) -> None:
    expected = ANSWER if text in REASONED else "" if text in UNCLOSED else text
    assert answer_in(text)[0].strip() == expected
    for size in (1, 2, 5, 100):
        given, whole = streamed(text, size)
        assert given.strip() == whole.strip() == expected, size


@pytest.mark.parametrize("text", ONLY_CLOSED)
def test_a_closing_mark_alone_ends_reasoning_and_the_reply_has_the_last_word(text: str) -> None:
    assert answer_in(text) == (ANSWER, True)
    for size in (1, 7, 1000):
        assert streamed(text, size)[1] == ANSWER
    assert streamed(text, 1000)[0] == ANSWER


def test_blocks_between_parts_of_the_answer_go() -> None:
    text = "First part [1].\n<think>\nmore?\n</think>\nSecond part [2]."
    assert answer_in(text) == ("First part [1].\n\nSecond part [2].", True)


def test_a_long_stream_of_plain_text_is_not_read_again_and_again() -> None:
    stream = AnswerStream()
    assert "".join(stream.feed("word ") for _ in range(200_000)) + stream.end() == "word " * 200_000


@needs_corpora
def test_the_reported_text_is_read_whole() -> None:
    cases = json.loads((CORPORA.parent / "reports" / "models" / "expected.json").read_text())["cases"]
    text = next(case["text"] for case in cases if case["id"] == "think_quoted")
    assert answer_in(text) == (text, False)
    paper = Path(CORPORA.parent / "reports" / "models" / "reason.txt").read_text()
    assert answer_in(f"It says: {paper[:200]}")[1] is False
