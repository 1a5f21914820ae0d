"""Reads a draft of any format into citing sentences, each with its claim and its cited works."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from monjyu_core.errors import QueryError
from monjyu_core.text.language import detect_language
from monjyu_core.text.sentences import split_sentences
from monjyu_query.answers.verification.exact_facts import Words
from monjyu_query.drafts.citation_marks import arxiv_in, doi_in, mark_text, year_in
from monjyu_query.drafts.cited_works import is_heading, plain, works_of_list
from monjyu_query.drafts.pages import CLOSE, MARK, OPEN, Mark, Pages, Wanted, Work, Works, without_marks
from monjyu_query.drafts.word_xml import MOST_BYTES, read_word

# LaTeX: paragraphs with marks for the `\cite` commands. Nothing that it names is opened.
LONGEST_PARAGRAPH = 20_000
"""The maximum number of characters passed to pylatexenc; in a longer paragraph only the commands are removed."""
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.S)
_LEFT_OUT = ("verbatim", "lstlisting", "minted", r"equation\*?", r"align\*?", "tikzpicture", "comment", "tabular")
_LIST = re.compile(r"\\begin\s*\{thebibliography\}(.*?)(?:\\end\s*\{thebibliography\}|\Z)", re.S)
_ITEM = re.compile(r"\\bibitem\s*(?:\[[^\]]{0,300}\])?\s*\{([^{}]{1,200})\}")
_CITE = re.compile(
    r"~?\\([a-zA-Z]{0,12}[cC]ite[a-zA-Z]{0,12}\*?)\s?((?:\[[^\[\]]{0,200}\]\s?){0,2})\{([^{}]{0,2000})\}"
)
_SPOKEN = ("citet", "textcite", "citealt", "citeauthor", "onlinecite")
_PARTS = re.compile(
    r"\n\s*\n|\\(?:sub){0,2}(?:section|paragraph|chapter)\*?\s*\{[^{}]{0,500}\}|\\item\b|\\caption\b|\\par\b"
)


def read_latex(text: str, pages: Pages) -> None:
    r"""Fill `pages` from the document's own text, including the works of `\\bibitem`s."""
    text = _COMMENT.sub("", text)
    for item in _LIST.finditer(text):
        _listed(item[1], pages)
    body = _BODY.search(text)
    text = _LIST.sub("\n\n", body[1] if body else text)
    for name in _LEFT_OUT:
        text = re.sub(rf"\\begin\s*\{{{name}\}}.*?(?:\\end\s*\{{{name}\}}|\Z)", " ", text, flags=re.S)
    text = _CITE.sub(lambda found: _latex_cited(found, pages), text)
    for part in _PARTS.split(text):
        if MARK.search(part) or "(" in part or "http" in part:
            pages.texts.append(mark_text(" ".join(_plain(part).split()), pages))


def _listed(text: str, pages: Pages) -> None:
    pieces = _ITEM.split(text)
    for number, (key, entry) in enumerate(zip(pieces[1::2], pieces[2::2], strict=True), start=1):
        raw = plain(entry)[:2000]
        work = Work(year=year_in(raw), doi=doi_in(entry), arxiv_id=arxiv_in(entry), raw=raw, label=str(number))
        pages.works.by_key.setdefault(key.strip(), work)


def _latex_cited(found: re.Match[str], pages: Pages) -> str:
    command = found[1].casefold().rstrip("*")
    if command == "nocite":
        return ""
    keys = [key.strip() for key in found[3].split(",") if key.strip()]
    spoken = command.startswith(_SPOKEN)
    mark = pages.mark(found[0].lstrip("~"), [Wanted(key=key) for key in keys], spoken=spoken)
    return f" {mark}" if keys else ""


def _plain(latex: str) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    if len(latex) > LONGEST_PARAGRAPH:
        return plain(latex)
    try:
        return str(LatexNodes2Text(math_mode="text").latex_to_text(latex, tolerant_parsing=True))
    except Exception:  # it is not documented what its parser raises for hostile text
        return plain(latex)


