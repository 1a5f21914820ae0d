"""How many of the contradictions that were written into sets of papers the tensions of level 4 find, and how many pairs
they list that only look opposed.

Each set of `bench/data/tensions/` is ten or twelve short papers on a few themes with pairs of sentences of two papers:
contradictions (`direction`, `negation`, `number`) and near misses (another population, dose, outcome or unit, the same
said in opposite words, a belief that is only quoted). The rules were developed on some of the sets: docs/benchmarks.md
says on which.

    python bench/bench_tensions.py [--set ecology] [--pairs]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

SETS = Path(__file__).with_name("data") / "tensions"
ALIKE = 0.6
"""From which likeness a quote is the sentence that was written: a statement may be a part of it."""
Row = dict[str, Any]


def listed(folder: Path, papers: Sequence[Row]) -> tuple[list[Row], dict[int, str]]:
    """The tensions of the papers, indexed into a folder, and their quotes by number."""
    source = folder / "papers"
    source.mkdir()
    for paper in papers:
        (source / paper["file"]).write_text(paper["text"], encoding="utf-8")
    environment = os.environ | {"MONJYU_DATA": str(folder / "data")}
    monjyu = [sys.executable, "-m", "monjyu_core"]
    made = [*monjyu, "index", str(source), "-c", "written", "--level", "4", "--json"]
    subprocess.run(made, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    asked = [*monjyu, "tensions", "-c", "written", "--json", "--most", "200"]
    found = json.loads(subprocess.run(asked, env=environment, check=True, capture_output=True, text=True).stdout)
    return found["tensions"], {one["n"]: one["quote"] for one in found["citations"]}


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", text.casefold()).strip()


def _is(written: str, side: Mapping[str, Any], quotes: Mapping[int, str]) -> bool:
    texts = [_plain(quotes[side["citation"]]), _plain(side["statement"])]
    written = _plain(written)
    return any(written in text or SequenceMatcher(None, written, text).ratio() >= ALIKE for text in texts)


def kind_of(tension: Row, quotes: Mapping[int, str], pairs: Sequence[Row]) -> tuple[int, str]:
    """The place and the kind of the written pair that a tension is; -1 and `other` where it is none. One that is a
    contradiction and like a near miss, too, is the contradiction."""
    one, other = tension["first"], tension["second"]
    same = [
        (place, pair["kind"])
        for place, pair in enumerate(pairs)
        if (_is(pair["a"]["sentence"], one, quotes) and _is(pair["b"]["sentence"], other, quotes))
        or (_is(pair["a"]["sentence"], other, quotes) and _is(pair["b"]["sentence"], one, quotes))
    ]
    return min(same, key=lambda found: found[1] == "near_miss", default=(-1, "other"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", help="one set only")
    parser.add_argument("--pairs", action="store_true", help="with the pairs that are listed")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures: dict[str, dict[str, object]] = {}
    for file in sorted(SETS.glob("*.jsonl")):
        if given.set not in (None, file.stem):
            continue
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        pairs = [row for row in rows if "kind" in row]
        with tempfile.TemporaryDirectory() as folder:
            tensions, quotes = listed(Path(folder), [row for row in rows if "text" in row])
        kinds = [kind_of(one, quotes, pairs) for one in tensions]
        found = Counter(kind for _, kind in set(kinds) if kind not in ("near_miss", "other"))
        beside = Counter(kind for _, kind in kinds if kind in ("near_miss", "other"))
        figures[file.stem] = {
            "written": sum(pair["kind"] != "near_miss" for pair in pairs),
            "found": found.total(),
            "near_misses": beside["near_miss"],
            "others": beside["other"],
        }
        if given.pairs:
            sides = [f"{one['first']['statement']} || {one['second']['statement']}" for one in tensions]
            shown = zip(tensions, kinds, sides, strict=True)
            figures[file.stem]["pairs"] = [f"{one['score']:.2f} {kind}: {text}" for one, (_, kind), text in shown]
    print(json.dumps(figures, indent=None if given.json else 1, ensure_ascii=False))


if __name__ == "__main__":
    main()
