"""Thinking text of reasoning models (`<think>…</think>` in front of the answer), taken off as it comes."""

from __future__ import annotations

OPENING, CLOSING = "<think>", "</think>"


class Unthinking:
    """Lets the answer pass and keeps the thinking back, however the text is cut into pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "begin"

    def feed(self, piece: str) -> str:
        """The part of the answer that is certain now; may be empty."""
        self._held += piece
        if self._state == "begin":
            self._begin()
        if self._state == "thinking":
            self._think()
        if self._state == "gap":
            self._held = self._held.lstrip()
            self._state = "answer" if self._held else "gap"
        if self._state != "answer":
            return ""
        given, self._held = self._held, ""
        return given

    def end(self) -> str:
        """What is left when the text ends: the start of an answer that only looked like a tag."""
        return self._held if self._state == "begin" else ""

    def _begin(self) -> None:
        seen = self._held.lstrip()
        if seen.startswith(OPENING):
            self._held, self._state = seen[len(OPENING) :], "thinking"
        elif not OPENING.startswith(seen):
            self._state = "answer"

    def _think(self) -> None:
        _, closed, after = self._held.partition(CLOSING)
        if closed:
            self._held, self._state = after, "gap"
        else:
            self._held = self._held[-len(CLOSING) :]  # a tag may be cut in two


def without_thinking(text: str) -> str:
    """The answer in a whole text. Where the server put the opening tag into the prompt, only the closing one is there.

    Thinking that is cut off leaves no answer.
    """
    if OPENING not in text and CLOSING in text:
        return text.partition(CLOSING)[2].lstrip()
    filtered = Unthinking()
    return filtered.feed(text) + filtered.end()
