"""Indexes of Azure AI Search: one per published snapshot, and an alias for the current one."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any

from monjyu_core.azure.calls import AzureAnswer, called
from monjyu_core.azure.credentials import credential_for, endpoint_of
from monjyu_core.errors import ConfigurationError, ExternalAPIError
from monjyu_core.settings.azure import AzureSettings
from monjyu_core.storage.ids import digest
from monjyu_core.text.search_text import search_grams, search_words, word_terms
from monjyu_core.values import Values

if TYPE_CHECKING:
    from azure.search.documents import SearchClient
    from azure.search.documents.indexes.models import SearchIndex

NAME = "Azure AI Search"
MOST_FOUND = 1000
"""The largest number of documents that the service returns for one question."""
_PROFILE, _ALGORITHM, SEMANTIC = "vectors", "hnsw", "passages"
LONGEST = 1000
"""The largest number of characters in a question."""
_TRIES = 5
_COUNT_SECONDS = 60.0
"""Seconds to wait: the service counts documents some seconds after it has accepted them."""


@dataclass(frozen=True)
class IndexedChunk:
    """A chunk as stored in the service; `vector` has length 1."""

    chunk_id: str
    paper_id: str
    section_type: str
    header: str
    text: str
    vector: list[float]

    def document(self) -> Values:
        terms = search_terms(f"{self.header}\n{self.text}")
        return {"key": digest(self.chunk_id, length=32), "terms": terms} | asdict(self)


@dataclass(frozen=True)
class FoundChunk:
    """A chunk from Azure AI Search. `score`: cosine similarity, BM25, or the semantic ranker's score (0 to 4)."""

    chunk_id: str
    score: float


def index_name(prefix: str, collection: str, snapshot_id: str) -> str:
    """The name of a snapshot's index: names may contain lower-case letters, digits and hyphens."""
    return f"{alias_name(prefix, collection)}-{digest(snapshot_id, length=12)}"


def alias_name(prefix: str, collection: str) -> str:
    return f"{prefix}-{re.sub('[^a-z0-9]+', '-', collection)}-{digest(collection, length=6)}"


