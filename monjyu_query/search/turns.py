"""What of a conversation a follow-up is written out from, and the marks that both languages share."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_CONTEXT = 6
"""Terms of the conversation that a follow-up is given, where no single name stands for it."""
NEW_SUBJECT = re.compile(
    r"^\W*(another|a new|a different|an unrelated|next|new) (question|topic|subject|matter)\b"
    r"|^\W*(changing|switching|on an)|\bunrelated\b|^\W*(by the way|something else)"
    r"|^\W*(ところで|話は変わ|別の質問|別件|話題を変え|さて)",
    re.IGNORECASE,
)
"""A question that says itself that it is of something else."""
BRACKET = re.compile(r" ?[(（]([^()（）]*)[)）]$")
"""What a follow-up was given where no single name stood for what it points to."""


@dataclass(frozen=True)
class Talk:
    """The question before, written out, its answer, and the last question that took nothing in brackets."""

    before: str = ""
    answer: str = ""
    whole: str = ""
