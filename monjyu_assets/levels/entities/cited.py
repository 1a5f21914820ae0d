"""Papers, researchers and organizations from a paper's title page and reference list, without a model."""

import re
from collections.abc import Iterator

from monjyu_assets.levels.engines.chunk_engine import FoundEntity, FoundRelationship, SourceChunk, SourcePaper
from monjyu_assets.levels.entities.findings import Stance, fold
from monjyu_core.language.packs import also, cues

_GROUPS = frozenset(("team", "group", "project", "community", "collaboration", "developers", "council", "committee"))
_TITLE = re.compile(r"^(?:prof(?:essor)?|dr|mr|mrs|ms)\b\.? ", re.I)
_NAMES = re.compile(r"\b[A-Z]\.,")
BEGINNING = 30
"""The number of leading characters by which a citing sentence is found in a chunk."""
MOST_AUTHORS = 3
"""The number of authors of a cited work that become entities."""
_PERSON = re.compile(r"[^\W\d_][\w.'’ -]{2,60}")
_ORG_PARTS = re.compile(cues("cited.org_parts"), re.I)

Findings = tuple[list[FoundEntity], list[FoundRelationship]]


def title_page(paper: SourcePaper) -> Findings:
    """The entities of the title page (paper, authors, institutions) and the relationships between them."""
    title = paper.title.strip()
    entities: list[FoundEntity] = []
    links: list[FoundRelationship] = []
    this_paper = ("paper", fold(title))
    if this_paper[1]:
        entities.append(entity("paper", this_paper[1], title, "", [], 1.0))
    for author in paper.authors:
        key = person_key(author.name)
        if not key:
            continue
        entities.append(entity("researcher", key, person_name(author.name), "", [], 1.0))
        if this_paper[1]:
            links.append(
                link(("researcher", key), this_paper, "authored", f"{person_name(author.name)} wrote {title}.", [])
            )
        place = _organization(author.affiliation)
        if place:
            at = ("organization", fold(place))
            entities.append(entity(*at, place, "", [], 0.9))
            where = f"{person_name(author.name)} is at {place}."
            links.append(link(("researcher", key), at, "affiliated", where, []))
    return entities, links


def cited_in(paper: SourcePaper, chunk: SourceChunk) -> Iterator[Findings]:
    """The works that sentences of `chunk` cite, each with its first authors."""
    sentences = [(" ".join(s.text.split()), s.sentence_id) for s in chunk.sentences]
    whole = "\n".join(text for text, _ in sentences)
    this_paper = ("paper", fold(paper.title))
    for reference in paper.references:
        contexts = [" ".join(context.split()) for context in reference.contexts]
        contexts = [context for context in contexts if context[:BEGINNING] in whole]
        key = fold(reference.title) if contexts else ""
        if not key or (len(key.split()) < 2 and len(key) < 6) or len(_NAMES.findall(reference.title)) > 2:
            continue  # no title, or a list of authors misread as one
        at = [where for text, where in sentences if any(text in c or c in text for c in contexts if c)]
        if not at:
            continue
        entities = [entity("paper", key, reference.title, "", at, 1.0)]
        links = (
            [link(this_paper, ("paper", key), "cites", f"{paper.title} cites {reference.title}.", at)]
            if this_paper[1]
            else []
        )
        for name in reference.authors[:MOST_AUTHORS]:
            person = person_key(name)
            if person:
                shown = person_name(name)
                entities.append(entity("researcher", person, shown, "", at, 0.9))
                wrote = f"{shown} wrote {reference.title}."
                links.append(link(("researcher", person), ("paper", key), "authored", wrote, at))
        yield entities, links


def person_name(name: str) -> str:
    """The name without a leading title such as Dr., given names first, with single spaces."""
    last, comma, given = name.partition(",")
    return _TITLE.sub("", " ".join((f"{given} {last}" if comma else name).split()))


def person_key(name: str) -> str:
    """The folded name, given names first; empty if it is not that of a person, such as a group or a single word."""
    shown = person_name(name)
    words = [fold(word).replace(" ", "") for word in shown.replace(".", ". ").split()]
    words = [word for word in words if word]
    if not 2 <= len(words) <= 6 or not _PERSON.fullmatch(shown) or _ORG_PARTS.search(shown) or words[-1] in _GROUPS:
        return ""
    return " ".join(words) if len(words[-1]) > 1 else ""


def is_organization(name: str) -> bool:
    """Whether a capitalised name is that of a university, an institute or a company."""
    words = [word for word in name.split() if len(word) > 3]
    return bool(words) and all(word[:1].isupper() for word in words) and bool(_ORG_PARTS.search(name))


_UNIVERSITY = re.compile("univ|institut" + also("cited.university"), re.I)


def _organization(affiliation: str | None) -> str | None:
    """The last part of an address that names a university or institute; without one, the last that names any
    organization. Addresses usually go from small units to large ones."""
    parts = [part.strip(" .;") for part in re.split(r"[,;、]", (affiliation or "")[:400])]
    named = [part for part in parts if _ORG_PARTS.search(part) and 4 <= len(part) <= 90]
    best = [part for part in named if _UNIVERSITY.search(part)]
    unit = (best or named or [""])[-1]
    return re.sub(r"^[Tt]he ", "", unit) or None


def entity(entity_type: str, key: str, name: str, description: str, at: list[str], confidence: float) -> FoundEntity:
    """A row of `entity_mentions` without its chunk."""
    return {
        "entity_key": key,
        "type": entity_type,
        "name": " ".join(name.split()),
        "description": description,
        "sentence_ids": at,
        "confidence": confidence,
    }


def link(
    source: tuple[str, str],
    target: tuple[str, str],
    relation: str,
    text: str,
    at: list[str],
    weight: float = 1.0,
    stance: Stance = "stated",
) -> FoundRelationship:
    """A row of `relationship_mentions` without its chunk; ends are (type, key)."""
    return {
        "source_type": source[0],
        "source_key": source[1],
        "target_type": target[0],
        "target_key": target[1],
        "type": relation,
        "stance": stance,
        "description": text,
        "sentence_ids": at,
        "weight": weight,
    }
