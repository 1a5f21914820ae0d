"""`monjyu search --vector`: the passages nearest to a vector."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from monjyu_core.errors import QueryError
from monjyu_query.commands.options import collection_searcher, print_json, read_json_file

TAKES = ("top_k", "min_score", "filters", "answer")
"""What of a question has a meaning beside a vector."""


def print_nearest(path: Path, collection: str | None, values: Mapping[str, Any], as_json: bool) -> None:
    """QueryError for what is no list of numbers, or is not of the collection's model; UsageError for other options."""
    given = sorted(name for name, value in values.items() if name not in TAKES and value != "vector")
    if given:
        raise click.UsageError(f"--vector goes with --top-k, --min-score and filters, not with {', '.join(given)}.")
    vector = read_vector(path)
    from monjyu_query.answers.render import print_result
    from monjyu_query.api.vector_search import search_by_vector
    from monjyu_query.asking.request import make_filters

    filters = make_filters(values.get("filters", {}))
    top_k, min_score = values.get("top_k"), values.get("min_score")
    found = search_by_vector(collection_searcher(collection), vector, top_k, min_score, filters)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_result(found)


def read_vector(path: Path) -> list[float]:
    """The numbers of a file: a JSON list, or an object that has one as `vector`."""
    try:
        told = read_json_file(path)
    except (OSError, ValueError) as error:
        raise QueryError(f"--vector {path}: cannot be read as JSON: {error}.") from error
    vector = told.get("vector") if isinstance(told, dict) else told
    if not isinstance(vector, list) or not all(type(one) in (int, float) for one in vector):
        raise QueryError(f"--vector {path} is not a list of numbers.", "`POST /embed` gives one, or Monjyu.embed.")
    return vector
