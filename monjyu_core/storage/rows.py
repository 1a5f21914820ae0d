"""The rows of the tables of levels 0 and 1: one record a table, from which its schema follows column by column.

Keys first, as everywhere. `_id`s are stable over runs; `ord` counts from 0 in reading order; pages count from 1;
`start` and `end` are character offsets. A column that may be empty says `| None`.
"""

from __future__ import annotations

from typing import Annotated, TypedDict

import pyarrow as pa

from monjyu_core.storage.table_spec import BigInt, Float32


class ManifestRow(TypedDict):
    """A file of the sources, or a record of a JSON Lines file: its line (`record`) and its first byte (`offset`)."""

    paper_id: str
    sha256: str
    document_type: str
    size: BigInt  # bytes
    record: BigInt | None
    source_path: str
    mtime_ns: BigInt
    offset: BigInt | None


class PaperRow(TypedDict):
    """What a paper's first page, its end and its file say of it. `raw_characters`: those visible on a PDF's pages."""

    paper_id: str
    sha256: str
    document_type: str
    processor: str
    is_academic_paper: bool
    title: str
    abstract: str
    doi: str | None
    arxiv_id: str | None
    pmid: str | None
    semantic_scholar_id: str | None
    publication_date: str | None
    year: int | None
    venue: str | None
    venue_type: str
    volume: str | None
    issue: str | None
    pages: str | None
    citation_count: int | None
    influential_citation_count: int | None
    keywords: list[str]
    language: str
    page_count: int
    characters: BigInt
    raw_characters: BigInt | None
    warnings: list[str]
    source_path: str


class AuthorRow(TypedDict):
    paper_id: str
    ord: int
    name: str
    affiliation: str | None
    email: str | None
    orcid: str | None
    is_corresponding: bool


class SectionRow(TypedDict):
    paper_id: str
    section_ord: int
    heading: str
    level: int
    section_type: str
    page_start: int | None
    page_end: int | None
    text: str


class SpanRow(TypedDict):
    """Where a sentence stands on a page: rectangles in PDF points, origin top left, one a line."""

    page: int
    boxes: list[list[Float32]]


class SentenceRow(TypedDict):
    """`section.text[start:end] == text`; no spans where the source has no pages."""

    sentence_id: str
    paper_id: str
    section_ord: int
    ord: int
    start: int
    end: int
    text: str
    spans: list[SpanRow]


class ReferenceRow(TypedDict):
    """An entry of a paper's reference list."""

    paper_id: str
    ord: int
    ref_id: str
    raw_text: str
    title: str | None
    authors: list[str]
    year: int | None
    venue: str | None
    doi: str | None
    arxiv_id: str | None


class InlineCitationRow(TypedDict):
    """A place that cites a reference; `position` is its character offset in the section's text."""

    paper_id: str
    ord: int
    ref_id: str
    context: str
    section: str
    position: int


class TableRow(TypedDict):
    """A table of a paper; `rows` are lines of cells."""

    paper_id: str
    ord: int
    page: int | None
    box: list[Float32] | None
    caption: str | None
    headers: list[str]
    rows: list[list[str]]


class FigureRow(TypedDict):
    paper_id: str
    ord: int
    page: int | None
    box: list[Float32] | None
    caption: str | None


class EquationRow(TypedDict):
    paper_id: str
    ord: int
    page: int | None
    box: list[Float32] | None
    text: str
    latex: str | None
    inline: bool


class FailureRow(TypedDict):
    """A file that could not be read; `error_type` is the name of an error class."""

    paper_id: str
    error_type: str
    message: str
    source_path: str


class ChunkRow(TypedDict):
    """A passage. `tokens` as tiktoken counts them; `pieces`: word pieces of the model, its special tokens included."""

    chunk_id: str
    paper_id: str
    section_ord: int
    ord: int
    section_type: str
    heading: str
    header: str
    text: str
    input_hash: str
    tokens: int
    pieces: int
    page_start: int | None
    page_end: int | None


class ChunkSentenceRow(TypedDict):
    """A sentence of a chunk, with its offsets in the chunk's text."""

    chunk_id: str
    paper_id: str
    ord: int
    sentence_id: str
    start: int
    end: int


class ChunkEmbeddingRow(TypedDict):
    """A vector of length one; `model` is the embedding model's id."""

    chunk_id: str
    paper_id: str
    input_hash: str
    model: str
    vector: list[Float32]


class PaperIdentityRow(TypedDict):
    """The file that counts for a paper (`canonical_id`), and by what this one was joined to it."""

    paper_id: str
    canonical_id: str
    reason: str


