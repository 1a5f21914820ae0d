"""Which paper a former id is now: that of the file with the same bytes, where a file was renamed or moved.

Links and saved questions outlive a file's name, of which an id is made. One small file beside the record says what each
id became, as the scans saw it; no table holds it, so an index of the same files from scratch is equal. Ids of papers
that are gone, or purged, are dropped with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from monjyu_core.storage.folders import CollectionFolder, write_atomically

LONGEST_CHAIN = 100
"""Names in a row that a file has had."""


def remember_renamed(folder: CollectionFolder, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Keep what became of the papers that a scan lacks. `before`, `after`: SHA-256 of the bytes by paper id."""
    gone = before.keys() - after.keys()
    if not gone:
        return
    new = {content: paper_id for paper_id, content in after.items() if content and paper_id not in before}
    there = {content: paper_id for paper_id, content in after.items() if content} | new
    became = _renamed(folder)
    became |= {paper_id: there[before[paper_id]] for paper_id in gone if before[paper_id] in there}
    kept = {old: _followed(became, old, after.__contains__) for old in became if old not in after}
    content = json.dumps({old: now for old, now in sorted(kept.items()) if now}, ensure_ascii=False, indent=1)
    write_atomically(folder.renamed, content.encode())


def present_id(folder: CollectionFolder, paper_id: str, is_known: Callable[[str], bool]) -> str:
    """The id that a paper has now, of those that are known; the same where nothing is known of it."""
    return paper_id if is_known(paper_id) else _followed(_renamed(folder), paper_id, is_known) or paper_id


def _followed(became: Mapping[str, str], paper_id: str, is_known: Callable[[str], bool]) -> str:
    """Empty where the paper is gone."""
    for _ in range(LONGEST_CHAIN):
        paper_id = became.get(paper_id, "")
        if not paper_id or is_known(paper_id):
            return paper_id
    return ""


def _renamed(folder: CollectionFolder) -> dict[str, str]:
    """Empty where the file is missing or damaged: only former ids are lost with it."""
    try:
        found = json.loads(folder.renamed.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return {str(old): str(now) for old, now in found.items()} if isinstance(found, dict) else {}
