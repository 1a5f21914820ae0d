"""Singulars of plural nouns, by the rules, exceptions and word list of spaCy's lemmatizer.

The lemmatizer gives the same, but looks for a word in a list of 80,000 one after the other.
"""

from __future__ import annotations

from typing import Any


class Plurals:
    def __init__(self, lookups: Any) -> None:
        """`lookups` are the tables of the lemmatizer."""
        self._rules = [tuple(rule) for rule in lookups.get_table("lemma_rules")["noun"]]
        self._exceptions = lookups.get_table("lemma_exc")["noun"]
        self._nouns = frozenset(lookups.get_table("lemma_index")["noun"])

    def singular(self, word: str) -> str:
        """The lemma of a plural noun: of its exceptions the last, else a noun that is known, else what a rule makes of
        it; the word itself where nothing does."""
        lower = word.lower()
        made = [form for old, new in self._rules if lower.endswith(old) and (form := lower[: -len(old)] + new)]
        known = [form for form in made if form in self._nouns]
        apart = [form for form in made if form not in self._nouns and not form.isalpha()]
        listed = [form for form in self._exceptions.get(lower, ()) if form not in known and form not in apart]
        return next(iter([*listed[::-1], *known[::-1], *apart, *made]), word)
