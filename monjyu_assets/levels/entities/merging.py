"""Merges mentions into entities by normalised name, acronym and alias, never by name alone across types.

The result follows from the set of mentions: order and history do not count.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from monjyu_assets.levels.entities.findings import fold
from monjyu_assets.matching.union_find import UnionFind
from monjyu_core.storage.rows.rows_levels import EntityMentionRow

Node = tuple[str, str]
"""(type, key)"""

_WITH_ACRONYM = re.compile(r"(.{3,200}?) \(([A-Za-z][\w.&/+-]{1,11})\)")


@dataclass(frozen=True)
class Ids:
    """External ids by folded title or name: `doi:…`, `arxiv:…`, `orcid:…`; and the years of cited works."""

    papers: Mapping[str, frozenset[str]]
    researchers: Mapping[str, frozenset[str]]
    years: Mapping[str, int]

    def of(self, node: Node) -> frozenset[str]:
        entity_type, key = node
        return {"paper": self.papers, "researcher": self.researchers}.get(entity_type, {}).get(key, frozenset())


def split_acronym(name: str) -> tuple[str, str | None]:
    """Splits `latent Dirichlet allocation (LDA)` into its long and its short form."""
    match = _WITH_ACRONYM.fullmatch(name)
    return (match[1], match[2]) if match else (name, None)


def merge(mentions: Iterable[EntityMentionRow], ids: Ids) -> dict[Node, Node]:
    """Maps each (type, key) to the one that stands for its entity."""
    names: dict[Node, set[str]] = defaultdict(set)
    for row in mentions:
        names[row["type"], row["entity_key"]].add(row["name"])
    nodes = sorted(names)
    groups: UnionFind[Node] = UnionFind()
    for one, other in _same(nodes, names, ids):
        groups.join(one, other)
    members: dict[Node, list[Node]] = defaultdict(list)
    for node in nodes:
        members[groups.find(node)].append(node)
    return {node: min(group, key=_standing) for group in members.values() for node in group}


def _standing(node: Node) -> tuple[int, str]:
    """The long form stands for the short one."""
    return -len(node[1]), node[1]


def _same(nodes: list[Node], names: Mapping[Node, set[str]], ids: Ids) -> Iterator[tuple[Node, Node]]:
    """Pairs of the same type that are the same entity."""
    there = set(nodes)
    yield from _by_group((("spelling", node[0], fold(node[1]).replace(" ", "")), node) for node in nodes)
    yield from _by_group((("id", one), node) for node in nodes for one in sorted(ids.of(node)))
    for entity_type, key in nodes:
        if key.endswith("s") and len(key) > 4 and (entity_type, key[:-1]) in there:
            yield (entity_type, key), (entity_type, key[:-1])
    yield from _acronyms(nodes, names)
    yield from _initials([key for entity_type, key in nodes if entity_type == "researcher"])


def _by_group(keyed: Iterable[tuple[tuple[str, ...], Node]]) -> Iterator[tuple[Node, Node]]:
    first: dict[tuple[str, ...], Node] = {}
    for key, node in keyed:
        if any(key):
            yield first.setdefault(key, node), node


def _acronyms(nodes: list[Node], names: Mapping[Node, set[str]]) -> Iterator[tuple[Node, Node]]:
    """A bare acronym is the long form that papers define, if they define only one of its type."""
    longs: dict[Node, set[Node]] = defaultdict(set)
    for node in nodes:
        for name in names[node]:
            short = split_acronym(name)[1]
            if short:
                longs[node[0], short.casefold()].add(node)
    for short_node, defined in longs.items():
        if len(defined) == 1 and short_node in names:
            yield short_node, next(iter(defined))


def _initials(keys: list[str]) -> Iterator[tuple[Node, Node]]:
    """`j smith` is `john smith` if no other Smith with a J is known; `john a smith` is `john smith`."""
    full: dict[tuple[str, str], set[str]] = defaultdict(set)
    for key in keys:
        given, last = key.split()[0], key.split()[-1]
        if len(given) > 1:
            full[last, given[0]].add(given)
    first: dict[tuple[str, str], str] = {}
    for key in keys:
        given, last = key.split()[0], key.split()[-1]
        known = full[last, given[0]]
        who = given if len(given) > 1 else next(iter(known)) if len(known) == 1 else given if not known else None
        if who is not None:
            yield ("researcher", first.setdefault((last, who), key)), ("researcher", key)


def aliases(names: Counter[str]) -> tuple[str, list[str]]:
    """The most frequent name (without its acronym), and the others with acronyms apart."""
    forms: Counter[str] = Counter()
    for name, count in names.items():
        long, short = split_acronym(name)
        forms[long] += count
        if short:
            forms[short] += 0
    best = min(forms, key=lambda name: (-forms[name], -len(name), name))
    return best, sorted(set(forms) - {best})
