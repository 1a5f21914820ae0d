"""Walks through a source: finds its papers, and why other files are not papers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from monjyu_assets.parsing.archive_members import holds_latex
from monjyu_assets.parsing.bibliography.companions import is_main
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_NAME
from monjyu_assets.parsing.office.older_formats import office_program
from monjyu_assets.sources.records import analysed_types, chosen
from monjyu_core.errors import IndexBuildError
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.collection import SourceRules
from monjyu_core.storage.folders import OtherFiles

LATEX_ARCHIVES = (".gz", ".tgz", ".tar", ".zip")
"""The suffixes of archives that are documents if they contain LaTeX."""
DOCUMENT_TYPES = {
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".xml": "xml",
    ".nxml": "xml",
    ".tex": "latex",
    ".md": "md",
    ".txt": "txt",
    ".jsonl": "jsonl",
    **dict.fromkeys(LATEX_ARCHIVES, "latex"),
}
IMAGE_TYPES = dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".heif"), "image")
"""The suffixes of images of pages, which are documents only if a service reads them."""
OLDER_TYPES = {".doc": "doc", ".ppt": "ppt"}
"""The suffixes of formats that are documents only if LibreOffice is installed to convert them."""
ALL_TYPES = DOCUMENT_TYPES | IMAGE_TYPES | OLDER_TYPES
_PICTURES = {".png", ".jpg", ".jpeg", ".jpe", ".tif", ".tiff", ".gif", ".bmp", ".webp", ".heic", ".jp2"} | {
    ".svg",
    ".eps",
}
_TABLES = {".csv", ".tsv", ".xls", ".xlsx", ".xlsm", ".ods", ".parquet", ".dat", ".sav", ".json", ".yaml", ".yml"}
_ARCHIVES = {".bz2", ".xz", ".7z", ".rar", ".zst"}
_SOUNDS = {".mp3", ".wav", ".m4a", ".ogg", ".mp4", ".mov", ".avi", ".mkv", ".webm"}
_WAYS = {
    **dict.fromkeys((".docm", ".dot", ".dotx", ".odt", ".rtf", ".wpd", ".wps", ".pages"), "Save it as .docx."),
    **dict.fromkeys((".pps", ".pptm", ".ppsx", ".potx", ".odp", ".key"), "Save it as .pptx."),
    **dict.fromkeys((".markdown", ".mdown", ".mkd"), "Rename it to .md."),
    **dict.fromkeys((".rst", ".org", ".adoc", ".asciidoc", ".textile", ".rmd", ".qmd", ".ipynb"), "Export it as .md."),
    **dict.fromkeys((".text", ".asc"), "Rename it to .txt."),
    **dict.fromkeys((".epub", ".mobi", ".azw", ".azw3", ".fb2"), "Save it as .html or PDF."),
    **dict.fromkeys((".ps", ".dvi", ".djvu", ".xps", ".oxps"), "Make a PDF of it."),
    **dict.fromkeys((".mht", ".mhtml", ".webarchive"), "Save the page as .html."),
    **dict.fromkeys((".shtml", ".php", ".aspx"), "Rename it to .html."),
    **dict.fromkeys(_PICTURES, "Make a PDF of it; the extra `ocr` reads what is scanned."),
    **dict.fromkeys(_ARCHIVES, "Unpack it into the folder."),
    **dict.fromkeys(_TABLES, "Data are not papers; a text about them as .md or .txt is read."),
    **dict.fromkeys(_SOUNDS, "A transcript as .txt is read."),
    ".doc": "Save it as .docx, or install LibreOffice (soffice), which converts it.",
    ".ppt": "Save it as .pptx, or install LibreOffice (soffice), which converts it.",
    ".ltx": "Rename it to .tex.",
    ".latex": "Rename it to .tex.",
    ".ndjson": "Rename it to .jsonl.",
}
"""How to make files of other types readable, by suffix."""
_COMPANIONS = {
    *(".bib", ".bbl", ".bst", ".bbx", ".cbx", ".cls", ".sty", ".clo", ".csl", ".ris", ".enw", ".nbib"),
    *(".aux", ".blg", ".bcf", ".toc", ".lof", ".lot", ".out", ".fls", ".fdb_latexmk", ".synctex", ".nav", ".snm"),
}
_BESIDE_LATEX = _PICTURES | {".dat", ".csv", ".log", ".tikz", ".pgf", ".pdf_tex", ".asy", ".gz", ".run", ".def", ".cfg"}
_BESIDE_PAGES = _PICTURES | {".css", ".js", ".woff", ".woff2", ".ttf", ".ico"}
_SYSTEM = re.compile(
    r"(?i)thumbs\.db|ehthumbs\.db|desktop\.ini|icon\r|~\$.*|~.*\.tmp|.*\.(?:tmp|temp|part|crdownload|download|swp|lnk)"
    r"|.*~|__macosx|\$recycle\.bin|system volume information|@eadir|lost\+found|__pycache__|node_modules"
)


def readable_types(settings: Settings) -> dict[str, str]:
    """Document types by suffix, for the files that can be read with `settings`."""
    images = IMAGE_TYPES if "image" in analysed_types(settings) else {}
    return DOCUMENT_TYPES | images | (OLDER_TYPES if office_program() else {})


def ending_of(path: Path) -> str:
    """The suffix that indicates a file's type. A source package of arXiv may be named by its id alone."""
    return ".gz" if ARXIV_NAME.fullmatch(path.name) else path.suffix.lower()


