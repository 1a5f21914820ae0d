"""The vocabulary of papers in each language, from `XX.toml` in this folder (XX: ISO 639-1); a new file adds a language.

The entries of a file (a word matches in any case and also without its accents; a pattern is a regular expression in
lower case):

- `headings.TYPE`: patterns of whole headings by section type; `headings.summary`: those of an abstract that have
  another meaning with a number ("6 Summary" is the conclusion).
- `labels`: words before a colon, a number or a date: `abstract`, `keywords`, `figure`, `table`, `contents`, `chapter`
  and `appendix` (before the number of a heading), `authors`, `supervisors`, `title`, `published`, `accepted`,
  `received`, `running_head`.
- `names`: `and`, `and_others` ("et al."), `editors`, `particles` (before a surname); `organisation`: patterns of
  beginnings of words that are not part of a person's name; `small_words`: words that are not part of a name in lower
  case; `no_names`: patterns of words that are never a name; `family_first`: whether names in the range of characters
  `letters` begin with the family name; `surnames`: common family names of one character.
- `dates.months`: twelve texts, each a month's forms with spaces between them.
- `words.function`: function words, which do not describe a sentence's subject, including question words.
- `references`: `within` (before a book's title), `undated`, `accessed` (before the day on which a page was read),
  `available` (before an address), `parts` (before volume, issue and pages).
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

_ACCENTS = re.compile("[\u0300-\u036f]")


@cache
def vocabularies() -> Mapping[str, Mapping[str, Any]]:
    """The content of each language's file, by language code."""
    folder = Path(__file__).parent
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.toml"))}


def folded(text: str) -> str:
    """The text in lower case and narrow forms, without accents. Japanese, Arabic and Indic marks remain."""
    if text.isascii():
        return text.casefold()
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold())))


@cache
def words(key: str) -> tuple[str, ...]:
    """The entries of all languages under a key such as "labels.keywords", the longest first."""
    table, _, name = key.partition(".")
    found = [word for each in vocabularies().values() for word in each.get(table, {}).get(name, ())]
    return tuple(sorted(dict.fromkeys(found), key=len, reverse=True))


@cache
def alternatives(key: str) -> str:
    """A pattern that matches the words under a key, with or without their accents; for patterns that ignore case."""
    both = dict.fromkeys(form for word in words(key) for form in (word, folded(word)))
    return alternation(sorted(both, key=len, reverse=True))


def alternation(forms: Sequence[str]) -> str:
    """A pattern that matches one of `forms`; no letter may follow a form that ends in an alphabetic letter."""
    return "(?:" + "|".join(map(_whole_word, forms)) + ")"


def _whole_word(word: str) -> str:
    escaped = r"\s+".join(re.escape(part) for part in word.split())
    return escaped + (r"(?![^\W\d_])" if _in_alphabet(word[-1]) else "")


def _in_alphabet(character: str) -> bool:
    return character.isalpha() and not "\u2e80" <= character <= "\ud7a3"


@cache
def stems(key: str, whole: bool = False) -> str:
    """A pattern of the stems under a key, or with `whole` of words; alphabetic ones match at word starts."""
    found = dict.fromkeys(form for word in words(key) for form in (word, _plain(word)))
    alphabet = [form for form in found if _in_alphabet(form[0])]
    others = [form for form in found if not _in_alphabet(form[0])]
    end = r"(?![^\W\d_])" if whole else ""
    return "(?:" + "|".join([rf"(?<![^\W\d_])(?:{'|'.join(alphabet)}){end}", *others]) + ")"


def _plain(pattern: str) -> str:
    """A pattern without accents."""
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", pattern)))


@cache
def months() -> Mapping[str, int]:
    """The month (1 to 12) by each form of its name, folded."""
    tables = [each["dates"]["months"] for each in vocabularies().values() if "dates" in each]
    return {folded(form): number for table in tables for number, forms in enumerate(table, 1) for form in forms.split()}


@cache
def month_pattern() -> str:
    """A pattern that matches the months' names, with or without their accents; for patterns that ignore case."""
    tables = [each["dates"]["months"] for each in vocabularies().values() if "dates" in each]
    forms = {form for table in tables for forms in table for form in forms.split()}
    return alternation(sorted(forms | set(months()), key=len, reverse=True))