# Markdown and plain text: paragraphs with marks, and the list of references that ends them.
_FRONT = re.compile(r"\A---\s*\n.*?\n(?:---|\.\.\.)\s*\n", re.S)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_MARKDOWN_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s")
_UNDERLINE = re.compile(r"^ {0,3}(?:=+|-{3,})\s*$")
_MARKDOWN_ITEM = re.compile(r"^\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s+")
_NOTE = re.compile(r"^ {0,3}\[(?:\^?[\w-]{1,30})\]:\s+")
_ENTRY = re.compile(r"^\s{0,8}(?:[-*+•]\s+|\[\^?\w{1,12}\]:?\s+|\(?\d{1,4}[.)]\s+)")
_BULLET = re.compile(r"^\s*[-*+•]\s+")
_EMPHASIS = re.compile(r"\*+|`+|(?<!\w)_+|_+(?!\w)")


def read_markdown(text: str, pages: Pages) -> None:
    """Fill `pages` with paragraphs and references; code, comments, headings and HTML tags are left out."""
    listed: list[str] = []
    for lines, of_list in _paragraphs(_MARKDOWN_COMMENT.sub("", _FRONT.sub("", text))):
        if of_list:
            listed.append(_BULLET.sub("", " ".join(lines)))
        else:
            plain = _EMPHASIS.sub("", _TAG.sub("", " ".join(line.strip() for line in lines)))
            pages.texts.append(mark_text(_MARKDOWN_ITEM.sub("", plain), pages))
    pages.works.listed += works_of_list(_EMPHASIS.sub("", _TAG.sub("", entry)) for entry in listed)


def _paragraphs(text: str) -> list[tuple[list[str], bool]]:
    """The lines of each paragraph, item or entry, and whether it is an entry of the list of references."""
    found: list[tuple[list[str], bool]] = []
    open_lines: list[str] = []
    fence, in_list = "", False

    def close() -> None:
        if open_lines:
            found.append((list(open_lines), in_list))
            open_lines.clear()

    for line in text.splitlines():
        line = line.lstrip("> ") if line.startswith(">") else line
        fenced = _FENCE.match(line)
        if fence or fenced:
            close()
            if fenced:
                fence = "" if fence and fenced[1].startswith(fence) else fence or fenced[1]
        elif _HEADING.match(line) or is_heading(line):
            close()
            in_list = is_heading(line)
        elif _UNDERLINE.match(line):
            heading = open_lines[-1] if len(open_lines) == 1 else ""
            if heading:
                open_lines.clear()
                in_list = is_heading(heading)
        elif not line.strip():
            close()
        elif _NOTE.match(line):
            close()
            found.append(([line], True))
        else:
            if (_ENTRY if in_list else _MARKDOWN_ITEM).match(line):
                close()
            open_lines.append(line)
    close()
    return found


Format = Literal["markdown", "latex", "docx", "text"]
FORMATS: dict[str, Format] = {
    ".md": "markdown", ".markdown": "markdown", ".tex": "latex", ".docx": "docx", ".txt": "text"
}  # fmt: skip
"""The formats by file name extension."""
MOST_CHARACTERS = 2_000_000
LONGEST_SENTENCE = 2_000
FEWEST_WORDS = 4
"""The minimum number of content words of a part of a sentence that counts as a separate claim."""
_ONE = f"{OPEN}\\d+{CLOSE}"
_BEHIND = re.compile(rf"([.!?。]+)(\s?)((?:{_ONE}[\s,;]{{0,2}})+)(?=\s+[^\Wa-z\d_]|\s*$)")
_STOP_BEHIND = re.compile(f"(?<={CLOSE}\\.)\\s+(?=[a-z])")
_GROUPS = re.compile(rf"{_ONE}(?:[\s,;()\[\]]*{_ONE})*")
_LOOSE = re.compile(r"[(\[](?:\s*(?:see|see also|cf\.|e\.g\.))?\s*[,;]?\s*[)\]]|\s+(?=[,.;:!?)])")
_LEADING = re.compile(r"^(?:according to|as shown (?:by|in)|following|see|in|by)?[\s,;:.]+", re.I)


