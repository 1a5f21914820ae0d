"""Signs, from 0 up, that a sentence does or does not stand in its sources. They depend on the texts alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from monjyu_query.answers.verification.alignment import NEAR, Nearness, Words, normal
from monjyu_query.answers.verification.numbers import SMALL, Figure, derived, figures, same_value
from monjyu_query.answers.verification.polarity import (
    HEDGES,
    NEGATIONS,
    STRONG_HEDGES,
    absolutes,
    negated_ja,
    negated_words,
    opposed,
    opposed_ja,
)

NAMES = (
    "uncovered", "uncovered_run", "beyond_best", "other_source", "missing_number", "moved_number", "missing_name",
    "negation", "opposite", "turned", "absolute", "hedge_lost", "far",
)  # fmt: skip
REACH = 7
"""Words on either side that tell what a figure belongs to."""
WINDOW = 3
"""Sentences of a source that one sentence may rest on together."""
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b(?:[A-Z][\w’'-]*[A-Za-z0-9]|[A-Z]{2,}s?)\b|\b[A-Z]{2,}[\w-]*\b|\b[A-Za-z]+[A-Z]\w*\b|[\u30a1-\u30ffー]{4,}|[A-Za-z][A-Za-z0-9]{2,}(?=[\u3040-\u9fff])")
_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\[])|(?<=[。！？])")
_CLAUSES = re.compile(r"[,;:]?\s+(?:and|while|whereas|but|although|though|however)\s+|[;,]\s+|[、。；]")
_THAN = re.compile(r"\bthan\b|\bover\b|\bversus\b|\bcompared (?:to|with)\b|\bfrom\b.{1,60}?\bto\b|\b(?:before|after)\b|より")


@dataclass(frozen=True)
class Source:
    """A cited text. `about`: title, authors, year, which a sentence may name too."""

    text: str
    about: str = ""


@dataclass
class Signs:
    """`values` by the names of `NAMES`; `reasons` for people, of those that speak against the sentence."""

    values: dict[str, float] = field(default_factory=lambda: dict.fromkeys(NAMES, 0.0))
    reasons: list[str] = field(default_factory=list)

    def vector(self) -> list[float]:
        return [self.values[name] for name in NAMES]


def signs_of(sentence: str, sources: Sequence[Source], near: Nearness, question: str = "") -> Signs:
    """The signs of one sentence against the union of its sources."""
    signs = Signs()
    said = Words(normal(sentence))
    texts = [Words(normal(source.text)) for source in sources]
    about = normal(" ".join(source.about for source in sources))
    pieces = [[Words(piece) for piece in _pieces(text.text)] for text in texts]
    windows = [
        (number, Words(" ".join(w.text for w in several[at : at + WINDOW])))
        for number, several in enumerate(pieces)
        for at in range(max(1, len(several) - WINDOW + 1))
    ]
    _coverage(signs, said, texts, windows, about, question, near)
    best = _best_window(said, windows, near)
    _figures(signs, said, texts, about + " " + normal(question))
    _names(signs, said, " ".join(t.text for t in texts), about + " " + normal(question))
    _polarity(signs, said, best, texts)
    _order(signs, said, best)
    return signs


def _pieces(text: str) -> list[str]:
    return [piece for piece in _SPLIT.split(text) if piece.strip()]


def _shares(said: Words, others: Sequence[Words], near: Nearness) -> np.ndarray:
    """(others, content words of said): 1 where the word stands there, its nearness above `NEAR` where a like one does."""
    own = [term for _, term in said.content]
    raw = [said.plain[place] for place, _ in said.content]
    shares = np.zeros((len(others), len(own)), np.float32)
    if not own:
        return shares
    vocabulary = sorted({(o.plain[place]) for o in others for place, _ in o.content})
    close = near(raw, vocabulary) if not said.wide else np.zeros((len(raw), len(vocabulary)), np.float32)
    where = {word: at for at, word in enumerate(vocabulary)}
    for row, other in enumerate(others):
        terms = {term for _, term in other.content}
        columns = [where[other.plain[place]] for place, _ in other.content]
        soft = close[:, columns].max(axis=1, initial=0.0) if columns else np.zeros(len(own), np.float32)
        shares[row] = np.where(soft >= NEAR, soft, 0.0)
        shares[row][[term in terms for term in own]] = 1.0
    return shares


def _coverage(
    signs: Signs, said: Words, texts: Sequence[Words], windows: Sequence[tuple[int, Words]], about: str, question: str, near: Nearness
) -> None:
    content = said.content
    if not content:
        return
    shares = _shares(said, [*(window for _, window in windows), *texts, Words(f"{about} {normal(question)}")], near)
    count = len(windows)
    of_window, of_text, named = shares[:count], shares[count:-1], shares[-1]
    union = np.maximum(of_text.max(axis=0, initial=0.0), 0.9 * named)
    missing = 1.0 - union
    signs.values["uncovered"] = float(missing.mean())
    signs.values["uncovered_run"] = _longest_run(content, missing)
    best_text = np.maximum(of_text, named).mean(axis=1).max(initial=0.0)
    signs.values["other_source"] = float(np.maximum(union, named).mean() - best_text)
    signs.values["beyond_best"] = _clauses_apart(said, content, np.maximum(of_window, 0.9 * named), union)
    if signs.values["uncovered"] > 0.5:
        words = dict.fromkeys(said.plain[place] for (place, _), lost in zip(content, missing, strict=True) if lost > 0.5)
        signs.reasons.append(f"not in the source: {', '.join(list(words)[:6])}")


def _longest_run(content: Sequence[tuple[int, str]], missing: np.ndarray) -> float:
    """Most content words in a row that no source has, as a share of five."""
    longest = run = 0.0
    for lost in missing:
        run = run + float(lost) if lost > 0.3 else 0.0
        longest = max(longest, run)
    return min(1.0, longest / 5)


def _clauses_apart(said: Words, content: Sequence[tuple[int, str]], of_window: np.ndarray, union: np.ndarray) -> float:
    """How much a clause needs several places of the sources: what the union has beyond its best window, the worst one."""
    starts = [match.end() for match in _CLAUSES.finditer(said.text)]
    groups: dict[int, list[int]] = {}
    for number, (place, _) in enumerate(content):
        at = said.found[place].start()
        groups.setdefault(sum(start <= at for start in starts), []).append(number)
    worst = 0.0
    for numbers in groups.values():
        if len(numbers) >= 3:
            worst = max(worst, float(union[numbers].mean() - of_window[:, numbers].mean(axis=1).max(initial=0.0)))
    return worst


def _best_window(said: Words, windows: Sequence[tuple[int, Words]], near: Nearness) -> Words:
    if not windows:
        return Words("")
    shares = _shares(said, [window for _, window in windows], near)
    return windows[int(shares.mean(axis=1).argmax())][1] if shares.size else windows[0][1]


def _figures(signs: Signs, said: Words, texts: Sequence[Words], about: str) -> None:
    own = figures(said.text)
    there = [(text, figure) for text in texts for figure in figures(text.text)]
    named = figures(about)
    everything = [figure for _, figure in there]
    missing = []
    matched: list[tuple[Figure, list[tuple[Words, Figure]]]] = []
    for figure in own:
        same = [(text, other) for text, other in there if same_value(figure, other)]
        if same:
            matched.append((figure, same))
        elif any(same_value(figure, other) for other in named) or derived(figure, everything):
            continue
        elif figure.exact or figure.value > SMALL or _counted(said, figure, there):
            missing.append(said.text[figure.start : figure.end].strip())
    if missing:
        signs.values["missing_number"] = 1.0
        signs.reasons.append(f"figure not in the source: {', '.join(missing)}")
    moved = _moved(said, matched, there)
    if moved:
        signs.values["moved_number"] = moved
        signs.reasons.append("figures belong to something else in the source")


def _counted(said: Words, figure: Figure, there: Sequence[tuple[Words, Figure]]) -> bool:
    """Whether the source counts the same thing, differently: "three groups", "four groups"."""
    after = _after(said, figure)
    return bool(after) and any(_after(text, other) & after for text, other in there)


def _after(text: Words, figure: Figure) -> set[str]:
    places = [n for n, match in enumerate(text.found) if match.start() >= figure.end][:2]
    return {term for place, term in text.content if place in places}


def _context(text: Words, figure: Figure) -> dict[str, float]:
    """Stems around a figure with weights that fall with distance; words behind a comma or semicolon weigh half."""
    centre = next((n for n, match in enumerate(text.found) if match.end() > figure.start), len(text.found))
    weights: dict[str, float] = {}
    for place, term in text.content:
        distance = abs(place - centre)
        if 0 < distance <= REACH:
            low, high = sorted((place, centre))
            cut = sum(word in ",;:" or word in {"and", "while", "whereas", "versus", "vs"} for word in text.plain[low:high])
            weights[term] = max(weights.get(term, 0.0), 1.0 / (1 + 0.4 * distance) / (1 + cut))
    return weights


def _alike(one: dict[str, float], other: dict[str, float]) -> float:
    norm = np.sqrt(sum(v * v for v in one.values()) * sum(v * v for v in other.values()))
    return float(sum(weight * other.get(term, 0.0) for term, weight in one.items()) / norm) if norm else 0.0


def _moved(said: Words, matched: Sequence[tuple[Figure, list[tuple[Words, Figure]]]], there: Sequence[tuple[Words, Figure]]) -> float:
    """How much better two figures of the sentence fit each other's places in the source, or one another one's."""
    contexts = [_context(said, figure) for figure, _ in matched]
    worst = 0.0
    for one, (figure, own) in enumerate(matched):
        here = max((_alike(contexts[one], _context(text, other)) for text, other in own), default=0.0)
        for two in range(len(matched)):
            if two == one or same_value(figure, matched[two][0]):
                continue
            crossed = max(_alike(contexts[one], _context(text, other)) for text, other in matched[two][1])
            back = max(_alike(contexts[two], _context(text, other)) for text, other in own)
            straight = max(_alike(contexts[two], _context(text, other)) for text, other in matched[two][1])
            worst = max(worst, crossed + back - here - straight)
        if len(matched) == 1 and figure.exact:
            elsewhere = max((_alike(contexts[one], _context(t, o)) for t, o in there if not same_value(figure, o)), default=0.0)
            worst = max(worst, 0.7 * (elsewhere - here) - 0.1)
    return max(0.0, worst)


def _names(signs: Signs, said: Words, source: str, about: str) -> None:
    there = f"{source} {about}".casefold()
    squeezed = re.sub(r"[\W_]+", "", there)
    missing = []
    for match in _NAME.finditer(said.text):
        name = match.group().casefold().removesuffix("'s").rstrip("s")
        if len(name) > 1 and name not in there and re.sub(r"[\W_]+", "", name) not in squeezed:
            missing.append(match.group())
    if missing:
        signs.values["missing_name"] = min(1.0, 0.5 + 0.25 * len(missing))
        signs.reasons.append(f"name not in the source: {', '.join(dict.fromkeys(missing))}")


def _polarity(signs: Signs, said: Words, best: Words, texts: Sequence[Words]) -> None:
    whole = " ".join(text.text for text in texts)
    if said.wide:
        odd = (negated_ja(said.text) > 0) != (negated_ja(best.text) > 0)
        signs.values["negation"] = float(odd) * (1.0 if negated_ja(said.text) else 0.5)
        opposite = opposed_ja(said.text, best.text)
    else:
        everywhere = {word for text in texts for word in text.plain}
        signs.values["negation"] = _negation(said, best, texts)
        opposite = opposed(set(said.plain), set(best.plain), everywhere)
    if signs.values["negation"] >= 1:
        signs.reasons.append("negated here or there only")
    if opposite:
        signs.values["opposite"] = 1.0
        signs.reasons.append(f"the source says the opposite of: {', '.join(sorted(opposite))}")
    new = absolutes(said.text) - absolutes(whole)
    if new:
        signs.values["absolute"] = min(1.0, 0.5 + 0.5 * (len(new) > 1))
        signs.reasons.append("claims more than the source: " + ", ".join(sorted(new)))
    if STRONG_HEDGES.search(best.text) and not HEDGES.search(said.text):
        signs.values["hedge_lost"] = 1.0


def _negation(said: Words, best: Words, texts: Sequence[Words]) -> float:
    """Content words that are negated here and nowhere in the source, or the other way round; by words they share."""
    own = _negated_stems(said)
    there = {term for text in texts for term in _negated_stems(text)}
    own_all = {term for _, term in said.content}
    plain_there = {term for text in texts for term in _plain_stems(text)}
    added = {term for term in own if term in plain_there and term not in there}
    best_negated = _negated_stems(best)
    lost = {term for term in best_negated & own_all if term not in own and term not in _plain_stems(best)}
    has = any(word in NEGATIONS for word in said.plain)
    source_has = any(word in NEGATIONS for word in best.plain)
    if added and has and not source_has:
        return 1.0
    if lost and source_has and not has:
        return 1.0
    if added or lost:
        return 0.6
    return 0.4 if has and not source_has else 0.0


def _negated_stems(text: Words) -> set[str]:
    places = set(negated_words(text.plain))
    return {term for place, term in text.content if place in places}


def _plain_stems(text: Words) -> set[str]:
    places = set(negated_words(text.plain))
    return {term for place, term in text.content if place not in places}


def _order(signs: Signs, said: Words, best: Words) -> None:
    """Whether what stands on the two sides of a comparison changed places."""
    here, there = _THAN.search(said.text), _THAN.search(best.text)
    if not here or not there:
        return
    left, right = _sides(said, here), _sides(said, here, after=True)
    left_there, right_there = _sides(best, there), _sides(best, there, after=True)
    straight = len(left & left_there - right_there) + len(right & right_there - left_there)
    crossed = len(left & right_there - left_there) + len(right & left_there - right_there)
    if crossed > straight:
        signs.values["turned"] = min(1.0, (crossed - straight) / 3)
        signs.reasons.append("the sides of the comparison changed places")


def _sides(text: Words, at: re.Match[str], *, after: bool = False) -> set[str]:
    if after:
        return {term for place, term in text.content if text.found[place].start() >= at.end()}
    return {term for place, term in text.content if text.found[place].end() <= at.start()}
