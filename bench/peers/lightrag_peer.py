"""LightRAG (Guo et al. 2024): what indexing would ask a language model, and its mode without a graph (`naive`).

No model that is worth it runs here: what is asked of one is counted and answered with an empty extraction, so the graph
stays empty and the modes that use it are not measured. Tokens are pieces of up to four letters, as its own need a
download.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import peer
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer

_PIECE = re.compile(r"\w{1,4}|\W", re.DOTALL)


class Pieces:
    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.pieces: list[str] = []

    def encode(self, content: str) -> list[int]:
        found = []
        for piece in _PIECE.findall(content):
            if piece not in self.ids:
                self.ids[piece] = len(self.pieces)
                self.pieces.append(piece)
            found.append(self.ids[piece])
        return found

    def decode(self, tokens: list[int]) -> str:
        return "".join(self.pieces[token] for token in tokens)

    def __deepcopy__(self, _: Any) -> Pieces:
        return self


async def main(folder: Path, out: Path, url: str) -> None:
    documents, queries = peer.read(folder / "corpus.jsonl"), peer.read(folder / "queries.jsonl")
    documents = [document for document in documents if peer.text_of(document)]
    pieces, sent = Pieces(), 0

    async def embedded(texts: list[str], **_: Any) -> np.ndarray:
        return np.array(await asyncio.to_thread(peer.called, url, texts), np.float32)

    async def counted(prompt: str, system_prompt: str | None = None, **_: Any) -> str:
        nonlocal sent
        sent += len(_PIECE.findall(f"{system_prompt or ''}{prompt}"))
        return "<|COMPLETE|>"

    width = len(peer.called(url, ["a"])[0])
    begun, model_begun = peer.cpu(), peer.called(url)
    with tempfile.TemporaryDirectory() as work:
        rag = LightRAG(
            working_dir=work,
            embedding_func=EmbeddingFunc(embedding_dim=width, max_token_size=8192, func=embedded),
            llm_model_func=counted,
            tokenizer=Tokenizer("pieces", pieces),
            embedding_batch_num=64,
            cosine_better_than_threshold=-1.0,
        )
        await rag.initialize_storages()
        names = [str(document["id"]) for document in documents]
        await rag.ainsert([peer.text_of(document) for document in documents], ids=names, file_paths=names)
        indexed, model_indexed = peer.cpu(), peer.called(url)
        ranked, tokens = {}, sent
        how = QueryParam(mode="naive", chunk_top_k=peer.DEPTH, max_total_tokens=10**9, enable_rerank=False)
        for query in queries:
            found = await rag.aquery_data(query["text"], how)
            ranked[query["id"]] = peer.unique(chunk["file_path"] for chunk in found["data"]["chunks"])
        asked, model_asked = peer.cpu(), peer.called(url)
        await rag.finalize_storages()
    out.write_text(json.dumps(ranked))
    told = {
        "index_cpu_s": indexed - begun + model_indexed - model_begun,
        "query_cpu_ms": 1000 * (asked - indexed + model_asked - model_indexed) / len(queries),
    }
    print(json.dumps(told | {"mb": peer.megabytes(), "tokens": tokens}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
