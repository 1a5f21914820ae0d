"""`verify_package`: what of a package holds, what does not, and what could not be looked at."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from monjyu_core.errors import ConfigurationError, MonjyuError
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.storage.snapshot import read_current
from monjyu_query.answer_packages.canonical import text_sha256
from monjyu_query.answer_packages.checking.claims_of_package import CitationClaim, Claims, read_claims
from monjyu_query.answer_packages.checking.package_reading import ReadPackage, read_package
from monjyu_query.answer_packages.checking.quotes_stand import quotes_check
from monjyu_query.answer_packages.checking.same_answer import answer_check
from monjyu_query.answer_packages.package_files import MANIFEST, SIGNATURE, read_manifest_file
from monjyu_query.answer_packages.signature import signer_of

Outcome = Literal["holds", "differs", "not_checked"]
_MOST_NAMED = 20


class Check(BaseModel):
    """One thing that was looked at; `said` is for people, `details` names files or sentences (the first twenty)."""

    check: str
    outcome: Outcome
    said: str
    details: list[str] = []


class Verified(BaseModel):
    """`ok`: nothing differs. What was not checked is said, and is no difference."""

    package: str
    ok: bool
    checks: list[Check]


def verify_package(
    path: Path, data: DataFolder | None, collection: str | None = None, key: str | None = None
) -> Verified:
    """NotAPackage where there is none. `key`: the public key (base64) that must have signed it; `collection` in place
    of the one that the package names."""
    package = read_package(path)
    checks = [_files(package), _frame(package), _signature(package, key)]
    try:
        claims = read_claims(package.files)
    except (ValidationError, ValueError, KeyError, RecursionError):
        checks.append(Check(check="contents", outcome="differs", said="The package's own files cannot be understood."))
    else:
        checks += [_contents(claims), *_against_collection(claims, package, data, collection)]
    return Verified(package=str(path), ok=all(one.outcome != "differs" for one in checks), checks=checks)


def _files(package: ReadPackage) -> Check:
    listed = read_manifest_file(package.files[MANIFEST])
    if listed is None:
        return Check(check="files", outcome="differs", said=f"{MANIFEST} is not as it was written.", details=[MANIFEST])
    there = {name for name in package.files if name not in (MANIFEST, SIGNATURE)}
    changed = {
        name
        for name in there & listed.keys()
        if name in package.damaged or hashlib.sha256(package.files[name]).hexdigest() != listed[name]
    }
    told = [
        *(f"changed: {name}" for name in sorted(changed)),
        *(f"missing: {name}" for name in sorted(listed.keys() - there)),
        *(f"not listed: {name}" for name in sorted(there - listed.keys())),
    ]
    if told:
        return Check(check="files", outcome="differs", said=f"{len(told)} files differ.", details=told[:_MOST_NAMED])
    return Check(check="files", outcome="holds", said=f"All {len(listed)} files are as they were written.")


def _frame(package: ReadPackage) -> Check:
    if package.framed:
        return Check(check="archive", outcome="holds", said="Nothing is beside the files.")
    said = "The archive itself is not as it was written: changed, or packed by another program."
    return Check(check="archive", outcome="differs", said=said)


def _signature(package: ReadPackage, key: str | None) -> Check:
    if SIGNATURE not in package.files:
        outcome: Outcome = "not_checked" if key is None else "differs"
        return Check(check="signature", outcome=outcome, said="The package is not signed.")
    signer = signer_of(package.files)
    if signer is None:
        return Check(check="signature", outcome="differs", said="The signature does not hold.", details=[SIGNATURE])
    if key is not None and signer != key:
        return Check(check="signature", outcome="differs", said="Another key signed it.", details=[signer])
    whose = "By the key given." if key else "By the key named here; --key checks whose it is."
    return Check(check="signature", outcome="holds", said=f"The signature holds. {whose}", details=[signer])


def _contents(claims: Claims) -> Check:
    """The answer and the evidence must say the same of each citation."""
    wrong = [f"[{n}]" for n in _contradictions(claims)]
    if wrong:
        said = "Answer and evidence contradict each other."
        return Check(check="contents", outcome="differs", said=said, details=wrong[:_MOST_NAMED])
    return Check(check="contents", outcome="holds", said="Answer and evidence agree.")


def _contradictions(claims: Claims) -> Iterator[int]:
    evidence = {cited.n: cited for cited in claims.evidence.citations}
    for cited in claims.answer.citations:
        found = evidence.pop(cited.n, None)
        if found is None or (found.quote, found.paper_id) != (cited.quote, cited.paper_id) or _misdigested(found):
            yield cited.n
    yield from evidence


def _misdigested(cited: CitationClaim) -> bool:
    if text_sha256(cited.quote) != cited.quote_sha256:
        return True
    return any(text_sha256(one.text) != one.text_sha256 for one in cited.sentences)


def _against_collection(
    claims: Claims, package: ReadPackage, data: DataFolder | None, collection: str | None
) -> list[Check]:
    name = collection or claims.snapshot.collection
    folder = _published(data, name) if data is not None else None
    if data is None or folder is None:
        why = f"Collection {name[:64]!r} is not here."
        return [Check(check=check, outcome="not_checked", said=why) for check in ("quotes", "answer")]
    found = []
    for check, look in (("quotes", quotes_check), ("answer", answer_check)):
        try:
            outcome, said, details = look(claims, package.files, data, folder)
        except MonjyuError as error:
            outcome, said, details = "not_checked", f"This could not be looked at: {error.message}", list[str]()
        found.append(Check(check=check, outcome=outcome, said=said, details=details[:_MOST_NAMED]))
    return found


def _published(data: DataFolder, name: str) -> CollectionFolder | None:
    try:
        folder = data.collection(name)
        return folder if read_current(folder) is not None and folder.record.is_file() else None
    except ConfigurationError:
        return None
