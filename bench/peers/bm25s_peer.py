"""bm25s (Lù 2024): Lucene's BM25 with English stop words and the Snowball stemmer, as its README shows."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bm25s
import peer
import Stemmer


def main(folder: Path, out: Path) -> None:
    documents, queries = peer.read(folder / "corpus.jsonl"), peer.read(folder / "queries.jsonl")
    begun, stemmer = peer.cpu(), Stemmer.Stemmer("english")
    index = bm25s.BM25()
    texts = [peer.text_of(document) for document in documents]
    index.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    indexed = peer.cpu()
    words = bm25s.tokenize([query["text"] for query in queries], stopwords="en", stemmer=stemmer, show_progress=False)
    rows, _ = index.retrieve(words, k=min(peer.DEPTH, len(documents)), show_progress=False)
    asked = peer.cpu()
    ranked = {query["id"]: [documents[row]["id"] for row in some] for query, some in zip(queries, rows, strict=True)}
    out.write_text(json.dumps(ranked))
    told = {"index_cpu_s": indexed - begun, "query_cpu_ms": 1000 * (asked - indexed) / len(queries)}
    print(json.dumps(told | {"mb": peer.megabytes(), "tokens": 0}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
