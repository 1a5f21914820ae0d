"""Code shared by the parsers of marked-up and plain text: sentences, keywords and the last steps of a paper."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from monjyu_assets.parsing.bibliography.citations import link_citations
from monjyu_assets.parsing.bibliography.dates import year_of_place
from monjyu_assets.parsing.bibliography.references import parse_entries
from monjyu_assets.parsing.text.heading_types import inherit_types
from monjyu_core.errors import EmptyDocument
from monjyu_core.paper import ParsedPaper, Reference, Section, Sentence
from monjyu_core.text.language import detect_language
from monjyu_core.text.sentences import split_sentences

# Whether a document is an academic paper: a small score over signs for and against it.
_IMRAD = {"introduction", "related_work", "methods", "experiments", "results", "discussion", "conclusion"}
_ENOUGH = 3.0
_SHORT = 400
_WARNING = "not an academic paper: "


def judge(paper: ParsedPaper) -> None:
    """Set `is_academic_paper`; if it is false, a warning lists the missing signs. May be called again."""
    paper.warnings = [warning for warning in paper.warnings if not warning.startswith(_WARNING)]
    signals = list(_signals(paper))
    paper.is_academic_paper = sum(points for points, _ in signals) >= _ENOUGH
    if not paper.is_academic_paper:
        paper.warnings.append(_WARNING + ", ".join(missed for points, missed in signals if missed and points <= 0))


def _signals(paper: ParsedPaper) -> Iterator[tuple[float, str]]:
    """Yield (points, what is missing if there are none) for each sign.

    An abstract, references that the text cites, and sections of the IMRaD scheme weigh most, as few other documents
    have them; a list of links alone (encyclopaedias, manuals) is not enough.
    """
    characters = sum(len(section.text) for section in paper.sections)
    kinds = {section.section_type for section in paper.sections} & _IMRAD
    yield min(2.0, 0.5 + 0.25 * len(paper.references)) if paper.references else 0.0, "no references"
    yield 1.0 if paper.inline_citations else 0.0, "no citations in the text"
    yield 1.5 if paper.abstract.strip() else 0.0, "no abstract"
    yield 1.0 if paper.title.strip() and paper.authors else 0.0, "no author" if paper.title.strip() else "no title"
    yield 0.75 * min(2, len(kinds)), "no sections such as introduction, methods or results"
    yield 1.0 if paper.doi or paper.arxiv_id or paper.pmid else 0.0, ""
    yield 0.5 if paper.keywords or paper.venue else 0.0, ""
    yield -1.0 if characters < _SHORT else 0.0, f"fewer than {_SHORT} characters" if characters < _SHORT else ""


CJK = r"\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff01-\uff60"


@dataclass(frozen=True)
class Entry:
    """One entry of a reference list: its number or label (None if it has none) and its text as printed."""

    label: str | None
    text: str


def fill_sentences(sections: Sequence[Section], language: str) -> None:
    """Set each section's sentences, with character offsets into its text."""
    for section in sections:
        spans = split_sentences(section.text, language)
        section.sentences = [Sentence(start=a, end=b, text=section.text[a:b]) for a, b in spans]


def abstract_of(sections: Sequence[Section]) -> str:
    """Text of the first abstract section with its subsections (structured abstracts)."""
    for index, section in enumerate(sections):
        if section.section_type != "abstract":
            continue
        texts = [section.text]
        for below in sections[index + 1 :]:
            if below.level <= section.level or section.text:
                break
            texts.append(f"{below.heading}: {below.text}")
        return "\n\n".join(text for text in texts if text)
    return ""


_RIGHTS = re.compile(r"\u00a9|copyright|li[cz]en[csz]|creative commons|permission|rights reserved|open[- ]access", re.I)


_RESERVES = re.compile(
    r"\u00a9|rights reserved|permission to (?:make|copy|reproduce|reprint|use)|open[- ]access article\b"
    r"|this (?:article|paper|work|chapter) is (?:licensed|distributed|published|made)",
    re.I,
)


def is_notice(text: str) -> bool:
    """Whether the text says who may copy the paper: it speaks of the paper itself, and words of rights, of at least two
    kinds, are frequent in it. A text whose subject is copyright or open access does not do the first."""
    found = [word.casefold() for word in _RIGHTS.findall(text)]
    return len(set(found)) > 1 and 30 * len(found) >= len(text.split()) and _RESERVES.search(text) is not None