def way_for(path: Path) -> str:
    """A message that a file's type cannot be read, and how to make the file readable."""
    ending = path.suffix.lower()
    if ending in LATEX_ARCHIVES:
        return f"{ending} files are read only if they contain a paper in LaTeX. Unpack it into the folder."
    if not ending:
        return "A file without an ending is not read. Give it the ending of its type, such as .txt."
    known = f"Known types: {' '.join(DOCUMENT_TYPES)}."
    return f"{ending[:20]} files are not read. {_WAYS.get(ending, known)}"


def types_hint(others: OtherFiles) -> str:
    """A hint that names the known types, and the number and an example of the other files of a source."""
    sentences = [f"Known types: {' '.join(DOCUMENT_TYPES)}."]
    if others.unsupported:
        first = others.unsupported[0]
        sentences.append(f"{others.unsupported_count} of other types, such as {first.source_path}: {first.message}")
    return " ".join(sentences)


def walk(source: Path, rules: SourceRules, others: OtherFiles, types: Mapping[str, str]) -> Iterator[Path]:
    """Yield the papers of a source, which are files with a suffix in `types`, folder by folder. Other files are added
    to `others`. Raises IndexBuildError if the source cannot be read. Links out of the source are not followed."""
    if source.is_file():
        yield source
        return
    if not source.is_dir():
        raise IndexBuildError(f"Source {source} cannot be read.", "Restore it.")
    waiting = [_Folder(source)]
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(folder.path), key=lambda entry: entry.name)
        except OSError as error:
            if folder.path == source:
                raise IndexBuildError(
                    f"Source {source} cannot be read: {error.strerror}.", "Check its permissions."
                ) from error
            others.skip("unreadable", f"{folder.path}/")
            continue
        inside = folder.of(entries)
        below = []
        for entry in entries:
            path = Path(entry.path)
            ending = ending_of(path)
            if not _written_in_utf8(entry.name):
                others.add(_shown(entry.path), "Its name is not UTF-8. Rename it.")
            elif reason := _passed_over(entry, path, source, rules):
                others.skip(reason, f"{path}/" if entry.is_dir(follow_symlinks=False) else str(path))
            elif entry.is_dir(follow_symlinks=False):
                below.append(inside.child(path))
            elif inside.of_page or (ending in IMAGE_TYPES and inside.belongs(path)):
                others.skip("companion", str(path))
            elif ending not in types or (ending in LATEX_ARCHIVES and not holds_latex(path)):
                if inside.belongs(path):
                    others.skip("companion", str(path))
                else:
                    others.add(str(path), way_for(path))
            elif ending == ".tex" and not is_main(path):
                others.skip("part", str(path))
            else:
                yield path
        waiting.extend(reversed(below))


class _Folder:
    """A visited folder, with the kinds of papers in it and in the folders above it."""

    def __init__(self, path: Path, *, latex: bool = False, text: bool = False, of_page: bool = False) -> None:
        self.path = path
        self.latex = latex
        self.text = text
        self.of_page = of_page
        self.stems: set[str] = set()
        self.pages: set[str] = set()

    def of(self, entries: list[os.DirEntry[str]]) -> _Folder:
        """Update the folder's kinds of papers from its files, and return it."""
        for entry in entries:
            stem, _, ending = entry.name.rpartition(".")
            dotted = f".{ending.lower()}"
            document_type = DOCUMENT_TYPES.get(dotted) if stem and dotted not in LATEX_ARCHIVES else None
            self.latex = self.latex or document_type == "latex"
            if document_type in ("md", "latex", "html"):
                self.stems.add(stem)
            if document_type == "html":
                self.pages.add(stem)
        return self

    def child(self, path: Path) -> _Folder:
        """A folder below this one. One named after a page contains the files that a browser saved with the page."""
        saved = re.fullmatch(r"(.+)[_.-](?:files|dateien|fichiers|archivos)", path.name)
        of_page = self.of_page or (saved is not None and saved[1] in self.pages)
        return _Folder(path, latex=self.latex, text=self.text or bool(self.stems), of_page=of_page)

    def belongs(self, path: Path) -> bool:
        """Whether a file of an unreadable type belongs to a paper in this folder or above it."""
        ending = path.suffix.lower()
        if ending in _COMPANIONS or (self.latex and ending in _BESIDE_LATEX):
            return True
        if self.text and ending in _BESIDE_PAGES:  # pictures in a folder below a Markdown paper or a page
            return True
        return ending == ".json" and path.stem in self.stems  # a bibliography named after its paper


def _written_in_utf8(name: str) -> bool:
    """Whether a name is valid UTF-8: old archives have others, which Parquet and JSON cannot represent."""
    return name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name)


def _shown(path: str) -> str:
    r"""A path in which bytes that are not UTF-8 are written as `\xe9`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _passed_over(entry: os.DirEntry[str], path: Path, source: Path, rules: SourceRules) -> str | None:
    """The reason why the walk skips a file or a whole folder, which is its name, its type or the patterns; or None."""
    name = entry.name
    if name.startswith("."):
        return "hidden"
    if _SYSTEM.fullmatch(name):
        return "system"
    if entry.is_dir(follow_symlinks=False):
        return None
    if entry.is_symlink() and (not path.is_file() or not path.resolve().is_relative_to(source.resolve())):
        return "link"
    if not entry.is_file():
        return "special"
    if name == "collection.yaml" and path.parent == source:
        return "settings"
    if not (rules.include or rules.exclude):
        return None
    return None if chosen(path.relative_to(source).as_posix(), rules) else "patterns"
