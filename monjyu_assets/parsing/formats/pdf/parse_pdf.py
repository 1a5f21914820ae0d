"""A PDF file as a ParsedPaper, read locally with pypdfium2."""

from __future__ import annotations

import re
from pathlib import Path

from monjyu_assets.parsing.bibliography.citations import link_citations
from monjyu_assets.parsing.bibliography.references import label_of, parse_reference
from monjyu_assets.parsing.formats.pdf.body.contents import contents_lines
from monjyu_assets.parsing.formats.pdf.body.heading import Heading
from monjyu_assets.parsing.formats.pdf.body.heading_levels import set_levels
from monjyu_assets.parsing.formats.pdf.body.headings import find_headings
from monjyu_assets.parsing.formats.pdf.body.reference_list import (
    ReferenceList,
    entry_text,
    find_reference_list,
    split_entries,
)
from monjyu_assets.parsing.formats.pdf.body.sections import (
    Body,
    MappedSection,
    body_lines,
    build_sections,
    lines_in_images,
)
from monjyu_assets.parsing.formats.pdf.front.authors import find_authors
from monjyu_assets.parsing.formats.pdf.front.dates import find_date
from monjyu_assets.parsing.formats.pdf.front.first_page import find_front, find_identifiers
from monjyu_assets.parsing.formats.pdf.front.names import names_in_line
from monjyu_assets.parsing.formats.pdf.front.people import fill_people
from monjyu_assets.parsing.formats.pdf.front.title import find_title
from monjyu_assets.parsing.formats.pdf.front.title_page import order_title_page, running_heads
from monjyu_assets.parsing.formats.pdf.front.venue import find_published
from monjyu_assets.parsing.formats.pdf.page.captions import find_floats
from monjyu_assets.parsing.formats.pdf.page.equations import find_equations
from monjyu_assets.parsing.formats.pdf.page.footnotes import Footnote, find_footnotes
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.read.reading import read_layout
from monjyu_assets.parsing.text.academic import judge
from monjyu_assets.parsing.text.common import fill_sentences
from monjyu_assets.parsing.text.heading_types import inherit_types
from monjyu_assets.parsing.text.line_ends import Words
from monjyu_core.errors import EmptyDocument
from monjyu_core.paper import ParsedPaper, Reference
from monjyu_core.settings.settings import OcrSettings, ParseSettings
from monjyu_core.text.language import detect_language


def parse_pdf(path: Path, settings: ParseSettings, ocr: OcrSettings | None = None) -> ParsedPaper:
    """Title, authors, abstract, section tree, references, citations and sentence rectangles of a PDF.

    Raises a DocumentError that says what is wrong: EncryptedDocument, EmptyDocument, ScannedDocument,
    MalformedDocument or DocumentTooLarge. `paper_id` and `source_path` are left to the caller.
    """
    layout, warnings = read_layout(path, settings, ocr or OcrSettings())
    if not layout.lines and not layout.asides:
        raise EmptyDocument("The PDF holds no text in a readable direction.")
    paper = _paper(layout, warnings)
    paper.unread_pages = layout.unread_pages
    paper.raw_characters = sum(page.raw_count for page in layout.pages)
    return paper


def _paper(layout: Layout, warnings: list[str]) -> ParsedPaper:
    words = Words(line.text for line in layout.lines)
    contents = contents_lines(layout)
    layout.lines = [line for i, line in enumerate(layout.lines) if i not in contents]
    title, title_start, title_end = find_title(layout, words)
    order_title_page(layout, title_end)
    heads = running_heads(layout, title_end)
    layout.lines = [line for i, line in enumerate(layout.lines) if i not in heads]
    references_at = find_reference_list(layout, title_end)
    stop = references_at.heading if references_at else len(layout.lines)
    ranges = [(title_end, stop)]
    if references_at and references_at.end < len(layout.lines):
        ranges.append((references_at.end, len(layout.lines)))
    headings = [heading for first, last in ranges for heading in find_headings(layout, first, last, words)]
    headings = _after_front(headings, layout, title_end)
    front_end = headings[0].start if headings else min(stop, title_end + 60)
    authors, authors_end = find_authors(layout, title_end, front_end)
    headings = [heading for heading in headings if heading.start >= authors_end]
    front = find_front(layout, authors_end, stop, headings, words)
    fill_people(layout, authors, title_end, min([*front.used, stop, *(h.start for h in headings[:1])]))
    headings = [heading for heading in headings if heading not in front.dropped]
    set_levels(headings, layout.body_size)
    heading_lines = {i for heading in headings for i in range(heading.start, heading.end)}
    body_start = _body_start(layout, authors_end, headings, front.used)
    taken = heading_lines | front.used
    floats = [find_floats(layout, first, last, taken, words) for first, last in ranges]
    taken |= {i for found in floats for i in found.taken}
    headings = [heading for heading in headings if not any(heading.start in found.taken for found in floats)]
    taken |= {i for first, last in ranges for i in lines_in_images(layout, first, last)}
    body = [i for first, last in ranges for i in body_lines(layout, max(first, body_start), last, taken)]
    kept = sum(len(layout.lines[i].text) for i in {*body, *taken})
    listed = references_at.end - references_at.heading if references_at else 0
    if kept < 0.5 * sum(len(line.text) for line in layout.lines) and listed < 0.4 * len(layout.lines):
        # Not built like a paper (a slide, a form, a web page): everything below the title is text.
        body = [i for first, last in ranges for i in range(first, last) if i not in taken]
        body = body or [i for i in range(len(layout.lines)) if i not in taken]
    notes = [note for first, last in ranges for note in find_footnotes(layout, body, taken, first, last)]
    noted = {i for note in notes for i in note.lines}
    body = [i for i in body if i not in noted]
    equations = find_equations(layout, body)
    sections = build_sections(layout, front, headings, Body(body, equations.displays, notes), words)
    for mapped in sections[3:]:
        if mapped.section.section_type == "abstract" and (mapped.section.page_start or 1) > 1:
            mapped.section.section_type = "conclusion"  # a "Summary" at the end
    inherit_types([mapped.section for mapped in sections])
    references = _references(layout, references_at, words)
    doi, arxiv_id = find_identifiers(layout, layout.info)
    published = find_published(layout, title, title_start)
    paper = ParsedPaper(
        document_type="pdf", processor="pypdfium2", title=title, authors=authors, doi=doi, arxiv_id=arxiv_id,
        abstract=next((s.text.text for s in sections if s.section.section_type == "abstract"), ""),
        publication_date=find_date(layout, published.date), venue=published.venue, venue_type=published.venue_type,
        volume=published.volume, issue=published.issue, pages=published.pages, pmid=published.pmid,
        keywords=front.keywords, page_count=len(layout.pages),
        sections=[mapped.section for mapped in sections], references=references,
        figures=[figure for found in floats for figure in found.figures],
        tables=[table for found in floats for table in found.tables], equations=equations.found, warnings=warnings,
    )  # fmt: skip
    return _finish(paper, sections, layout, notes)


