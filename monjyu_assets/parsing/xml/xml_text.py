"""The text of titles, keywords and captions' lines in XML, where only raised letters and footnotes matter."""

from __future__ import annotations

from monjyu_assets.parsing.xml.xml_tree import XmlText

TITLE_TEXT = XmlText(frozenset({"break", "lb"}), frozenset({"fn", "xref", "note", "label"}), {})
"""Titles without the marks of their footnotes."""
