"""Chooses a collection's embedding model and its precision with its first chunks, and stores them in the record."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from monjyu_assets.work.run_limits import goal_of
from monjyu_assets.work.work import Work, as_declared
from monjyu_core.embedding.local.compiled import Precision, multiplies_integers
from monjyu_core.embedding.local.e5_file import EXTRA, installed
from monjyu_core.extras import install_line
from monjyu_core.settings.settings import EmbeddingModel
from monjyu_core.storage.collection import (
    CollectionRecord,
    collection_yaml,
    load_record,
    record_lock,
    save_record,
    wanted_model,
)


# Runs change the copy of the collection's record in the command's goal if there is one, otherwise the file.
@contextmanager
def changing_record(work: Work) -> Iterator[None]:
    """A context in which `work.record` is the newest record and may be changed; it is saved at the end. The record of a
    goal is saved later, when its run publishes."""
    with record_lock(work.folder):
        goal = goal_of(work.folder)
        stored = load_record(work.folder)
        work.record = goal.record if goal else as_declared(work.folder, stored) if stored else work.record
        before = work.record.model_copy(deep=True)
        yield
        if goal is None and work.record != before:
            save_record(work.folder, work.record)
        work.take_record(work.record)


def keep_record(work: Work, level: int) -> None:
    """Write the record after a snapshot at `level` was published. The record's level rises with that of the snapshot,
    and does not fall below it or, unless the goal lowers it, below its previous value."""
    with record_lock(work.folder):
        goal, stored = goal_of(work.folder), load_record(work.folder)
        found = as_declared(work.folder, stored) if stored else work.record
        record = (goal.record if goal else found).model_copy(deep=True)
        kept = goal.kept if goal else stored.level if stored else min(record.level, level)
        before = stored.level if stored and not (goal and goal.lowers) else 0
        record.level = max(kept, before, level)
        if stored != record:
            save_record(work.folder, record)


ENGLISH_MODEL: EmbeddingModel = "all-MiniLM-L6-v2"
MULTILINGUAL_MODEL: EmbeddingModel = "multilingual-e5-small"
SHARE = 0.05
"""The minimum share of papers in other scripts with which `auto` chooses the multilingual model."""

_OTHER_SCRIPTS = """
am ar as be bg bn dz el fa gu he hi hy ja ka kk km kn ko ky lo mk ml mn mr ne or pa ps ru si sr ta te th ug uk ur zh
"""
OTHER_SCRIPTS = frozenset(_OTHER_SCRIPTS.split())
"""Languages not written in Latin letters, for which the English model is almost useless."""


def settle_model(work: Work) -> None:
    """Write language, model and precision to the collection's record if the model is missing or a setting names another
    one. Warn if the model does not fit the papers' languages. For a remote model, which the settings name, only the
    language is written. If only the precision is missing, it stays missing, because the record is from an earlier
    version."""
    languages = paper_languages(work)
    if work.settings.embedding.remote is not None:
        _settle_language(work, languages)
        return
    with changing_record(work):
        record = work.record
        named = _named_language(record)
        before, wanted = record.embedding_model, wanted_model(record)
        if before is None or wanted not in ("auto", before):
            record.language = named or _main_language(languages)
            record.embedding_model = _installed(choose_model(named, languages)) if wanted == "auto" else wanted
            eight = _eight_bits(work.settings.embedding.precision, record.embedding_model)
            record.embedding_precision = "int8" if eight else None
    if before and record.embedding_model != before:
        work.warn(f"{work.name} was embedded with {before}, but the settings name {wanted}. It is embedded again.")
    elif record.embedding_model == ENGLISH_MODEL != choose_model(named, languages) and wanted == "auto":
        work.warn(_unread(work.name, languages))


def _eight_bits(precision: Precision, model: EmbeddingModel) -> bool:
    """Whether the model computes with eight-bit integers. With precision `auto` only the English model does, because
    the multilingual one lost 0.0035 of nDCG@10 on jsquad, and the limit is 0.003."""
    return precision == "int8" or (precision == "auto" and model == ENGLISH_MODEL and multiplies_integers())


def _installed(model: EmbeddingModel) -> EmbeddingModel:
    """The model, or the English one if the packages of the multilingual model are missing. Papers in other scripts are
    then found by keywords, which is better than no index."""
    return model if model == ENGLISH_MODEL or installed() else ENGLISH_MODEL


def _unread(name: str, languages: Counter[str]) -> str:
    """The warning that papers are found by keywords only, with what to do. The collection's model is already chosen, so
    installing the extra alone changes nothing."""
    install = "" if installed() else f"install the extra ({install_line(EXTRA)}), then "
    way = f"{install}set embedding.model to {MULTILINGUAL_MODEL} (overrides in collection.yaml, or monjyu.yaml)"
    return (
        f"{other_share(languages):.0%} of the papers of {name} are in languages that {ENGLISH_MODEL} does not read: "
        f"they are found by keywords only. To embed it again, {way} and index again."
    )


def _settle_language(work: Work, languages: Counter[str]) -> None:
    with changing_record(work):
        if work.record.language is None:
            work.record.language = _named_language(work.record) or _main_language(languages)


def choose_model(named: str | None, languages: Counter[str]) -> EmbeddingModel:
    """The model for the language that the user named, otherwise for the languages of the papers."""
    other = named in OTHER_SCRIPTS if named else other_share(languages) >= SHARE
    return MULTILINGUAL_MODEL if other else ENGLISH_MODEL


def paper_languages(work: Work) -> Counter[str]:
    """The number of papers by language, over all parsed shards."""
    counts: Counter[str] = Counter()
    for part in work.parts.heads("papers"):
        counts.update(language or "en" for language in part.read(["language"])["language"].to_pylist())
    return counts


def other_share(languages: Counter[str]) -> float:
    """The share of papers in languages of other scripts, 0 to 1."""
    other = sum(count for language, count in languages.items() if language in OTHER_SCRIPTS)
    return other / max(1, languages.total())


def _named_language(record: CollectionRecord) -> str | None:
    """The language in `collection.yaml`, without a country code."""
    named = collection_yaml(record).get("language")
    return str(named).lower().split("-")[0] if named else None


def _main_language(languages: Counter[str]) -> str:
    """The most frequent language; of equally frequent ones, the first code in alphabetical order."""
    return min(languages, key=lambda code: (-languages[code], code), default="en")
