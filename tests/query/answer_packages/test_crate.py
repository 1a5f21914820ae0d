"""The package is an RO-Crate of the profile Provenance Run Crate, and says which data the answer rests on."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyshacl
import pytest
import rdflib
import rocrate
from rocrate.rocrate import ROCrate

from monjyu_core.storage.ids import file_sha256
from monjyu_query.answer_packages.asked_answer import AskedAnswer
from monjyu_query.answer_packages.package import snapshot_record
from monjyu_query.answer_packages.package_files import write_package

HERE = Path(__file__).parent
BASE = "https://example.org/crate/"
BIOSCHEMAS = "https://bioschemas.org/ComputationalWorkflow"
IN_1_1 = {
    "ComputationalWorkflow": BIOSCHEMAS,
    "FormalParameter": "https://bioschemas.org/FormalParameter",
    "input": f"{BIOSCHEMAS}#input",
    "output": f"{BIOSCHEMAS}#output",
}
"""Terms that RO-Crate 1.1 has at other addresses than 1.3, whose context the package `rocrate` brings."""


def context() -> dict[str, str]:
    """Of the terms, from a file: nothing is fetched."""
    path = Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"
    terms: dict[str, str] = json.loads(path.read_bytes())["@context"]
    return terms | IN_1_1


def complaints(metadata: dict[str, Any]) -> list[str]:
    told = metadata | {"@context": context()}
    crate = rdflib.Graph().parse(data=json.dumps(told), format="json-ld", publicID=BASE)
    shapes, ontology = rdflib.Graph(), rdflib.Graph()
    for path in sorted((HERE / "profile").glob("*.ttl")):
        (ontology if "ontology" in path.name else shapes).parse(path, publicID=BASE)
    right, report, text = pyshacl.validate(
        crate, shacl_graph=shapes, ont_graph=ontology, advanced=True, inference="owlrl"
    )
    assert isinstance(report, rdflib.Graph)
    messages = sorted({str(one) for one in report.objects(None, rdflib.SH.resultMessage)})
    assert right != bool(messages), text
    return messages


@pytest.fixture(scope="module")
def metadata(package: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(package["ro-crate-metadata.json"])
    return found


def test_it_conforms_and_each_term_is_known(metadata: dict[str, Any]) -> None:
    assert complaints(metadata) == []
    used = {name for node in metadata["@graph"] for name in node if not name.startswith("@")}
    listed = (node["@type"] for node in metadata["@graph"])
    kinds = {kind for one in listed for kind in ([one] if isinstance(one, str) else one)}
    assert (used | kinds) - set(context()) == set()


def test_the_shapes_see_what_is_missing(metadata: dict[str, Any]) -> None:
    broken = copy.deepcopy(metadata)
    broken["@graph"] = [node for node in broken["@graph"] if node["@type"] != "ControlAction"]
    next(node for node in broken["@graph"] if node["@id"] == "./").pop("license")
    found = complaints(broken)
    assert any("ControlAction" in one for one in found) and any("`license`" in one for one in found)


def test_a_reader_of_crates_finds_every_file(package: dict[str, bytes], tmp_path: Path) -> None:
    write_package(package, tmp_path / "package")
    crate = ROCrate(tmp_path / "package")
    listed = {entity.id for entity in crate.data_entities}
    assert listed == package.keys() - {"ro-crate-metadata.json", "manifest-sha256.txt"}
    assert crate.mainEntity.id == "workflow.json"


def test_it_names_the_snapshot_the_sentences_and_what_made_them(asked: AskedAnswer, package: dict[str, bytes]) -> None:
    snapshot, told = asked.index.snapshot, json.loads(package["snapshot.json"])
    assert told["manifest_sha256"] == file_sha256(snapshot.folder / "manifest.json")
    assert [part["version"] for part in told["parts"]] == [part.version for part in snapshot.manifest.parts]
    assert told["models"]["embedding"]["fingerprint"] == snapshot.manifest.embedding.fingerprint
    evidence = json.loads(package["evidence.json"])
    cited = {(one["n"], one["page"], one["quote"]) for one in evidence["citations"]}
    assert cited == {(one.n, one.page, one.quote) for one in asked.result.citations}
    spans = [span for one in evidence["citations"] for sentence in one["sentences"] for span in sentence["spans"]]
    assert spans and all(len(box) == 4 for span in spans for box in span["boxes"])
    lineage = json.loads(package["lineage.json"])
    reached, waiting = set(), [f"monjyu:answer/{asked.trace_id}"]
    ends = {"wasGeneratedBy": ("entity", "activity"), "used": ("activity", "entity")}
    ends["wasDerivedFrom"] = ("generatedEntity", "usedEntity")
    edges = [
        (one[f"prov:{start}"], one[f"prov:{end}"])
        for kind, (start, end) in ends.items()
        for one in lineage[kind].values()
    ]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting += [end for start, end in edges if start == name and end not in reached]
    assert reached == lineage["entity"].keys() | lineage["activity"].keys(), "all of it leads to the answer"
    files = {paper["file_sha256"] for paper in evidence["papers"]}
    assert {f"monjyu:file/{sha256}" for sha256 in files} <= reached
    recipes = [one for one in lineage["activity"].values() if one["prov:type"] == "monjyu:AssetRun"]
    assert len(recipes) > 3 and all(one["monjyu:recipe"] for one in recipes)


def test_no_secret_and_no_path_of_this_machine(asked: AskedAnswer, package: dict[str, bytes]) -> None:
    manifest = asked.index.snapshot.manifest
    secret = manifest.model_copy(update={"settings": manifest.settings | {"models.x.api_key": "sk-secret"}})
    snapshot: Any = SimpleNamespace(manifest=secret, folder=asked.index.snapshot.folder)
    assert "sk-secret" not in json.dumps(snapshot_record(snapshot))
    root = str(asked.index.snapshot.collection.root.parents[1]).encode()
    assert not any(root in content for content in package.values())
