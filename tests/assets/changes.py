"""Random changes of a folder of papers and of how its index is built, for tests of incremental builds.

A change is a tuple of a word and small numbers, so that a failing sequence can be read, pasted and repeated.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from monjyu_assets.indexing.index_operations import purge_paper, release_rollback, roll_back
from monjyu_core.records.corrected_values import Field
from monjyu_core.records.corrections import PaperIdentity, correct
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import known_record
from monjyu_core.storage.ids import file_paper_id
from monjyu_core.storage.snapshot import held, published
from tests.assets.worlds import RECORDS, World

WORDS = ["graph", "community", "provenance", "retrieval", "sentence", "index", "shard", "answer", "phrase", "evidence"]
NAMED = ["Python", "JupyterLab", "the Wilson Institute", "latent Dirichlet allocation (LDA)", "LDA", "GraphBase"]
PEOPLE = ["Ada Wilson", "A. Wilson", "Kenji Mori", "Maria Silva", "M. Silva"]
JAPANESE = ["知識グラフ", "検索索引", "根拠文", "共同体検出", "名詞句", "要約文", "引用関係"]
SETTINGS = [
    {},
    {"chunking": {"size_tokens": 60, "overlap_tokens": 12}},
    {"chunking": {"strategy": "paragraph"}},
    {"graph": {"min_df": 1, "edge_percentile": 10.0}},
    {"graph": {"max_community_size": 4}},
    {"citations": {"follow_preprints": True}},
    {"levels": {"entities": {"extract_share": 0.5}}},
    {"levels": {"entities": {"max_community_size": 4}, "reports": {"min_size": 1, "max_findings": 2}}},
    {"levels": {"claims": {"max_per_chunk": 1, "min_confidence": 0.1}}},
]
"""What collection.yaml may override: something of each level."""

CORRECTED: list[tuple[Field, list[Any]]] = [
    ("title", ["On corrected titles", None, "On the graph of evidence"]),
    ("authors", [["Ada Wilson", "Grace Hopper"], None, ["K. Mori"]]),
    ("publication_date", ["1999-12-31", "2012", "", None]),
    ("doi", ["10.1234/work.3", None, "", "10.9999/other"]),
    ("venue", ["Journal of Corrections", ""]),
    ("abstract", ["What it is about.\nAnd more.", None]),
    ("language", ["ja", None]),
]

Change = tuple[str, int, int]


def sentence(chance: random.Random) -> str:
    """`The graph helps the shard index, the answer and the phrase.`"""
    first, *others = [" ".join(chance.choices(WORDS, k=chance.choice([1, 1, 2]))) for _ in range(chance.randint(3, 6))]
    return f"The {first} helps the {', the '.join(others[:-1])} and the {others[-1]}."


def paper_text(seed: int) -> str:
    chance = random.Random(seed)
    sentences = [sentence(chance) for _ in range(12)]
    return (
        f"# Paper {seed}\n\n## Introduction\n\n{' '.join(sentences[:6])}\n\n## Results\n\n{' '.join(sentences[6:])}\n"
    )


def built_world(folder: Path, papers: int, level: int) -> World:
    """A world of so many generated papers, `p0.md` and on, built up to a level: `data` and `papers` in the folder."""
    return World.of(folder, {f"p{number}.md": paper_text(number) for number in range(papers)}, level)


def full_paper(seed: int) -> str:
    """A paper with front matter, a table, claims, and references to others of its kind; every fifth in Japanese."""
    chance = random.Random(seed)
    front = {"title": title(seed % 12), "date": f"{2010 + seed % 7}", "author": chance.sample(PEOPLE, 2)}
    front |= {"doi": f"10.1234/work.{seed % 12}"} if seed % 3 else {}
    cited = [chance.randrange(12) for _ in range(3)]
    found = [f"{chance.choice(NAMED)} is {n + 2} % faster than {chance.choice(NAMED)} [{n + 1}]." for n in range(3)]
    body = " ".join([*(sentence(chance) for _ in range(5)), *found])
    if seed % 5 == 0:
        said = (f"{chance.choice(JAPANESE)}は{chance.choice(JAPANESE)}を{n}倍速くする。" for n in range(6))
        body = f"{''.join(said)}\n\n{body}"
    table = f"| system | score |\n| --- | --- |\n| {chance.choice(NAMED)} | {seed} |\n\n: Scores of paper {seed}\n"
    entries = [
        f"[{n + 1}] Wilson, A. ({2010 + other % 7}). {title(other)}. Journal of Indexes. doi:10.1234/work.{other}"
        for n, other in enumerate(cited)
    ]
    sections = {"Introduction": " ".join(sentence(chance) for _ in range(4)), "Results": f"{body}\n\n{table}"}
    sections |= {"References": "\n\n".join(entries)}
    head = yaml.safe_dump(front, allow_unicode=True)
    return f"---\n{head}---\n\n" + "\n\n".join(f"## {name}\n\n{text}" for name, text in sections.items()) + "\n"


def title(number: int) -> str:
    chance = random.Random(number)
    return f"On the {' '.join(chance.sample(WORDS, 4))} of systems that answer questions"


def bibliography(seed: int) -> str:
    """BibTeX of a file that stands beside a paper."""
    return f"@article{{k{seed % 3}, title={{{title(seed % 12)}}}, author={{Wilson, Ada}}, year={{2015}}}}\n"


@dataclass
class Folder:
    """A world whose folder is changed, and what must be remembered between changes."""

    world: World
    level: int = 1
    highest: int = 1
    records: dict[str, str] = field(default_factory=dict)
    gone: dict[str, bytes] = field(default_factory=dict)

    @property
    def papers(self) -> Path:
        return self.world.papers

    def files(self) -> list[Path]:
        return sorted(path for path in self.papers.rglob("*.md"))

    def file(self, number: int) -> Path | None:
        files = self.files()
        return files[number % len(files)] if files else None

    def apply(self, change: Change) -> None:
        action, number, seed = change
        getattr(self, f"_{action}")(number, seed)

    def _add(self, number: int, seed: int) -> None:
        path = self.papers / ("", "sub", "sub/deeper")[seed % 3] / f"p{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(full_paper(seed))

    def _edit(self, number: int, seed: int) -> None:
        if path := self.file(number):
            path.write_text(full_paper(seed))

    def _extend(self, number: int, seed: int) -> None:
        if path := self.file(number):
            path.write_text(f"{path.read_text()}\n## Discussion\n\n{sentence(random.Random(seed))}\n")

    def _bib(self, number: int, seed: int) -> None:
        """A sidecar that comes, changes or goes; the paper cites one of its works."""
        if path := self.file(number):
            beside = path.with_suffix(".bib")
            if seed % 3 == 2:
                beside.unlink(missing_ok=True)
                return
            beside.write_text(bibliography(seed))
            if "[@k" not in path.read_text():
                path.write_text(path.read_text().replace(".\n\n## Results", f", says [@k{seed % 3}].\n\n## Results"))

    def _move(self, number: int, seed: int) -> None:
        if path := self.file(number):
            target = self.papers / ("", "sub", "other")[seed % 3] / f"moved{seed % 4}.md"
            target.parent.mkdir(exist_ok=True)
            path.rename(target)

    def _swap(self, number: int, seed: int) -> None:
        one, other = self.file(number), self.file(seed)
        if one and other and one != other:
            between = one.with_suffix(".swapping")
            one.rename(between)
            other.rename(one)
            between.rename(other)
            if seed % 2:  # as an archive unpacks them: of one time
                os.utime(one, ns=(10**18, 10**18))
                os.utime(other, ns=(10**18, 10**18))

    def _copy(self, number: int, seed: int) -> None:
        if path := self.file(number):
            (self.papers / f"copy{seed % 3}.md").write_bytes(path.read_bytes())

    def _delete(self, number: int, seed: int) -> None:
        if path := self.file(number):
            self.gone[str(path.relative_to(self.papers))] = path.read_bytes()
            path.unlink()

    def _restore(self, number: int, seed: int) -> None:
        """What was deleted last is there again."""
        if self.gone:
            name, content = self.gone.popitem()
            path = self.papers / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def _touch(self, number: int, seed: int) -> None:
        if path := self.file(number):
            path.touch()

    def _broken(self, number: int, seed: int) -> None:
        """A file that cannot be parsed, or one that can be again."""
        path = self.papers / "broken.md"
        path.write_bytes(b"" if seed % 2 else full_paper(seed).encode())

    def _record(self, number: int, seed: int) -> None:
        self.records[f"r{number}"] = paper_text(seed).replace("#", "") if seed % 7 else ""
        self._write_records()

    def _unrecord(self, number: int, seed: int) -> None:
        self.records.pop(f"r{number}", None)
        self._write_records()

    def _shuffle(self, number: int, seed: int) -> None:
        items = list(self.records.items())
        random.Random(seed).shuffle(items)
        self.records = dict(items)
        self._write_records()

    def _write_records(self) -> None:
        lines = [{"id": key, "title": f"Record {key}", "text": text} for key, text in self.records.items()]
        (self.papers / RECORDS).write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    def _setting(self, number: int, seed: int) -> None:
        overrides = SETTINGS[seed % len(SETTINGS)]
        (self.papers / "collection.yaml").write_text(yaml.safe_dump({"overrides": overrides}))

    def _level(self, number: int, seed: int) -> None:
        """The level that is built from now on: higher ones are left behind."""
        self.level = 1 + seed % 4
        self.highest = max(self.highest, self.level)

    def _purge(self, number: int, seed: int) -> None:
        if path := self.file(number):
            paper_id = file_paper_id(path.relative_to(self.papers).as_posix())
            known = {row["paper_id"] for row in self.world.tables()["manifest"]}
            if paper_id in known:
                purge_paper(self.world.data, "c", paper_id)

    def _correct(self, number: int, seed: int) -> None:
        """A correction of a paper, another one, or one that is taken back."""
        rows = self.world.tables()["manifest"]
        if rows:
            row, (field, values) = rows[number % len(rows)], CORRECTED[seed % len(CORRECTED)]
            value = values[seed % len(values)]
            folder = self.world.work.folder
            correct(
                folder, load_settings(), row["paper_id"], field, value, seen=PaperIdentity(row["sha256"]), by="local"
            )

    def _rollback(self, number: int, seed: int) -> None:
        folder = self.world.work.folder
        if held(folder):
            release_rollback(folder)
        elif len(published(folder)) > 1:
            roll_back(folder, None)

    def build(self) -> None:
        self.world.build(self.level)

    def finish(self) -> None:
        """All levels that were ever built, and readers at the newest."""
        if held(self.world.work.folder):
            release_rollback(self.world.work.folder)
        self.world.build(self.highest)


ACTIONS = sorted(name.removeprefix("_") for name in vars(Folder) if name.startswith("_") and not name.startswith("__"))
ACTIONS.remove("write_records")


def excluded(world: World) -> Iterator[str]:
    yield from known_record(world.data, "c").excluded