def _after_front(headings: list[Heading], layout: Layout, title_end: int) -> list[Heading]:
    """Without the bold lines of the title page in front of the first heading that is certain."""
    from monjyu_assets.parsing.text.heading_types import section_type

    first_page = layout.lines[title_end].page if title_end < len(layout.lines) else 1
    for k, heading in enumerate(headings):
        if layout.lines[heading.start].page > first_page + 1:
            break
        certain = heading.outline_level is not None or heading.number == "1" or section_type(heading.text) != "other"
        if certain:
            return headings[k:]
    while headings and layout.lines[headings[0].start].page == first_page:
        if not names_in_line(layout.lines[headings[0].start]):
            break
        headings = headings[1:]
    return headings


def _body_start(layout: Layout, start: int, headings: list[Heading], used: set[int]) -> int:
    """The first line that can be running text: a heading, the line after the abstract, or the first prose."""
    if headings and layout.lines[headings[0].start].page == layout.lines[start].page:
        return headings[0].start
    if used:
        return max(used) + 1
    for i in range(start, len(layout.lines) - 2):
        run = layout.lines[i : i + 3]
        same = all(abs(line.size - layout.body_size) < 0.5 and line.block == run[0].block for line in run)
        if same and sum(len(line.text) for line in run[:2]) > 80:
            return i
    return start


def _references(layout: Layout, place: ReferenceList | None, words: Words) -> list[Reference]:
    if place is None:
        return []
    texts = [entry_text(entry, words) for entry in split_entries(layout, layout.lines[place.start : place.end])]
    labels = [label_of(text) for text in texts]
    printed = all(labels) and len(set(labels)) == len(labels)
    ids = [label or "" for label in labels] if printed else [str(number + 1) for number in range(len(texts))]
    return [parse_reference(ref_id, text) for ref_id, text in zip(ids, texts, strict=True)]


def _finish(paper: ParsedPaper, sections: list[MappedSection], layout: Layout, notes: list[Footnote]) -> ParsedPaper:
    """Language, sentences with their rectangles, citations."""
    text = " ".join([paper.title, *(section.text for section in paper.sections)])
    if not text.strip():
        text = " ".join(line.text for line in layout.lines)
    paper.language = detect_language(text[:20_000])
    fill_sentences(paper.sections, paper.language)
    for mapped in sections:
        for sentence in mapped.section.sentences:
            sentence.spans = mapped.text.spans(sentence.start, sentence.end, layout.pages)

    marks = {(note.page, note.marker) for note in notes}

    def raised(number: int) -> list[tuple[int, str]]:
        return _raised_numbers(sections[number], marks)

    paper.inline_citations = link_citations(paper.sections, paper.references, raised)
    judge(paper)
    return paper


def _raised_numbers(mapped: MappedSection, notes: set[tuple[int, str]]) -> list[tuple[int, str]]:
    """Raised text of digits, commas and dashes that is no marker of a footnote, with its place."""
    marks = "".join("1" if script == 1 else "0" for script in mapped.text.scripts)
    found: list[tuple[int, str]] = []
    for match in re.finditer("1+", marks):
        piece = mapped.text.text[match.start() : match.end()]
        page = mapped.text.lines[mapped.text.line[match.start()]].page
        if re.fullmatch(r"[\d,;\s\u2013\u2012-]+", piece) and (page, piece.strip(" ,;")) not in notes:
            found.append((match.start(), piece.strip(" ,;")))
    return found