class SearchIndexes:
    """The search service named in the settings. Every failure is an ExternalAPIError; threads may share it."""

    def __init__(self, azure: AzureSettings) -> None:
        self._settings = azure.search
        self._endpoint = endpoint_of(azure.search, "search")
        self._credential = credential_for(azure.search, "search", azure.credential)
        self._waits = {
            "connection_timeout": azure.search.timeout_seconds,
            "read_timeout": azure.search.timeout_seconds,
            "retry_total": azure.search.retries,
            "retry_backoff_max": 30,
            "permit_redirects": False,
        }
        from azure.search.documents.indexes import SearchIndexClient

        self._indexes = SearchIndexClient(self._endpoint, self._credential, **self._waits)
        self._clients: dict[str, SearchClient] = {}

    def __enter__(self) -> SearchIndexes:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._indexes.close()
        for client in self._clients.values():
            client.close()

    def usage(self) -> str:
        """The number of indexes in use and the number allowed; this request costs nothing."""
        counter = called(NAME, self._indexes.get_service_statistics).counters.index_counter
        return f"{counter.usage} of {counter.quota} indexes"

    def names(self, collection: str) -> list[str]:
        """The names of a collection's indexes."""
        own = re.compile(re.escape(alias_name(self._settings.index_prefix, collection)) + "-[0-9a-f]{12}")
        found = called(NAME, lambda: list(self._indexes.list_index_names()))
        return sorted(name for name in found if own.fullmatch(name))

    def fill(self, name: str, dimensions: int, chunks: Iterable[IndexedChunk], count: int) -> None:
        """Create an index of exactly the `count` chunks. An index of that name, left by a killed publish, is replaced.
        Raises ExternalAPIError if the service does not report all of them."""
        self.drop(name)
        called(NAME, lambda: self._indexes.create_index(_schema(name, dimensions)))
        waiting = iter(chunks)
        while batch := [chunk.document() for chunk in islice(waiting, self._settings.batch)]:
            self._upload(name, batch)
        end = time.monotonic() + _COUNT_SECONDS
        while (held := called(NAME, self._client(name).get_document_count)) != count:
            if time.monotonic() > end:
                raise ExternalAPIError(f"{NAME} has {held} of {count} chunks of {name}.", "Publish again.")
            time.sleep(0.2)

    def _upload(self, name: str, batch: list[Values]) -> None:
        """Upload a batch, retrying documents that a busy service refused; halve a batch that is too large."""
        for attempt in range(_TRIES):
            try:
                results = called(NAME, partial(self._client(name).upload_documents, batch))
            except AzureAnswer as error:
                if error.status != 413 or len(batch) == 1:
                    raise
                self._upload(name, batch[: len(batch) // 2])
                self._upload(name, batch[len(batch) // 2 :])
                return
            failed = {one.key: one for one in results if not one.succeeded}
            lasting = next((one for one in failed.values() if one.status_code not in (409, 422, 429, 503)), None)
            if lasting is not None:
                raise ExternalAPIError(f"{NAME} refuses a chunk ({lasting.status_code}).", "Check the index's schema.")
            batch = [document for document in batch if document["key"] in failed]
            if not batch:
                return
            time.sleep(min(0.2 * 2**attempt, 10))
        raise ExternalAPIError(f"{NAME} was too busy for {len(batch)} chunks.", "Publish again later.")

    def holds(self, name: str, dimensions: int, count: int) -> bool:
        """Whether the index exists, is complete and has the schema of this version. Raises ConfigurationError if its
        vectors have other dimensions."""
        try:
            index = called(NAME, lambda: self._indexes.get_index(name))
        except AzureAnswer as error:
            if error.status == 404:
                return False
            raise
        fields = {field.name: field for field in index.fields}
        if not {field.name for field in _schema(name, dimensions).fields} <= fields.keys():
            return False
        if fields["vector"].vector_search_dimensions != dimensions:
            raise ConfigurationError(f"The index {name} has vectors of another model.", "Delete it and publish again.")
        return called(NAME, self._client(name).get_document_count) == count

    def point(self, collection: str, name: str) -> None:
        """Point the collection's alias at the index `name`, atomically."""
        from azure.search.documents.indexes.models import SearchAlias

        alias = SearchAlias(name=alias_name(self._settings.index_prefix, collection), indexes=[name])
        called(NAME, lambda: self._indexes.create_or_update_alias(alias))

    def drop(self, name: str) -> None:
        self._delete_if_there(lambda: self._indexes.delete_index(name))

    def drop_alias(self, collection: str) -> None:
        alias = alias_name(self._settings.index_prefix, collection)
        self._delete_if_there(lambda: self._indexes.delete_alias(alias))

    def _delete_if_there(self, delete: Any) -> None:
        try:
            called(NAME, delete)
        except AzureAnswer as error:
            if error.status != 404:
                raise

    def nearest(self, name: str, vector: Sequence[float], papers: Sequence[str] | None) -> list[FoundChunk]:
        """The chunks nearest to a vector, best first, among those of `papers` (None: all papers)."""
        from azure.search.documents.models import VectorizedQuery

        asked = VectorizedQuery(
            vector=[float(value) for value in vector],
            k_nearest_neighbors=MOST_FOUND,
            fields="vector",
            exhaustive=self._settings.exhaustive,
        )
        found = self._search(name, papers, search_text=None, vector_queries=[asked])
        return [FoundChunk(one["chunk_id"], 2.0 - 1.0 / one["@search.score"]) for one in found]

    def matching(self, name: str, words: str, papers: Sequence[str] | None) -> list[FoundChunk]:
        """The chunks that contain a word of the text, best first. Nothing in the text is an operator."""
        found = self._search(name, papers, search_text=_asked(words), search_fields=["terms"])
        return [FoundChunk(one["chunk_id"], one["@search.score"]) for one in found]

    def reranked(self, name: str, words: str, papers: Sequence[str] | None) -> list[FoundChunk]:
        """The semantic ranker's order of the best fifty chunks."""
        found = self._search(
            name,
            papers,
            search_text=_asked(words),
            search_fields=["terms"],
            query_type="semantic",
            semantic_query=words[:LONGEST],
            semantic_configuration_name=SEMANTIC,
            most=50,
        )
        scored = [FoundChunk(one["chunk_id"], score) for one in found if (score := one.get("@search.reranker_score"))]
        return sorted(scored, key=lambda one: -one.score)

    def _search(self, name: str, papers: Sequence[str] | None, *, most: int = MOST_FOUND, **asked: Any) -> list[Values]:
        if papers is not None and not papers:
            return []
        within = None if papers is None else f"search.in(paper_id, '{_listed(papers)}', '\x1f')"
        client = self._client(name)
        return called(
            NAME, lambda: [dict(one) for one in client.search(filter=within, select=["chunk_id"], top=most, **asked)]
        )

    def _client(self, name: str) -> SearchClient:
        if name not in self._clients:
            from azure.search.documents import SearchClient

            self._clients[name] = SearchClient(self._endpoint, name, self._credential, **self._waits)
        return self._clients[name]


def search_terms(text: str) -> str:
    """The text's terms as in the local index, separated by spaces: stems, or bigrams without word spaces."""
    return " ".join([*word_terms([search_words(text)])[0], *search_grams(text).split()])


def _asked(text: str) -> str:
    """A question's terms; they contain no operator of the simple query syntax."""
    return search_terms(text)[:LONGEST] or "\u2205"


def _listed(papers: Sequence[str]) -> str:
    return "\x1f".join(paper.replace("'", "''") for paper in papers)


def _schema(name: str, dimensions: int) -> SearchIndex:
    from azure.search.documents.indexes.models import (
        HnswAlgorithmConfiguration,
        HnswParameters,
        SearchableField,
        SearchField,
        SearchFieldDataType,
        SearchIndex,
        SemanticConfiguration,
        SemanticField,
        SemanticPrioritizedFields,
        SemanticSearch,
        SimpleField,
        VectorSearch,
        VectorSearchProfile,
    )

    text = SearchFieldDataType.STRING
    prioritized = SemanticPrioritizedFields(
        title_field=SemanticField(field_name="header"), content_fields=[SemanticField(field_name="text")]
    )
    return SearchIndex(
        name=name,
        fields=[
            SimpleField(name="key", type=text, key=True),
            SimpleField(name="chunk_id", type=text),
            SimpleField(name="paper_id", type=text, filterable=True),
            SimpleField(name="section_type", type=text, filterable=True),
            SearchableField(name="terms", type=text, analyzer_name="whitespace"),
            SearchableField(name="header", type=text),
            SearchableField(name="text", type=text),
            SearchField(
                name="vector",
                type="Collection(Edm.Single)",
                searchable=True,
                hidden=True,
                vector_search_dimensions=dimensions,
                vector_search_profile_name=_PROFILE,
            ),
        ],
        vector_search=VectorSearch(
            profiles=[VectorSearchProfile(name=_PROFILE, algorithm_configuration_name=_ALGORITHM)],
            algorithms=[HnswAlgorithmConfiguration(name=_ALGORITHM, parameters=HnswParameters(metric="cosine"))],
        ),
        semantic_search=SemanticSearch(
            configurations=[SemanticConfiguration(name=SEMANTIC, prioritized_fields=prioritized)]
        ),
    )


def drop_others(indexes: SearchIndexes, collection: str, keep: Collection[str]) -> None:
    """Drop the collection's indexes except those in `keep`."""
    for name in indexes.names(collection):
        if name not in keep:
            indexes.drop(name)
