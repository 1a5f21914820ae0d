"""Office files are ZIP archives. What is no XML (pictures, fonts, embedded files, archives) is never unpacked."""

from __future__ import annotations

from pathlib import Path

from monjyu_assets.parsing.archives.zip_members import zip_members
from monjyu_core.errors import EmptyDocument, EncryptedDocument, MalformedDocument
from monjyu_core.settings.papers_settings import ParseSettings

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_KNOWN = {
    b"%PDF-": "a PDF",
    b"{\\rtf": "an RTF",
    b"\xff\xd8\xff": "a JPEG",
    b"\x89PNG": "a PNG",
    b"<": "an XML or HTML",
}
_REPAIR = "Open and save it again in Office."


def xml_parts(path: Path, settings: ParseSettings) -> dict[str, bytes]:
    """The XML parts of an Office file by name, unpacked within the limits.

    Raises EmptyDocument, EncryptedDocument, MalformedDocument (no ZIP, truncated, damaged) or DocumentTooLarge.
    """
    data = path.read_bytes()
    _check_kind(data)
    parts = zip_members(data, settings, lambda name: name.lower().endswith((".xml", ".rels")), _REPAIR)
    return {name.replace("\\", "/").lstrip("/"): blob for name, blob in parts.items()}


def _check_kind(data: bytes) -> None:
    if not data.strip(b"\x00"):
        raise EmptyDocument("The file is empty.", "Replace it.")
    if data.startswith(_OLE):
        if _ENCRYPTED_PACKAGE in data:
            raise EncryptedDocument("The file needs a password.", "Save a copy without one.")
        raise MalformedDocument("This is an old Office file under a new name.", "Save it as .docx or .pptx.")
    if data.startswith(b"PK"):
        return
    kind = next((name for magic, name in _KNOWN.items() if data.lstrip()[:8].startswith(magic)), None)
    if kind:
        raise MalformedDocument(f"This is {kind} file under an Office name.", "Give it its right extension.")
    raise MalformedDocument("This is no Office file.", "Save it again as .docx or .pptx.")