@dataclass(frozen=True)
class Cited:
    """One citation mark of a sentence with the claim that the draft attributes to its works."""

    mark: Mark
    claim: str


@dataclass(frozen=True)
class CitingSentence:
    """A sentence of a draft with citations. `number` counts such sentences from 1; `text` is as written, `before` the
    previous sentence."""

    number: int
    text: str
    before: str
    cited: tuple[Cited, ...]


@dataclass(frozen=True)
class Draft:
    sentences: list[CitingSentence]
    works: Works
    warnings: list[str]


def read_draft(content: str | bytes, kind: Format) -> Draft:
    """Read a draft. Raises QueryError if it is too large or not in the format."""
    pages = Pages()
    if isinstance(content, bytes) and len(content) > MOST_BYTES:
        raise QueryError(f"A draft has at most {MOST_BYTES >> 20} MiB.", "Split it.")
    if kind == "docx":
        if isinstance(content, str):
            raise QueryError("A Word file is bytes, not text.", "Pass the bytes of the file.")
        read_word(content, pages)
    else:
        text = content.decode("utf-8-sig", "replace") if isinstance(content, bytes) else content
        if len(text) > MOST_CHARACTERS:
            raise QueryError(f"A draft has at most {MOST_CHARACTERS:,} characters.", "Check it chapter by chapter.")
        (read_latex if kind == "latex" else read_markdown)(without_marks(text), pages)
    sentences = [CitingSentence(number, *one) for number, one in enumerate(_citing(pages), start=1)]
    return Draft(sentences, pages.works, pages.warnings)


def _citing(pages: Pages) -> Iterator[tuple[str, str, tuple[Cited, ...]]]:
    for text in pages.texts:
        if not MARK.search(text):
            continue
        text = _BEHIND.sub(lambda found: _before_stop(found, pages.marks), text)
        before = ""
        for sentence in _sentences(text):
            if MARK.search(sentence):
                cited = tuple(_cited(sentence[: 2 * LONGEST_SENTENCE], pages.marks))
                yield _shown(sentence, pages.marks)[:LONGEST_SENTENCE], before, cited
            before = _without_marks(sentence)[:LONGEST_SENTENCE]


def _sentences(text: str) -> Iterator[str]:
    """Sentences of a text. A stop after a citation ends a sentence even if the next begins with a small letter:
    "(Smith, 2020). nbgrader …"."""
    for start, end in split_sentences(text, detect_language(text)):
        yield from _STOP_BEHIND.split(text[start:end])


def _before_stop(found: re.Match[str], marks: Sequence[Mark]) -> str:
    """Move a citation after a stop before it, because it belongs to that sentence unless it begins the next one."""
    if any(marks[int(number)].spoken for number in MARK.findall(found[3])):
        return found[0]
    return f" {found[3].rstrip()}{found[1]}"


def _cited(sentence: str, marks: Sequence[Mark]) -> Iterator[Cited]:
    """Each mark with the part of the sentence before its group (after it if it is spoken); with the whole sentence if
    there is one group, or the part says too little."""
    groups = list(_GROUPS.finditer(sentence))
    whole = _without_marks(sentence)
    for place, group in enumerate(groups):
        numbers = [int(number) for number in MARK.findall(group[0])]
        first = marks[numbers[0]]
        before = groups[place - 1].end() if place else 0
        after = groups[place + 1].start() if place + 1 < len(groups) else len(sentence)
        part = _without_marks(sentence[group.end() : after] if first.spoken else sentence[before : group.start()])
        claim = part if len(groups) > 1 and len(Words(part).content) >= FEWEST_WORDS else whole
        for number in dict.fromkeys(numbers):
            yield Cited(marks[number], claim[:LONGEST_SENTENCE])


def _without_marks(text: str) -> str:
    """The text without its citation marks and the brackets and punctuation that they leave."""
    text = " ".join(_LOOSE.sub("", MARK.sub(" ", text)).split())
    return _LEADING.sub("", _LOOSE.sub("", text)).strip()


def _shown(text: str, marks: Sequence[Mark]) -> str:
    return " ".join(MARK.sub(lambda found: marks[int(found[1])].text, text).split())
