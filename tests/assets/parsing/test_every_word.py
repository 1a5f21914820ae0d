"""No text disappears: every word of a document stands in one field of its paper, in every format."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from monjyu_assets.parsing.dispatch import parse_document
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.assets.parsing.office_files import paragraph, style, write_docx
from tests.properties import examples, given, st

Block = tuple[str, list[str]]
"""A kind and its texts: "heading", "paragraph", "list", "quote", "table" (two columns), "code"."""
Made = dict[str, Callable[[list[str]], str]]
_SYLLABLES = ["ba", "de", "fo", "gu", "ki", "la", "me", "no", "pu", "ri", "sa", "te", "vo", "zu"]
_KINDS = ("heading", "paragraph", "paragraph", "list", "quote", "table", "code")
TITLE, AUTHOR, ABSTRACT = (
    "Wozumela among the Marshes",
    "Rosa Lindgren",
    "Tezupagi is counted in marshes nobody has asked.",
)


def _word(number: int) -> str:
    """A word of its own for each number; none is in a vocabulary."""
    return "".join(_SYLLABLES[number // len(_SYLLABLES) ** k % len(_SYLLABLES)] for k in range(4)) + "x"


@st.composite
def documents(draw: st.DrawFn) -> list[Block]:
    """Blocks below a first heading; each word stands in the document once."""
    kinds = ["heading", *draw(st.lists(st.sampled_from(_KINDS), min_size=1, max_size=8)), "paragraph"]
    blocks: list[Block] = []
    count = 0
    for kind in kinds:
        texts = []
        for _ in range({"list": 3, "table": 4}.get(kind, 1)):
            length = draw(st.integers(1, 3)) if kind in ("heading", "table") else draw(st.integers(4, 14))
            own = [_word(count + k) for k in range(length)]
            count += length
            text = " ".join(own).capitalize()
            texts.append(text if kind in ("heading", "table", "code") else f"{text}.")
        blocks.append((kind, texts))
    return blocks


def _markdown(blocks: list[Block]) -> str:
    made: Made = {
        "heading": lambda t: f"## {t[0]}", "paragraph": lambda t: t[0], "quote": lambda t: f"> {t[0]}",
        "list": lambda t: "\n".join(f"- {item}" for item in t), "code": lambda t: f"```\n{t[0]}\n```",
        "table": lambda t: f"| {t[0]} | {t[1]} |\n| --- | --- |\n| {t[2]} | {t[3]} |",
    }  # fmt: skip
    return f"# {TITLE}\n\n{AUTHOR}\n\n## Abstract\n\n{ABSTRACT}\n\n" + "\n\n".join(made[k](t) for k, t in blocks)


def _html(blocks: list[Block]) -> str:
    made: Made = {
        "heading": lambda t: f"<h2>{t[0]}</h2>", "paragraph": lambda t: f"<p>{t[0]}</p>",
        "quote": lambda t: f"<blockquote><p>{t[0]}</p></blockquote>", "code": lambda t: f"<pre>{t[0]}</pre>",
        "list": lambda t: f"<ul>{''.join(f'<li>{item}</li>' for item in t)}</ul>",
        "table": lambda t: f"<table><tr><th>{t[0]}</th><th>{t[1]}</th></tr>"
        f"<tr><td>{t[2]}</td><td>{t[3]}</td></tr></table>",
    }  # fmt: skip
    front = f"<h1>{TITLE}</h1><p>{AUTHOR}</p><h2>Abstract</h2><p>{ABSTRACT}</p>"
    return f"<html><body>{front}{''.join(made[kind](texts) for kind, texts in blocks)}</body></html>"


def _latex(blocks: list[Block]) -> str:
    made: Made = {
        "heading": lambda t: f"\\section{{{t[0]}}}", "paragraph": lambda t: t[0],
        "quote": lambda t: f"\\begin{{quote}}{t[0]}\\end{{quote}}",
        "code": lambda t: f"\\begin{{verbatim}}\n{t[0]}\n\\end{{verbatim}}",
        "list": lambda t: "\\begin{itemize}" + "".join(f"\\item {item}\n" for item in t) + "\\end{itemize}",
        "table": lambda t: f"\\begin{{tabular}}{{ll}}{t[0]} & {t[1]} \\\\ {t[2]} & {t[3]}\\end{{tabular}}",
    }  # fmt: skip
    front = f"\\title{{{TITLE}}}\\author{{{AUTHOR}}}"
    body = "\n\n".join(made[kind](texts) for kind, texts in blocks)
    return (
        f"\\documentclass{{article}}{front}\\begin{{document}}\\maketitle\\begin{{abstract}}{ABSTRACT}\\end{{abstract}}\n"
        f"{body}\n\\end{{document}}"
    )


def _jats(blocks: list[Block]) -> str:
    made: Made = {
        "paragraph": lambda t: f"<p>{t[0]}</p>", "quote": lambda t: f"<disp-quote><p>{t[0]}</p></disp-quote>",
        "code": lambda t: f"<preformat>{t[0]}</preformat>",
        "list": lambda t: f"<list>{''.join(f'<list-item><p>{item}</p></list-item>' for item in t)}</list>",
        "table": lambda t: f"<table-wrap><table><tbody><tr><td>{t[0]}</td><td>{t[1]}</td></tr>"
        f"<tr><td>{t[2]}</td><td>{t[3]}</td></tr></tbody></table></table-wrap>",
    }  # fmt: skip
    sections = ""
    for kind, texts in blocks:
        if kind == "heading":
            sections += f"{'</sec>' if sections else ''}<sec><title>{texts[0]}</title>"
        else:
            sections += made[kind](texts)
    given, family = AUTHOR.split()
    return (
        f"<article><front><article-meta><title-group><article-title>{TITLE}</article-title></title-group>"
        f'<contrib-group><contrib contrib-type="author"><name><surname>{family}</surname><given-names>{given}'
        f"</given-names></name></contrib></contrib-group><abstract><p>{ABSTRACT}</p></abstract></article-meta></front>"
        f"<body>{sections}</sec></body></article>"
    )


def _text(blocks: list[Block]) -> str:
    made: Made = {"heading": lambda t: f"\n{t[0].upper()}\n", "list": lambda t: "\n".join(f"- {item}" for item in t)}
    body = "\n\n".join(made.get(kind, " ".join)(texts) for kind, texts in blocks)
    return f"{TITLE}\n\n{AUTHOR}\n\nAbstract\n\n{ABSTRACT}\n\n{body}\n"


def _docx(blocks: list[Block]) -> str:
    def table(texts: list[str]) -> str:
        cells = [f"<w:tc>{paragraph(text)}</w:tc>" for text in texts]
        return f"<w:tbl><w:tr>{cells[0]}{cells[1]}</w:tr><w:tr>{cells[2]}{cells[3]}</w:tr></w:tbl>"

    made: Made = {
        "heading": lambda t: paragraph(t[0], "Heading1"),
        "list": lambda t: "".join(paragraph(item, "", "<w:numPr/>") for item in t),
        "table": table,
    }
    front = paragraph(TITLE, "Title") + paragraph(AUTHOR) + paragraph("Abstract", "Heading1") + paragraph(ABSTRACT)
    return front + "".join(made.get(kind, lambda t: paragraph(t[0]))(texts) for kind, texts in blocks)


def _write(folder: Path, kind: str, blocks: list[Block]) -> Path:
    path = folder / f"paper.{kind}"
    if kind == "docx":
        styles = style("Title", "Title") + style("Heading1", "heading 1", '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>')
        return write_docx(path, _docx(blocks), styles=styles)
    writers = {"md": _markdown, "html": _html, "tex": _latex, "xml": _jats, "txt": _text}
    path.write_text(writers[kind](blocks), "utf-8")
    return path


def _words(paper: ParsedPaper) -> Counter[str]:
    """The words of all fields; the abstract is a section as well."""
    texts = [paper.title, paper.abstract, *(author.name for author in paper.authors), *paper.notes, *paper.keywords]
    for section in paper.sections:
        if section.section_type != "abstract":
            texts += [section.heading, section.text]
    texts += [reference.raw_text for reference in paper.references]
    for table in paper.tables:
        texts += [table.caption or "", *table.headers, *(cell for row in table.rows for cell in row)]
    texts += [figure.caption or "" for figure in paper.figures]
    return Counter(word for text in texts for word in re.findall(r"[^\W\d_]+", text.casefold()))


@pytest.mark.parametrize("kind", ["md", "html", "tex", "xml", "txt", "docx"])
@given(blocks=documents())
@examples(60)
def test_every_word_is_in_one_field(tmp_path_factory: pytest.TempPathFactory, kind: str, blocks: list[Block]) -> None:
    path = _write(tmp_path_factory.mktemp("words"), kind, blocks)
    task = {"path": str(path), "document_type": {"tex": "latex"}.get(kind, kind)}
    found = _words(parse_document(task, ParseSettings()))
    wanted = [word for _, texts in blocks for text in texts for word in re.findall(r"[a-z]+", text.casefold())]
    wanted += ["wozumela", "lindgren", "tezupagi"]
    assert {word: found[word] for word in wanted if found[word] != 1} == {}
