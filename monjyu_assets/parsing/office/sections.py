"""Sections from a stream of headings, paragraphs, captions and tables."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from monjyu_assets.parsing.bibliography.citations import link_citations
from monjyu_assets.parsing.text.author_block import CAPTION
from monjyu_assets.parsing.text.common import Entry, complete, join_lines
from monjyu_assets.parsing.text.decoding import clean
from monjyu_assets.parsing.text.front_lines import settle_front, without_label
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_assets.parsing.text.line_ends import Words
from monjyu_assets.parsing.text.outline import entries_of
from monjyu_assets.parsing.text.text_marks import Places, take_marks
from monjyu_core.errors import DocumentTimeout, MalformedDocument, UnsupportedDocument
from monjyu_core.paper import Figure, ParsedPaper, Section, Table
from monjyu_core.settings.papers import ParseSettings


class SectionBuilder:
    """Takes a document's pieces in reading order. `page` is None where the source has no pages."""

    def __init__(self) -> None:
        self.sections = [Section(heading="")]
        self.entries: list[Entry] = []
        self.tables: list[Table] = []
        self.figures: list[Figure] = []
        self._paragraphs: list[list[str]] = [[]]
        self._waiting_caption: str | None = None
        self._last_was_table = False

    def heading(self, text: str, level: int, page: int | None = None) -> None:
        text = " ".join(_clean(take_marks(text)[0]).split())
        last = self.sections[-1]
        self._last_was_table = False
        if not text:
            return
        if last.heading == text and last.level == level and (page is not None or not self._paragraphs[-1]):
            self._reach(page)  # printed twice, or a slide that goes on with the one before it
            return
        kind = section_type(text)
        self.sections.append(Section(heading=text, level=level, section_type=kind, page_start=page, page_end=page))
        self._paragraphs.append([])

    def paragraph(self, text: str, page: int | None = None) -> None:
        text = join_lines(_clean(text).split("\n"))
        if not text:
            return
        self._last_was_table = False
        self._reach(page)
        if self.sections[-1].section_type == "references":
            self.entries += entries_of([take_marks(text)[0]], Words([]))
        self._paragraphs[-1].append(text)

    def table(self, rows: Sequence[Sequence[str]], page: int | None = None) -> None:
        """The first row holds the headers."""
        cells = [[take_marks(_clean(cell))[0] for cell in row] for row in rows if any(cell.strip() for cell in row)]
        if not cells:
            return
        self._reach(page)
        caption, self._waiting_caption = self._waiting_caption, None
        self.tables.append(Table(page=page, caption=caption, headers=cells[0], rows=cells[1:]))
        self._last_was_table = caption is None

    def caption(self, text: str, page: int | None = None) -> None:
        """A table's caption stands above it, else below; any other caption belongs to a figure."""
        text = " ".join(take_marks(_clean(text))[0].split())
        match = CAPTION.match(text)
        if match and match["table"]:
            if self._last_was_table:
                self.tables[-1].caption, self._last_was_table = text, False
            else:
                self._waiting_caption = text
        elif text:
            self.figures.append(Figure(page=page, caption=text))

    def finish(self, paper: ParsedPaper) -> ParsedPaper:
        """Fill the paper with what was gathered. Raises EmptyDocument where there is no text."""
        lowest = min((section.level for section in self.sections if section.heading), default=1)
        for section, paragraphs in zip(self.sections, self._paragraphs, strict=True):
            section.text = "\n\n".join(paragraphs)
            section.level = max(1, section.level - lowest + 1)
            if section.section_type == "abstract":
                section.text = without_label(section.text)
        paper.sections = [section for section in self.sections if section.heading or section.text]
        paper.tables, paper.figures = self.tables, self.figures
        settle_front(paper)
        raised: dict[int, Places] = {}
        for section in paper.sections:
            section.text, raised[id(section)] = take_marks(section.text)
        complete(paper, self.entries)
        body = [section for section in paper.sections if section.section_type != "references"]
        if any(raised.values()):
            places = [raised.get(id(section), []) for section in body]
            paper.inline_citations = link_citations(body, paper.references, lambda index: places[index])
        return paper

    def _reach(self, page: int | None) -> None:
        section = self.sections[-1]
        section.page_start = section.page_start or page
        section.page_end = page or section.page_end


def _clean(text: str) -> str:
    return clean(text).replace("\t", " ")


# Word and PowerPoint files of before 2007, converted by an installed LibreOffice. Runs inside a parser process.


NEWER = {"doc": "docx", "ppt": "pptx"}
"""What a type is converted into."""
_MAGIC = (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", rb"{\rtf")
"""LibreOffice opens a file by its content: a web page under another name would be a web page to it."""
_WALL = 4
"""By the clock a conversion may take this many times its CPU time."""
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableMacrosExecution"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableActiveContent"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="BlockUntrustedRefererLinks"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings"><prop oor:name="ooInetProxyType"><value>2</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings">
<prop oor:name="ooInetHTTPProxyName"><value>127.0.0.1</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings"><prop oor:name="ooInetHTTPProxyPort"><value>9</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings">
<prop oor:name="ooInetHTTPSProxyName"><value>127.0.0.1</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings"><prop oor:name="ooInetHTTPSProxyPort"><value>9</value></prop></item>
<item oor:path="/org.openoffice.Inet/Settings"><prop oor:name="ooInetNoProxy"><value></value></prop></item>
</oor:items>
"""
"""No macros, no links followed, and a proxy at which nothing listens for what would ask the network all the same."""


@cache
def office_program() -> str | None:
    """The command of LibreOffice, where it is installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


@contextmanager
def converted(path: Path, document_type: str, settings: ParseSettings) -> Iterator[Path]:
    """The file as .docx or .pptx, as long as the block. Raises MalformedDocument, DocumentTimeout or
    UnsupportedDocument."""
    program, ending = office_program(), NEWER[document_type]
    if program is None:
        raise UnsupportedDocument("LibreOffice is not installed.", f"Install it, or save the file as .{ending}.")
    with path.open("rb") as file:
        if not file.read(8).startswith(_MAGIC):
            raise MalformedDocument(f"The file is no .{document_type} file.", "It is damaged or of another type.")
    with tempfile.TemporaryDirectory(prefix="monjyu-office-") as name:
        folder = Path(name)
        profile = folder / "profile" / "user"
        profile.mkdir(parents=True)
        (profile / "registrymodifications.xcu").write_text(_PROFILE, encoding="utf-8")
        source = folder / f"paper.{document_type}"
        shutil.copyfile(path, source)
        profile_place = f"-env:UserInstallation={profile.parent.as_uri()}"
        asked = ["--convert-to", ending, "--outdir", str(folder / "out"), str(source)]
        _run([program, "--headless", "--norestore", "--nolockcheck", profile_place, *asked], folder, settings)
        made = folder / "out" / f"paper.{ending}"
        if not made.is_file():
            raise MalformedDocument("LibreOffice could not read the file.", f"Save it as .{ending}.")
        yield made


def _run(command: list[str], folder: Path, settings: ParseSettings) -> None:
    """The command with limits of CPU time, memory and file size, in a group of processes that ends with it."""

    def limit() -> None:
        seconds = int(settings.timeout_seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_FSIZE, (settings.max_file_mb << 20,) * 2)
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
        preexec_fn=limit,
    )
    try:
        process.wait(_WALL * settings.timeout_seconds)
    except subprocess.TimeoutExpired:
        raise DocumentTimeout("LibreOffice took too long.", "See parse.timeout_seconds.") from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
