"""Text that may stand in XML 1.0: papers hold control characters, which no escape makes legal there."""

from __future__ import annotations

import re

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str | None) -> str:
    """The text with a space in the place of each character that XML cannot hold."""
    return _NOT_XML.sub(" ", text or "")
