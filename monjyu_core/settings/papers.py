"""Settings of how papers are parsed, chunked, matched and checked."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr, model_validator

from monjyu_core.settings.marks import PARSE_LIMIT, Changes, Group, NoResult


class ParseSettings(Group):
    timeout_seconds: Annotated[float, PARSE_LIMIT] = Field(
        60.0, gt=0, description="CPU time limit of one file; its wall-clock limit is five times as long"
    )
    memory_mb: Annotated[int, PARSE_LIMIT] = Field(1500, ge=256, description="memory limit of a parser process")
    max_file_mb: Annotated[int, PARSE_LIMIT] = Field(200, gt=0)
    max_pages: Annotated[int, PARSE_LIMIT] = Field(2000, gt=0)
    max_characters: Annotated[int, PARSE_LIMIT] = Field(20_000_000, gt=0)
    max_members: Annotated[int, PARSE_LIMIT] = Field(20_000, gt=0, description="files in an Office file or archive")
    max_unpacked_mb: Annotated[int, PARSE_LIMIT] = Field(500, gt=0, description="size of such a file after unpacking")
    max_ratio: Annotated[int, PARSE_LIMIT] = Field(200, gt=0, description="highest ratio of unpacked to packed size")
    workers: Annotated[int, NoResult("speed only")] = Field(0, ge=0, description="parser processes; 0 = one per core")


class LibrarySettings(Group):
    linked_files: Annotated[str | None, NoResult("imported files are papers")] = Field(
        None,
        description="folder of a Zotero library's linked files (Zotero: Linked Attachment Base Directory); relative "
        "to the data folder",
    )


class OcrSettings(Group):
    enabled: Annotated[Literal["auto", "off"], Changes("parsed_papers")] = Field(
        "auto", description="auto = read pages without usable text if the extra `ocr` is installed"
    )
    languages: Annotated[Literal["auto", "en", "ja"], Changes("parsed_papers")] = Field(
        "auto",
        description="characters to recognise: en = Latin, Greek and Cyrillic; ja = also kana and the characters of "
        "JIS X 0213; auto = also Chinese",
    )
    dpi: Annotated[int, Changes("parsed_papers")] = Field(
        200, ge=72, le=600, description="resolution of the page images"
    )
    max_pages: Annotated[int, PARSE_LIMIT] = Field(100, ge=1, description="limit of pages per file")
    timeout_seconds: Annotated[float, PARSE_LIMIT] = Field(
        120.0, gt=0, description="CPU time limit of one page, which is then skipped"
    )
    memory_mb: Annotated[int, PARSE_LIMIT] = Field(
        1000, ge=0, description="memory of a parser process in addition to parse.memory_mb while it reads pages"
    )


PdfProcessor = Literal["pypdfium2", "unstructured", "document_intelligence"]


class PdfSettings(Group):
    processor: Annotated[PdfProcessor, Changes("parsed_papers")] = Field(
        "pypdfium2",
        description="parser of PDFs; unstructured needs a separate installation (docs/configure.md), "
        "document_intelligence is a paid service (docs/azure.md)",
    )
    fallback: Annotated[Literal["none", "document_intelligence"], Changes("parsed_papers")] = Field(
        "none",
        description="parser of PDFs in which the processor finds no title, no references or less than half of the text",
    )
    require_all_pages: Annotated[bool, Changes("parsed_papers")] = Field(
        False, description="fail a PDF, instead of warning, if a service reads only some of its pages"
    )


class ParserSettings(ParseSettings):
    """The settings of a parser process: its limits, and how PDFs are read. Not a group of the settings file."""

    pdf: PdfSettings = PdfSettings()
    ocr: OcrSettings = OcrSettings()


ChunkStrategy = Literal["section", "fixed", "sentence", "paragraph", "semantic"]


class ChunkSettings(Group):
    strategy: Annotated[ChunkStrategy, Changes("chunks")] = Field(
        "section", description="how the sentences of a section are grouped into chunks"
    )
    size_tokens: Annotated[int, Changes("chunks")] = Field(200, ge=16, description="cl100k_base tokens per chunk")
    overlap_tokens: Annotated[int, Changes("chunks")] = Field(
        40, ge=0, description="overlap in tokens, in whole sentences"
    )
    min_tokens: Annotated[int, Changes("chunks")] = Field(
        30,
        ge=0,
        description="a smaller chunk joins its neighbours in the section (not with strategy sentence); at most half "
        "of size_tokens",
    )
    sentences_per_chunk: Annotated[int, Changes("chunks")] = Field(1, ge=1, description="strategy sentence only")
    break_percentile: Annotated[float, Changes("chunks")] = Field(
        20.0,
        ge=0,
        le=100,
        description="strategy semantic only: break where neighbouring sentences are less similar than in this "
        "percentage of the paper's pairs",
    )

    @model_validator(mode="after")
    def _overlap_below_size(self) -> ChunkSettings:
        if self.overlap_tokens >= self.size_tokens:
            raise ValueError("chunking.overlap_tokens must be smaller than chunking.size_tokens")
        return self


class CitationSettings(Group):
    follow_preprints: Annotated[bool, Changes("citation_network")] = Field(
        False, description="resolve a reference to a preprint's DOI to the published paper of the same title"
    )


WARNING_ONLY = NoResult("decides when a check warns")


class CheckSettings(Group):
    """When the quality checks of a collection warn: for each, the allowed share of offending papers."""

    not_retracted: Annotated[float, WARNING_ONLY] = Field(0.0, ge=0, le=1, description="share of retracted papers")
    title_found: Annotated[float, WARNING_ONLY] = Field(0.0, ge=0, le=1, description="share of papers without a title")
    abstract_found: Annotated[float, WARNING_ONLY] = Field(0.2, ge=0, le=1, description="… without an abstract")
    sections_found: Annotated[float, WARNING_ONLY] = Field(0.05, ge=0, le=1, description="… without sections")
    references_found: Annotated[float, WARNING_ONLY] = Field(
        0.1, ge=0, le=1, description="share of academic papers without references"
    )
    references_resolved: Annotated[float, WARNING_ONLY] = Field(
        1.0, ge=0, le=1, description="share of papers without a reference to a paper of the collection"
    )
    text_kept: Annotated[float, WARNING_ONLY] = Field(
        0.05, ge=0, le=1, description="share of PDFs from which less than min_coverage of their characters is extracted"
    )
    min_coverage: Annotated[float, WARNING_ONLY] = Field(0.7, ge=0, le=1, description="share of a PDF's characters")
    furniture_removed: Annotated[float, WARNING_ONLY] = Field(
        0.05, ge=0, le=1, description="share of papers with a short line repeated on furniture_pages pages"
    )
    furniture_pages: Annotated[int, WARNING_ONLY] = Field(3, ge=2)
    boxes_apart: Annotated[float, WARNING_ONLY] = Field(
        0.0, ge=0, le=1, description="share of PDFs with overlapping rectangles of sentences"
    )
    sentences_whole: Annotated[float, WARNING_ONLY] = Field(
        0.0, ge=0, le=1, description="share of papers with text that is in no sentence"
    )
    fresh_hours: Annotated[float, WARNING_ONLY] = Field(
        24.0, ge=0, description="snapshot_fresh: hours until changes of the sources must be published"
    )
    drift_size: Annotated[float, WARNING_ONLY] = Field(
        0.3, ge=0, description="sizes_steady: allowed change of papers and chunks between snapshots, as a share"
    )
    drift_languages: Annotated[float, WARNING_ONLY] = Field(
        0.1, ge=0, le=1, description="languages_steady: allowed change of the language mix, as a share of the papers"
    )
    drift_failures: Annotated[float, WARNING_ONLY] = Field(
        0.05, ge=0, le=1, description="failures_steady: allowed rise of the share of failed papers"
    )
    drift_graph: Annotated[float, WARNING_ONLY] = Field(
        0.5, ge=0, description="graph_steady: allowed change of edges per phrase, isolates and communities, as a share"
    )
    questions: Annotated[str | None, WARNING_ONLY] = Field(
        None,
        description="retrieval_kept: JSON Lines with {id, text}, as for `monjyu eval retrieval`; outside the sources",
    )
    qrels: Annotated[str | None, WARNING_ONLY] = Field(
        None, description="retrieval_kept: relevance judgements of these questions"
    )
    min_ndcg: Annotated[float, WARNING_ONLY] = Field(0.5, ge=0, le=1, description="retrieval_kept: minimum nDCG@10")
    saved_questions_seconds: Annotated[int, NoResult("a limit on time, changes no row")] = Field(
        1800, ge=1, description="saved_questions: time limit in seconds before a snapshot is published"
    )
    retrieval_blocks: Annotated[bool, NoResult("decides what is published, changes no row")] = Field(
        False, description="whether a snapshot below checks.min_ndcg is not published"
    )


# Settings of scholarly services. Nothing is requested until a service is named.
ScholarlyService = Literal["crossref", "openalex", "semantic_scholar"]
_IN_FILES = NoResult("the content of the files is part of the recipe of scholarly_metadata")
_ANSWERS = NoResult("the answers of the services are part of the recipe of scholarly_metadata")
_PACE = NoResult("the rate of requests to a service, not its answers")


class ScholarlySettings(Group):
    notices: Annotated[list[str], _IN_FILES] = Field(
        [],
        description="files with retractions and corrections, relative to the data folder: Retraction Watch's CSV, "
        "works of Crossref or OpenAlex as JSON Lines; nothing is fetched",
    )
    records: Annotated[list[str], _IN_FILES] = Field(
        [],
        description="files with records of papers, relative to the data folder: works of Crossref or OpenAlex as JSON "
        "Lines (also their notices), papers of Semantic Scholar, exported libraries (.bib, .json, .rdf); nothing is "
        "fetched",
    )
    services: Annotated[list[ScholarlyService], _ANSWERS] = Field(
        [], description="services to look up each paper by DOI, arXiv id or title: crossref, openalex, semantic_scholar"
    )
    contact: Annotated[str | None, _PACE] = Field(
        None,
        pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
        description="e-mail address sent to crossref and openalex, as they request of frequent users",
    )
    refresh_days: Annotated[float, _PACE] = Field(30.0, gt=0, description="days until a paper is looked up again")
    timeout_seconds: Annotated[float, _PACE] = Field(30.0, gt=0, description="limit of one request")
    retries: Annotated[int, _PACE] = Field(
        3, ge=0, le=10, description="retries of temporary failures, with growing delays"
    )
    requests_per_minute: Annotated[int, _PACE] = Field(60, ge=1, description="per service and process")
    openalex_key: Annotated[SecretStr | None, NoResult("a secret")] = None
    semantic_scholar_key: Annotated[SecretStr | None, NoResult("a secret")] = None
    crossref_url: Annotated[str, _PACE] = Field("https://api.crossref.org", description="or a mirror's address")
    openalex_url: Annotated[str, _PACE] = "https://api.openalex.org"
    semantic_scholar_url: Annotated[str, _PACE] = "https://api.semanticscholar.org"