class PaperNoticeRow(TypedDict):
    """A notice on a paper: its `kind` (retraction, concern, correction, reinstatement), who says so (`source`), since
    when (ISO date, as far as known), and by what it was matched (doi, pmid, title, or the paper's own record)."""

    paper_id: str
    ord: int
    kind: str
    date: str | None
    source: str
    notice_doi: str | None
    matched_by: str
    reasons: list[str]


class ScholarlyRecordRow(TypedDict):
    """What a scholarly service or a library says of a paper, beside what the paper prints: by what it was matched (doi,
    arxiv, title; library: it came from there) and how well (0 to 1), and on which day the service gave it (ISO; None:
    from a file). `shelves` are paths of a library's collections."""

    paper_id: str
    ord: int
    source: str
    source_id: str
    matched_by: str
    match_score: float
    retrieved: str | None
    title: str
    authors: list[str]
    year: int | None
    venue: str | None
    doi: str | None
    arxiv_id: str | None
    abstract: str | None
    citation_count: int | None
    fields: list[str]
    open_access: str | None
    reference_dois: list[str]
    tags: list[str]
    shelves: list[str]


class CitationContextRow(TypedDict):
    section: str
    context: str


class CitationEdgeRow(TypedDict):
    """A paper of the collection cites another; `score` (0 to 1) says how sure the match is."""

    citing_id: str
    cited_id: str
    paper_id: str
    ref_ord: int
    ref_id: str
    method: str
    score: Float32
    contexts: list[CitationContextRow]


class UnresolvedReferenceRow(TypedDict):
    """A reference to a work outside of the collection; equal works have one `work_id`."""

    paper_id: str
    ord: int
    ref_id: str
    work_id: str


class PaperKeyRow(TypedDict):
    """What a paper is compared by: its title folded, without what tells of a retraction; the part before the subtitle;
    the title as it stands; the families of its authors in order."""

    paper_id: str
    title_key: str
    main_key: str
    whole_key: str
    doi: str | None
    arxiv_id: str | None
    year: int | None
    families: list[str]


class IdentifiedPaperRow(TypedDict):
    """A paper as it was when papers were compared with each other: the hash of what it is `known` by."""

    paper_id: str
    known: str


class AlikePaperRow(TypedDict):
    """Two files of one paper by title and authors."""

    one: str
    other: str


class ReferenceKeyRow(TypedDict):
    """What a reference is compared by. `name` is the first word of the entry, `words` are hashes of its words,
    ascending; `cites` is the hash of all that is compared of the paper's reference list."""

    paper_id: str
    ord: int
    ref_id: str
    title_key: str
    doi: str | None
    arxiv_id: str | None
    year: int | None
    name: str
    words: Annotated[list[int], pa.list_(pa.uint16())]
    cites: str


class MatchedPaperRow(TypedDict):
    """A paper as it was when references were matched: hashes of what it is `known` by and of what it `cites`."""

    paper_id: str
    known: str
    cites: str


class ReferenceMatchRow(TypedDict):
    """A file that a reference names, and by what it was found; `score` is of 100."""

    paper_id: str
    ord: int
    cited: str
    method: str
    score: Float32


class AlikeTitleRow(TypedDict):
    """Two titles of works outside that are nearly equal, in references of one year and first name. Both are empty for
    a year and name of so many references that only equal titles count."""

    year: int
    name: str
    one: str
    other: str


class PhraseMentionRow(TypedDict):
    """A noun phrase of a chunk: its key, the form it has there most often, and how often it stands there."""

    paper_id: str
    chunk_id: str
    phrase: str
    surface: str
    count: int


class GraphNodeRow(TypedDict):
    """A phrase of the noun graph; `df` counts chunks, `degree` neighbours."""

    phrase: str
    surface: str
    df: int
    papers: int
    tfidf: float
    degree: int


class GraphEdgeRow(TypedDict):
    """Two phrases and the number of chunks that hold both."""

    source: str
    target: str
    cooccurrences: int
    weight: float


class CommunityRow(TypedDict):
    """A group of phrases; `level` 0 is the coarsest, `size` counts phrases."""

    community_id: str
    level: int
    parent_id: str | None
    size: int
    chunks: int
    top_phrases: list[str]


class CommunityMemberRow(TypedDict):
    community_id: str
    phrase: str


class ChunkCommunityRow(TypedDict):
    """`share` (0 to 1) of the chunk's phrases belongs to the community."""

    chunk_id: str
    community_id: str
    level: int
    share: Float32
