"""Builds `ro-crate-metadata.json`: the package as an RO-Crate 1.1 of the profile Provenance Run Crate 0.5.

https://www.researchobject.org/workflow-run-crate/profiles/provenance_run_crate. The workflow is the search. One step
finds the evidence, the other composes the answer; for each step there is the action that ran it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from monjyu_core.values import Values
from monjyu_query.citations.export import Entry

METADATA, WORKFLOW = "ro-crate-metadata.json", "workflow.json"
_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
_CRATE, _WORKFLOW_CRATE = "https://w3id.org/ro/crate/1.1", "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    _WORKFLOW_CRATE: "Workflow RO-Crate",
}
_WORKFLOW_PROFILE = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
_LANGUAGE, _RIGHTS, AUTHOR = "#search-request", "#rights", "#author"
DESCRIPTIONS = {
    "answer.json": "The answer with its citations, as it is compared when it is made again",
    "README.md": "The answer to read",
    "question.json": "The question, the request and the settings",
    "evidence.json": "The cited sentences with page, rectangles and hashes, and the papers",
    "snapshot.json": "The snapshot that was asked: hashes of its parts, models, settings, code",
    "lineage.json": "What the answer was made from, as PROV-JSON",
    "bibliography.bib": "The cited papers as BibTeX",
    "bibliography.json": "The cited papers as CSL JSON",
    WORKFLOW: "The steps of the search",
}
_STEPS = (
    ("find", "Find the evidence", ["question.json", "snapshot.json"], ["evidence.json"]),
    ("compose", "Compose the answer", ["evidence.json", "question.json"], ["answer.json"]),
)
_INPUTS = {"#question": "question.json", "#snapshot": "snapshot.json"}
_OUTPUT = {"#answer": "answer.json"}
Node = Values


@dataclass(frozen=True)
class CrateFacts:
    """The facts about an answer that its crate states. `files` are media types by name, `licences` addresses by paper
    id; `author` is the person who exports the answer, or None if the crate names nobody."""

    question: str
    collection: str
    snapshot_id: str
    code_version: str
    published: str
    files: Mapping[str, str]
    papers: Iterable[Entry]
    licences: Mapping[str, str]
    author: str | None = None


def crate_metadata(facts: CrateFacts) -> Node:
    """Return the content of `ro-crate-metadata.json`, a JSON-LD document."""
    nodes = [_descriptor(), _root(facts), *_files(facts), *_software(facts), *_actions(facts), *_papers(facts)]
    nodes += [{"@id": AUTHOR, "@type": "Person", "name": facts.author}] if facts.author else []
    nodes += [
        {"@id": name, "@type": "CreativeWork", "name": title, "version": name.rpartition("/")[2]}
        for name, title in _PROFILES.items()
    ]
    return {"@context": _CONTEXT, "@graph": nodes}


def _refer(*names: str) -> list[Node] | Node:
    """Return references to nodes: a list, but for a single name its reference, as the specification recommends."""
    return [{"@id": name} for name in names] if len(names) != 1 else {"@id": names[0]}


def _descriptor() -> Node:
    return {
        "@id": METADATA,
        "@type": "CreativeWork",
        "conformsTo": _refer(_CRATE, _WORKFLOW_CRATE),
        "about": {"@id": "./"},
    }


def _root(facts: CrateFacts) -> Node:
    actions = [f"#{name}-action" for name, *_ in _STEPS]
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Answer to: {facts.question}",
        "description": f"An answer from snapshot {facts.snapshot_id} of collection {facts.collection}, with all that "
        "it rests on. `monjyu verify` checks it.",
        "datePublished": facts.published,
        "license": {"@id": _RIGHTS},
        "conformsTo": _refer(*_PROFILES),
        "hasPart": _refer(*facts.files),
        "mainEntity": {"@id": WORKFLOW},
        "mentions": _refer("#answer-action", *actions, "#engine-action"),
        "citation": _refer(*(_paper_id(paper) for paper in facts.papers)),
    } | _by("author", facts)


def _by(role: str, facts: CrateFacts) -> Node:
    return {role: {"@id": AUTHOR}} if facts.author else {}


def _files(facts: CrateFacts) -> list[Node]:
    parameter = {file: name for name, file in (_INPUTS | _OUTPUT).items()}
    nodes: list[Node] = []
    for name, kind in facts.files.items():
        node: Node = {
            "@id": name,
            "@type": "File",
            "name": DESCRIPTIONS.get(name, f"Part of a page: {name}"),
            "encodingFormat": kind,
        }
        if name in parameter:
            node["exampleOfWork"] = {"@id": parameter[name]}
        if name == "README.md":
            node["about"] = {"@id": "./"}
        nodes.append(node if name != WORKFLOW else node | _workflow(facts))
    rights = (
        "Quotes and parts of pages are under the licences of their papers, as far as these are known; "
        "who passes the package on has to look at them."
    )
    return [*nodes, {"@id": _RIGHTS, "@type": "CreativeWork", "name": "Rights", "description": rights}]


def _workflow(facts: CrateFacts) -> Node:
    return {
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "conformsTo": {"@id": _WORKFLOW_PROFILE},
        "programmingLanguage": {"@id": _LANGUAGE},
        "version": facts.code_version,
        "hasPart": _refer(*(_tool_id(name, facts) for name, *_ in _STEPS)),
        "step": _refer(*(f"#{name}-step" for name, *_ in _STEPS)),
        "input": _refer(*_INPUTS),
        "output": _refer(*_OUTPUT),
    }


def _tool_id(name: str, facts: CrateFacts) -> str:
    return f"urn:monjyu:{facts.code_version}:{name}"


def _software(facts: CrateFacts) -> list[Node]:
    version = {"softwareVersion": facts.code_version}
    engine: Node = {
        "@id": f"urn:monjyu:{facts.code_version}",
        "@type": "SoftwareApplication",
        "name": "Monjyu",
        **version,
    }
    nodes: list[Node] = [engine, {"@id": _LANGUAGE, "@type": "ComputerLanguage", "name": "Search request of Monjyu"}]
    for place, (name, title, *_) in enumerate(_STEPS):
        tool = _tool_id(name, facts)
        nodes += [
            {"@id": tool, "@type": "SoftwareApplication", "name": title, **version},
            {"@id": f"#{name}-step", "@type": "HowToStep", "position": str(place), "workExample": {"@id": tool}},
        ]
    for name in (*_INPUTS, *_OUTPUT):
        nodes.append(
            {"@id": name, "@type": "FormalParameter", "name": name.removeprefix("#"), "additionalType": "File"}
        )
    return nodes


def _actions(facts: CrateFacts) -> list[Node]:
    ended: Node = {"endTime": facts.published, "actionStatus": "http://schema.org/CompletedActionStatus"}
    ended |= _by("agent", facts)
    whole = {
        "@id": "#answer-action",
        "@type": "CreateAction",
        "name": "The search",
        "description": "The question was asked of the snapshot, and answered",
        "instrument": {"@id": WORKFLOW},
        "object": _refer(*_INPUTS.values()),
        "result": _refer(*_OUTPUT.values(), "evidence.json"),
        **ended,
    }
    nodes: list[Node] = [whole]
    for name, title, read, made in _STEPS:
        action: Node = {"@id": f"#{name}-action", "@type": "CreateAction", "name": title, **ended}
        action |= {
            "description": f"Step {name!r} of the search",
            "instrument": {"@id": _tool_id(name, facts)},
            "object": _refer(*read),
            "result": _refer(*made),
        }
        control: Node = {"@id": f"#{name}-control", "@type": "ControlAction", "name": f"Control of: {title}"}
        control |= {"instrument": {"@id": f"#{name}-step"}, "object": {"@id": f"#{name}-action"}}
        nodes += [action, control]
    engine = {
        "@id": "#engine-action",
        "@type": "OrganizeAction",
        "name": "Monjyu",
        "instrument": {"@id": f"urn:monjyu:{facts.code_version}"},
        "object": _refer(*(f"#{name}-control" for name, *_ in _STEPS)),
        "result": {"@id": "#answer-action"},
        **ended,
    }
    return [*nodes, engine]


def _papers(facts: CrateFacts) -> list[Node]:
    nodes: list[Node] = []
    for paper in facts.papers:
        node = {"@id": _paper_id(paper), "@type": "ScholarlyArticle", "name": paper.title, "identifier": paper.id}
        node |= {"datePublished": str(paper.year)} if paper.year else {}
        node |= {"author": ", ".join(paper.authors)} if paper.authors else {}
        licence = facts.licences.get(paper.id)
        nodes.append(node | ({"license": {"@id": licence}} if licence else {}))
    nodes += [
        {"@id": address, "@type": "CreativeWork", "name": address} for address in sorted(set(facts.licences.values()))
    ]
    return nodes


def _paper_id(paper: Entry) -> str:
    """Return the paper's DOI as an escaped address, or its id in the collection if it has no DOI."""
    from urllib.parse import quote

    return f"https://doi.org/{quote(paper.doi, safe='/')}" if paper.doi else f"#paper-{quote(paper.id, safe='')}"
