"""Parts of speech from tags, by the rules of the model's own attribute ruler, looked up instead of matched.

spaCy's ruler runs a matcher of 179 patterns over every token, a third of the time of the whole pipeline. Nearly all
of its patterns are one token's tag, word or dependency, which a table answers. Patterns over several tokens set lemmas,
or tell "there is" from "is": nothing that a noun phrase depends on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_KNOWN = {"TAG", "LOWER", "DEP", "IS_SPACE"}


@dataclass(frozen=True)
class _Rule:
    """What a token must have; None = anything. Sets of hashes; `but` are dependencies that it must not have."""

    part: int
    words: frozenset[int] | None
    dependencies: frozenset[int] | None
    but: frozenset[int]
    space: bool | None

    @property
    def always(self) -> bool:
        return self.words is None and self.dependencies is None and not self.but and self.space is None


class PartsOfSpeech:
    """Sets `pos` of each token of a parsed document. A later rule wins over an earlier one, as in the ruler."""

    def __init__(self, pipeline: Language) -> None:
        ruler: Any = pipeline.get_pipe("attribute_ruler")
        strings = pipeline.vocab.strings
        tags = [strings.add(tag) for tag in pipeline.get_pipe("tagger").labels]  # type: ignore[attr-defined]
        self._by_tag: dict[int, list[_Rule]] = {tag: [] for tag in tags}
        for entry in ruler.patterns:
            if "POS" not in entry["attrs"]:
                continue
            part = strings.add(entry["attrs"]["POS"])
            for pattern in entry["patterns"]:
                if len(pattern) == 1 and pattern[0].keys() <= _KNOWN:
                    self._add(strings, pattern[0], part, tags)
        # Searched from the end: nothing before a rule that always holds is ever reached.
        self._by_tag = {tag: _from_last(rules) for tag, rules in self._by_tag.items()}

    def _add(self, strings: Any, token: Mapping[str, Any], part: int, tags: list[int]) -> None:
        wanted, unwanted = _values(strings, token.get("TAG"))
        words, _ = _values(strings, token.get("LOWER"))
        dependencies, but = _values(strings, token.get("DEP"))
        rule = _Rule(part, words, dependencies, but, token.get("IS_SPACE"))
        for tag in set(tags if wanted is None else wanted) & set(tags) - unwanted:
            self._by_tag[tag].append(rule)

    def __call__(self, doc: Doc) -> None:
        by_tag = self._by_tag
        for token in doc:
            for rule in by_tag.get(token.tag, ()):
                if (
                    (rule.words is None or token.lower in rule.words)
                    and (rule.dependencies is None or token.dep in rule.dependencies)
                    and token.dep not in rule.but
                    and (rule.space is None or token.is_space == rule.space)
                ):
                    token.pos = rule.part
                    break


def _values(strings: Any, value: Any) -> tuple[frozenset[int] | None, frozenset[int]]:
    """Hashes that a pattern allows (None = all), and those that it forbids."""
    if value is None:
        return None, frozenset()
    if isinstance(value, str):
        return frozenset({strings.add(value)}), frozenset()
    allowed = frozenset(map(strings.add, value["IN"])) if "IN" in value else None
    return allowed, frozenset(map(strings.add, value.get("NOT_IN", ())))


def _from_last(rules: list[_Rule]) -> list[_Rule]:
    needed = []
    for rule in reversed(rules):
        needed.append(rule)
        if rule.always:
            break
    return needed
