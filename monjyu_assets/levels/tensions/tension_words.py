"""The words that tensions are read from: directions, hedges, words too general to be what a claim is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

SOME, NONE = 2, 0
"""Signs besides 1 (up) and -1 (down): an effect without a direction, and no effect."""
DIRECTIONS = "directions_en.txt"
_GENERAL_WORDS = (
    "patient group case study result level rate number control year day effect difference datum analysis "
    "method model finding outcome value participant subject sample individual person people population time "
    "period use type total mean average percent proportion significant significantly change treatment first "
    "second high low overall show find system approach paper work information other same different new "
    "important various several many most more less well however include use report observe study week month "
    "hour age significance compare comparison respectively association relationship correlation evidence role "
    "risk factor baseline test score measure increase decrease reduction amount"
)
GENERAL = frozenset(_GENERAL_WORDS.split())
"""Lemmas that many claims share whatever they are about."""
HEDGES = re.compile(
    r"\b(?:seems?|appears?|suggest(?:s|ed|ing)?|likely|tend(?:s|ed)? to|trend|thought to|believed)\b", re.IGNORECASE
)
"""A finding that is put carefully."""
UNSURE = re.compile(
    r"\b(?:(?:we|i|been|was|were|is|are|many|most|often|widely|commonly|long) (?:\w+ ){0,2}?(?:expect|anticipate"
    r"|believe|assume|suppose|predict|fear|hope)(?:ed|d)? (?:that|to)|are convinced|wrong to|may|might|could (?!not)"
    r"|perhaps|possibly|potentially|presumably|unclear|unknown|hypothes\w+|speculat\w+"
    r"|should|would|expected to|aims? to|controvers\w+|debat(?:e|ed|able)|conflicting|contradict\w+|inconclusive"
    r"|inconsistent|question(?:ed|able)|little is known|(?:is|are|was|were|has|have) not (?:yet )?(?:been )?(?:known"
    r"|clear|understood|established|studied|investigated|determined|reported|possible to say)|(?:no|few|little) (?:data"
    r"|information|studies|reports?)\b(?! of))",
    re.IGNORECASE,
)
"""What is only thought possible, not known, or said to be in dispute."""
BOTH_SIDES = re.compile(
    r"\b(?:some|other|several|previous) (?:studies|authors|reports|papers|researchers)\b.{0,200}\b(?:other|others|while"
    r"|whereas|but|however|contrast)\b|\bthan (?:previously|expected|predicted)\b",
    re.IGNORECASE,
)
"""A sentence that tells both sides of a dispute itself."""
AIMS = re.compile(
    r"\b(?:to|we) (?:investigate|examine|determine|assess|evaluate|compare|test|explore|study|analy[sz]e|find out"
    r"|identify)"
    r"\b|\b(?:aims?|objectives?|purpose|goals?|hypothesis) (?:of|was|is|were|that)\b|\b(?:remains?|is) (?:unclear"
    r"|unknown"
    r"|to be)\b|\bwhether\b",
    re.IGNORECASE,
)
"""What a paper sets out to find, and says nothing of yet."""
CONDITIONS = re.compile(r"^\W*(?:if|when|unless|whether|suppose|assuming)\b|\bassum(?:e|ed|ing|ption)\b", re.IGNORECASE)
OF_UNNAMED = re.compile(
    r"\b(?:between|among|across|in) (?:the |both |all |these |those |either )*(?:two |three |four |[2-4] )?"
    r"(?:treatment |study |patient |age )?(?:groups?|arms?|cohorts?)\b(?! (?:of|with|who|that|receiving|given|treated))"
    r"|\bgroups? (?:[A-D]|\d|I{1,3})\b",
    re.IGNORECASE,
)
"""What compares groups that only the paper knows: "similar between the two groups"."""
_GROUPS_WORDS = (
    "child infant neonat newborn adolesc adult elder men man woman women male femal boy girl pregnant mother "
    "student teacher smoker nonsmok mous mice rat pig calv dog cat sever mild moder hospit inpati outpati icu "
    "intens critic asymptomat symptomat winter summer spring autumn urban rural vaccin unvaccin treat untreat "
    "control ventil ancient modern athlet veteran twin sheep lamb bird chicken swine cattl monkey primat"
)
GROUPS = frozenset(_GROUPS_WORDS.split())
"""Stems that say of whom or when a measure is."""
REPORTED = re.compile(
    r"\bet al\b|\[\d|\((?:[A-Z][\w-]+,? (?:and|&|et)? ?.{0,40}?)(?:19|20)\d\d\)"
    r"|\b(?:previous|earlier|prior|other|recent|several|some|many) (?:\w+ )?(?:studies|reports?|authors|works?"
    r"|research\w*)"
    r"|\b(?:has|have) been (?:\w+ )?(?:reported|shown|suggested|described|demonstrated)",
    re.IGNORECASE,
)
"""What a paper says that others found."""


@dataclass(frozen=True)
class Direction:
    """`axis`: what opposite words share; `sign`: 1, -1, SOME or NONE."""

    axis: str
    sign: int


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


def stem_of(word: str) -> str:
    """The stem of a lemma."""
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def general_stems() -> frozenset[str]:
    return frozenset(stem_of(word) for word in GENERAL)


_CONTRASTS = (
    "internal external,inner outer,upper lower,left right,male female,man woman,men women,boy girl,high low small large"
    ",front rear,heat cool,heating cooling,early late,acute chronic,young old,urban rural,long short,positive negative"
    ",subsonic supersonic hypersonic transonic,laminar turbulent,static dynamic,primary secondary tertiary"
    ",incoming outgoing,before after,input output,systolic diastolic,spring summer autumn winter,maternal paternal"
    ",local global,preterm term,open closed,direct indirect,daily weekly monthly yearly hourly,north south east west"
    ",northern southern eastern western,mouse rat rabbit pig,dry wet,day night,morning evening,light dark,oral nasal"
    ",intravenous oral,tropical temperate boreal arctic,marine freshwater terrestrial,aquatic terrestrial"
    ",tensile compressive,horizontal vertical,axial radial lateral,online offline,native invasive"
)


@lru_cache(maxsize=1)
def contrasts() -> dict[str, frozenset[str]]:
    """By stem those that it is told apart from: internal pressure is not external pressure."""
    found: dict[str, set[str]] = {}
    for words in _CONTRASTS.split(","):
        group = {stem_of(word) for word in words.split()}
        for stem in group:
            found.setdefault(stem, set()).update(group - {stem})
    return {stem: frozenset(others) for stem, others in found.items()}


@lru_cache(maxsize=1)
def measure_stems() -> frozenset[str]:
    """Words of how something was measured, not of what: two tests may both have a sensitivity."""
    words = (
        "sensitivity specificity predictive prediction predict positive negative value accuracy precision recall ratio"
        " curve area interval confidence range median estimate calculate detect respectively cutoff ppv npv auc roc ci"
        " sd diagnosis diagnostic presence percentage likelihood reach achieve yield average"
        " standard deviation point percent unit mean odds hazard incidence occurrence prevalence likelihood stratum arm"
        " time duration amount mmhg mmol kg relative"
        " μg µg mg ml mpa gpa km cm mm nm"
    )
    return frozenset(stem_of(word) for word in words.split())


@lru_cache(maxsize=1)
def effect_stems() -> frozenset[str]:
    """Nouns that stand for what happens to a thing, not for the thing."""
    words = "effect difference change influence impact role increase decrease reduction rise number lack loss variation"
    return frozenset(stem_of(word) for word in words.split())


@lru_cache(maxsize=1)
def directions() -> dict[tuple[str, str], Direction]:
    """By (part of speech, word): verbs and nouns by lemma, adjectives as written. A word's first line counts."""
    found: dict[tuple[str, str], Direction] = {}
    lines = files(__package__).joinpath(DIRECTIONS).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if not line or line.startswith("#"):
            continue
        head, _, words = line.partition(":")
        axis, kind = head.split()
        up, _, down = words.partition("|")
        signs = {"some": SOME, "none": NONE}
        name = f"{axis}-{number}" if axis == "quality" else axis
        for word in up.split():
            found.setdefault((kind, word), Direction(name, signs.get(axis, 1)))
        for word in down.split():
            found.setdefault((kind, word), Direction(name, -1))
    return found


_DENIES_OR_MEASURES = (
    r"\b(?:not?|never|neither|nor|without|than|cannot|unable|fail\w*|lack\w*|R ?0)\b|n't\b"
    r"|\b(?:twice|half|double|times (?:as|more)|disappear\w*|vanish\w*|lost|lose|cost)\b"
    r"|\d\s?(?:[µμnmkGM]?(?:g|m|L|mol|Pa|J|W|V|Hz|N|s|K)|vol|wt|t|ha|°C?)\b"
    r"|\d\s?(?:%|percent|per cent|days?|hours?|weeks?|months?|years?|fold|nm|mm|kb|bp)"
    r"|\b(?:rate|period|prevalence|incidence|ratio|number|proportion|mortality|accuracy|sensitivity)\b.{0,60}\d"
)


@lru_cache(maxsize=1)
def _may_oppose() -> re.Pattern[str]:
    stems = sorted({stem_of(word)[:7] for _, word in directions()})
    return re.compile(rf"{_DENIES_OR_MEASURES}|\b(?:{'|'.join(stems)})", re.IGNORECASE)


def may_oppose(text: str) -> bool:
    """Whether a text has a word that a side could be read from: parsing is what costs."""
    return _may_oppose().search(text) is not None
