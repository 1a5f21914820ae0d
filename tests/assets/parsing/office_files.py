"""Office files for tests: written by python-docx and python-pptx, or part by part."""

from __future__ import annotations

import zipfile
from pathlib import Path

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
NAMESPACES = f'xmlns:w="{W}" xmlns:r="{R}" xmlns:m="{M}" xmlns:mc="{MC}"'


def write_zip(path: Path, parts: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def relationships(*items: tuple[str, str, str], mode: str = "") -> str:
    """Relationships as (id, kind, target)."""
    lines = [f'<Relationship Id="{i}" Type="{R}/{kind}" Target="{target}" {mode}/>' for i, kind, target in items]
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(lines)}</Relationships>'


def content_types(main: str = f"{_WORD}.document.main+xml", name: str = "/word/document.xml") -> str:
    return (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="{name}" ContentType="{main}"/></Types>'
    )


def docx_parts(body: str, *, styles: str = "", head: str = "", **parts: str) -> dict[str, str | bytes]:
    """A Word document with this body; `parts` are other parts of the folder `word`, related by their names."""
    if styles:
        parts["styles"] = f'<w:styles xmlns:w="{W}">{styles}</w:styles>'
    related = [(f"rId{n}", name, f"{name}.xml") for n, name in enumerate(parts, 1)]
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": content_types(),
        "_rels/.rels": relationships(("rId1", "officeDocument", "word/document.xml")),
        "word/document.xml": f"{head}<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relationships(*related),
    }
    return files | {f"word/{name}.xml": content for name, content in parts.items()}


def write_docx(path: Path, body: str, *, styles: str = "", head: str = "", **parts: str) -> Path:
    return write_zip(path, docx_parts(body, styles=styles, head=head, **parts))


def paragraph(text: str, style: str = "", properties: str = "", run: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def style(style_id: str, name: str, properties: str = "", based_on: str = "") -> str:
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return f'<w:style w:type="paragraph" w:styleId="{style_id}"><w:name w:val="{name}"/>{base}{properties}</w:style>'
