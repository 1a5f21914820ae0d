"""E-mail addresses of page 1 and their owners."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from monjyu_assets.parsing.formats.pdf.front.title_page import Piece
from monjyu_assets.parsing.formats.pdf.page.layout import squeezed
from monjyu_core.paper import Author

_ONE = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"
_GROUP = re.compile(
    r"[{(\[]\s*([\w.+-]{1,64}(?:\s*[,;|]\s*[\w.+-]{1,64}){1,30})\s*[})\]]\s*@\s*([\w-]{1,63}(?:\.[\w-]{1,63}){1,6})"
)
EMAIL = re.compile(_ONE)
_LABEL = re.compile(r"(?:e-?mails?|mail|correspondence)(?:\s+address(?:es)?)?\s*(?:to)?\s*[:：]?", re.I)
AuthorMarks = Sequence[tuple[list[str], str | None]]


def emails_in(text: str) -> list[tuple[str, int, int]]:
    """Addresses with their place; `{ada,bob}@x.org` is two addresses."""
    found = [
        (f"{local.strip()}@{match[2]}", match.start(), match.end())
        for match in _GROUP.finditer(text)
        for local in re.split(r"[,;|]", match[1])
    ]
    taken = [(start, end) for _, start, end in found]
    for match in EMAIL.finditer(text):
        if not any(start <= match.start() < end for start, end in taken):
            address = match.group().rstrip(".")
            found.append((address.lower() if address.isupper() else address, match.start(), match.end()))
    return sorted(found, key=lambda item: item[1])


def without_emails(text: str) -> str:
    """The text without addresses and the word that announces them."""
    text = EMAIL.sub(" ", _GROUP.sub(" ", text))
    text = re.sub(r"\(?\s*\be-?mails?(?:\s+address(?:es)?)?\s*:?\s*[;,\s]*\)?\s*$", "", text, flags=re.I)
    return " ".join(text.split()).strip(" ;,:()")


def give_emails(
    authors: Sequence[Author],
    front: Sequence[Piece],
    foot: Sequence[Piece],
    owners: Mapping[int, Sequence[Piece]],
    marks_of: AuthorMarks,
    notes: Mapping[str, str],
) -> list[str]:
    """Set the e-mail of each author by the name behind it, its block, its mark or its spelling; all that were found."""
    text = "\n".join(piece.text for piece in [*front, *foot])
    found = emails_in(text)
    unclaimed: list[str] = []
    blocks = {mail: number for number, pieces in owners.items() for p in pieces for mail, _, _ in emails_in(p.text)}
    single = len(set(blocks.values())) > 1 or len(authors) == 1
    for mail, _, end in found:
        named = _named_behind(authors, text[end : end + 60])
        by_block = authors[blocks[mail]] if mail in blocks and single else None
        owner = named or by_block or _by_mark(authors, mail, marks_of, notes) or _by_spelling(authors, mail)
        if owner is not None and owner.email is None:
            owner.email = mail
        elif owner is None:
            unclaimed.append(mail)
    left = [author for author in authors if author.email is None]
    if len(authors) == 1 and unclaimed and left:
        authors[0].email = unclaimed[0]
    return [mail for mail, _, _ in found]


def _named_behind(authors: Sequence[Author], following: str) -> Author | None:
    """ "ada@x.org (Ada Byron)"."""
    match = re.match(r"\s*\(([^()]{2,50})\)", following)
    if not match:
        return None
    inside = squeezed(match[1])
    initials = [author for author in authors if inside == "".join(squeezed(word)[:1] for word in author.name.split())]
    if len(initials) == 1:
        return initials[0]
    owners = [author for author in authors if squeezed(author.name.split()[-1]) in inside]
    exact = [author for author in authors if squeezed(author.name) == inside]
    return exact[0] if exact else owners[0] if len(owners) == 1 else None


def _by_mark(authors: Sequence[Author], mail: str, marks_of: AuthorMarks, notes: Mapping[str, str]) -> Author | None:
    """The only author with the mark whose note contains the address."""
    for mark, note in notes.items():
        if mail in note and len(emails_in(note)) == 1:
            owners = [author for author, (marks, _) in zip(authors, marks_of, strict=True) if mark in marks]
            if len(owners) == 1:
                return owners[0]
    return None


def _by_spelling(authors: Sequence[Author], mail: str) -> Author | None:
    """The author whose names make up the part in front of the @, if one author fits better than all others."""
    local = squeezed(mail.split("@")[0])
    scores = [(_likeness(local, author.name), number) for number, author in enumerate(authors)]
    scores.sort(reverse=True)
    if not scores or scores[0][0] < 1.5 or (len(scores) > 1 and scores[1][0] == scores[0][0]):
        return None
    return authors[scores[0][1]]


def _likeness(local: str, name: str) -> float:
    words = [squeezed(word) for word in name.replace("-", " ").split()]
    words = [word for word in words if word]
    if not words:
        return 0
    surname, given = words[-1], words[:-1]
    score = 0.0
    if len(surname) > 1 and surname in local:
        score += 2 + len(surname) / 10
    elif len(local) >= 4 and surname.startswith(local[1:]) and words[0][0] == local[0]:
        score += 2
    score += sum(1.5 for word in given if len(word) > 2 and word in local)
    if given and score and local.startswith(given[0][0]):
        score += 0.3
    if not score and local == "".join(word[0] for word in words) and len(local) > 1:
        score = 2
    if not score and len(words[0]) > 2 and (local == words[0] or local == surname + given[0][0] if given else False):
        score = 2
    whole = squeezed(name)
    return score + (1 if local and local == whole else 0)


__all__ = ["EMAIL", "emails_in", "give_emails", "without_emails"]