def complete(paper: ParsedPaper, entries: Sequence[Entry], language: str | None = None) -> ParsedPaper:
    """Fill in the fields that are derived from others: year, language, sentences, abstract, references, citations, and
    whether it is an academic paper.

    Raises EmptyDocument if neither the title nor a section has text.
    """
    paper.sections = [section for section in paper.sections if section.heading or section.text.strip()]
    if not any(section.text.strip() for section in paper.sections):
        if not paper.title.strip():
            raise EmptyDocument("The document contains no text.")
        paper.sections = [*paper.sections, Section(heading="", text=paper.title)]
    paper.language = language or _language(paper)
    paper.publication_date = paper.publication_date or year_of_place(paper.doi, paper.venue)
    inherit_types(paper.sections)
    paper.abstract = paper.abstract or abstract_of(paper.sections)
    paper.references = parse_entries(_labels(entries), (entry.text for entry in entries))
    fill_sentences(paper.sections, paper.language)
    body = [section for section in paper.sections if section.section_type != "references"]
    paper.inline_citations = link_citations(body, paper.references)
    judge(paper)
    return paper


def add_references(paper: ParsedPaper, references: Sequence[Reference], heading: str = "References") -> None:
    """Add the reference list as the last section of the paper; the printed heading of the list is used if there is
    one."""
    if not references:
        return
    printed = [s for s in paper.sections if s.section_type == "references" and not s.text.strip() and s.heading]
    if printed:
        heading = printed[-1].heading
        paper.sections = [section for section in paper.sections if section not in printed]
    text = "\n\n".join(reference.raw_text for reference in references)
    paper.sections.append(Section(heading=heading, section_type="references", text=text))


def add_notes(paper: ParsedPaper, notes: Sequence[str]) -> None:
    """Add notes of the title page as a separate section, so that they can be found but do not interrupt the text."""
    text = "\n\n".join(filter(None, notes))
    last = next((s for s in paper.sections if s.heading == "Notes" and s.section_type == "other"), None)
    if text and last is not None:
        last.text = f"{last.text}\n\n{text}".strip()
    elif text:
        paper.sections.append(Section(heading="Notes", text=text))


def _labels(entries: Sequence[Entry]) -> list[str]:
    """The printed numbers if all entries have different ones, otherwise 1, 2, 3."""
    printed = [entry.label for entry in entries]
    if all(printed) and len(set(printed)) == len(printed):
        return [label for label in printed if label]
    return [str(number) for number in range(1, len(entries) + 1)]


def _language(paper: ParsedPaper) -> str:
    body = [section.text for section in paper.sections if section.section_type != "references"]
    return detect_language("\n".join([paper.title, *body]))


def shift_levels(sections: Sequence[Section]) -> None:
    """Shift the levels of sections so that the highest heading has level 1."""
    lowest = min((section.level for section in sections if section.heading), default=1)
    for section in sections:
        section.level = max(1, section.level - lowest + 1)


def language_code(text: str) -> str | None:
    """Return the two letters with which a language tag such as `en-GB` begins, or None."""
    match = re.match(r"[a-z]{2}(?=[-_]|$)", text.strip().lower())
    return match.group() if match else None


def comparable(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return "".join(filter(str.isalnum, text.casefold()))


def join_lines(lines: Sequence[str]) -> str:
    """The lines as one paragraph, joined with a space, or without one between two Japanese or Chinese characters."""
    text = "\n".join(line.strip() for line in lines)
    text = re.sub(rf"(?<=[{CJK}])\n(?=[{CJK}])", "", text)
    return re.sub(r"(?<!\s)\s*\n\s*", " ", text).strip()


def split_keywords(text: str) -> list[str]:
    """Keywords of one line, separated by semicolons, otherwise by commas or middle dots, otherwise by full stops."""
    separators = (r"[;；؛]", r"[,、，،]|\s[·•|]\s", r"(?<=[^\W\d_]{3})\.\s")
    separator = next((each for each in separators if re.search(each, text)), separators[-1])
    return [word for part in re.split(separator, text) if (word := part.strip(" .\t\n"))]
