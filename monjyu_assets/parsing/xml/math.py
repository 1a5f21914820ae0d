"""Formulas inside XML: TeX without the document around it, MathML as characters on one line."""

from __future__ import annotations

import re

from monjyu_assets.parsing.bibliography.bibtex import plain_of_latex
from monjyu_assets.parsing.xml.tree import Element, XmlText, folded, plain

_LONGEST = 50_000
_BODY = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_DOLLARS = re.compile(r"(?s)\s*(\$\$?|\\\[|\\\()(?P<inner>.*?)(\$\$?|\\\]|\\\))\s*")
_ENVIRONMENT = re.compile(
    r"(?s)\s*\\begin\{(equation|displaymath|math|gather|align|eqnarray|multline)(\*?)\}"
    r"(?P<inner>.*)\\end\{\1\2\}\s*"
)


def tex_of(text: str) -> str:
    """The formula itself of a `tex-math` element, which often holds a whole document."""
    text = text[:_LONGEST]
    body = _BODY.search(text)
    inner = body[1] if body else text
    if match := _DOLLARS.fullmatch(inner) or _ENVIRONMENT.fullmatch(inner):
        inner = match["inner"]
    return " ".join(inner.replace("\\displaystyle", "").split())


def math_text(element: Element) -> str:
    """The characters of MathML in reading order: `x^2`, `x_i`, `(a)/(b)`, `sqrt(x)`."""
    return " ".join(_walk(element).split())


def _walk(element: Element) -> str:
    if not isinstance(element.tag, str) or element.tag in ("annotation", "annotation-xml"):
        return ""
    children = [child for child in element if isinstance(child.tag, str)]
    parts = [_walk(child) for child in children]
    match element.tag, len(parts):
        case "mi" | "mn" | "mtext" | "ms" | "ci" | "cn", _:
            return folded(element.text).strip() + "".join(parts)
        case "mo", _:
            sign = folded(element.text).strip()
            return f" {sign} " if re.fullmatch(r"[=<>+\u2212\u2208\u2264\u2265\u2248\u2192-]", sign) else sign
        case "mfrac", 2:
            return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
        case "msup" | "mover", 2:
            return f"{parts[0]}^{_grouped(parts[1])}"
        case "msub" | "munder", 2:
            return f"{parts[0]}_{_grouped(parts[1])}"
        case "msubsup" | "munderover", 3:
            return f"{parts[0]}_{_grouped(parts[1])}^{_grouped(parts[2])}"
        case "msqrt", _:
            return f"sqrt({' '.join(''.join(parts).split())})"
        case "mspace", _:
            return " "
        case _:
            return "".join(parts)


def _grouped(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) == 1 or re.fullmatch(r"\d+", text) else f"({text})"


def _readable(element: Element) -> str:
    """A formula as a title prints it: its letters, not their names."""
    math = element if element.tag == "math" else element.find(".//math")
    if math is not None:
        return math_text(math)
    tex = element if element.tag == "tex-math" else element.find(".//tex-math")
    return plain_of_latex(tex_of(plain(tex))) if tex is not None else TITLE_TEXT.inner(element)


TITLE_TEXT = XmlText(
    frozenset({"break", "lb"}),
    frozenset({"fn", "xref", "note", "label"}),
    dict.fromkeys(("math", "tex-math", "alternatives", "inline-formula", "disp-formula"), _readable),
)
"""Titles without the marks of their footnotes: only raised letters matter."""
