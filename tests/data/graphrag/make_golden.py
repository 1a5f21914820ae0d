"""Writes golden.json: what microsoft/graphrag itself makes of a small fixed input, and the columns of its tables.

Runs in an environment of its own:  pip install graphrag==3.3.0 && python make_golden.py
"""

from __future__ import annotations

import asyncio
import json
import random
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from graphrag.config.defaults import graphrag_config_defaults as defaults
from graphrag.data_model import schemas
from graphrag.index.operations.build_noun_graph.build_noun_graph import _extract_edges, build_noun_graph
from graphrag.index.operations.build_noun_graph.np_extractors.base import BaseNounPhraseExtractor
from graphrag.index.operations.prune_graph import prune_graph
from graphrag.index.workflows.create_communities import create_communities
from graphrag_cache.memory_cache import MemoryCache

TOPICS = ("GRAPH", "CHEMISTRY", "HISTORY", "STATISTICS", "LINGUISTICS", "ROBOTICS")
HUB = "COMMON TERM"


def text_units() -> dict[str, list[str]]:
    """240 windows of six topics, twenty phrases each; a hub, phrases of one window, windows of one phrase."""
    chance = random.Random(7)
    units = {}
    for number in range(240):
        topic = TOPICS[number % len(TOPICS)]
        phrases = {f"{topic} {int(chance.triangular(0, 20, 0))}" for _ in range(chance.randint(1, 6))}
        if chance.random() < 0.6:
            phrases.add(HUB)
        if chance.random() < 0.15:
            phrases.add(f"{chance.choice(TOPICS)} {chance.randint(0, 19)}")
        if chance.random() < 0.2:
            phrases.add(f"ONCE {number}")
        units[f"u{number:03}"] = sorted(phrases)
    return units


class Given(BaseNounPhraseExtractor):
    """The phrases as they are given, in the place of a parser."""

    def __init__(self) -> None:
        super().__init__(model_name=None)

    def extract(self, text: str) -> list[str]:
        return text.split("|")

    def __str__(self) -> str:
        return "given"


class Rows:
    """A table in memory."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    async def length(self) -> int:
        return len(self.rows)

    async def write(self, row: dict[str, Any]) -> None:
        self.rows.append(row)

    async def __aiter__(self) -> Any:
        for row in self.rows:
            yield row


def edges_of(frame: pd.DataFrame) -> list[list[Any]]:
    ordered = ((*sorted((row.source, row.target)), float(row.weight)) for row in frame.itertuples())
    return sorted(map(list, ordered))


async def golden() -> dict[str, Any]:
    units = text_units()
    rows = Rows([{"id": key, "text": "|".join(phrases)} for key, phrases in units.items()])
    nodes, edges = await build_noun_graph(rows, Given(), True, MemoryCache())  # type: ignore[arg-type]
    counted = _extract_edges(dict(zip(nodes["title"], nodes["text_unit_ids"], strict=True)), nodes, False)
    options = {name: value for name, value in vars(defaults.prune_graph).items() if not name.startswith("_")}
    kept, linked = prune_graph(nodes, edges, **options)
    entities = Rows([{"id": title, "title": title} for title in kept["title"]])
    linked["id"] = [f"e{number}" for number in range(len(linked))]
    communities = Rows([])
    cluster = defaults.cluster_graph
    await create_communities(
        communities,
        entities,
        linked,
        cluster.max_cluster_size,
        cluster.use_lcc,
        seed=cluster.seed,  # type: ignore[arg-type]
    )
    fields = ("community", "level", "parent", "entity_ids")
    return {
        "graphrag": version("graphrag"),
        "pruning": options,
        "max_cluster_size": cluster.max_cluster_size,
        "text_units": units,
        "counts": edges_of(counted),
        "weights": edges_of(edges),
        "nodes": sorted(kept["title"]),
        "edges": edges_of(linked),
        "communities": [{name: row[name] for name in fields} for row in communities.rows],
        "columns": {
            name.removesuffix("_FINAL_COLUMNS").lower(): value
            for name, value in vars(schemas).items()
            if name.endswith("_FINAL_COLUMNS")
        },
    }


if __name__ == "__main__":
    target = Path(__file__).with_name("golden.json")
    target.write_text(json.dumps(asyncio.run(golden())) + "\n", encoding="utf-8")
