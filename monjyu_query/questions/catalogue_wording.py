"""What is said of rows of the catalogue, in English and Japanese."""

from __future__ import annotations

COLUMNS = {
    "en": {"paper": "Paper", "title": "Title", "authors": "Authors", "year": "Year", "venue": "Venue", "doi": "DOI",
           "quote": "Quote", "author": "Author", "papers": "Papers", "cited": "Cited by"},
    "ja": {"paper": "論文", "title": "題名", "authors": "著者", "year": "年", "venue": "掲載", "doi": "DOI",
           "quote": "引用", "author": "著者", "papers": "論文数", "cited": "被引用"},
}  # fmt: skip

_EN = {
    "count": "{n} {papers} of the collection {are} {what}.",
    "all": "The collection has {n} {papers}.",
    "authors": "{label}: {what}.",
    "no authors": "{label} names no author.",
    "makers": "The paper on it, {label}, is by {what}.",
    "year": "{label} is of {what}.",
    "no year": "{label} names no year.",
    "venue": "{label} was published in {what}.",
    "no venue": "{label} does not say where it was published.",
    "doi": "The DOI of {label} is {what}.",
    "no doi": "{label} has no DOI in the collection.",
    "citing": "{n} {papers} of the collection {cite} {label}.",
    "cited": "{label} cites {n} {papers} of the collection; its list of references has {what} works.",
    "newest": "The newest papers are of {what}.",
    "oldest": "The oldest papers are of {what}.",
    "prolific": "{what} wrote the most papers: {n}.",
    "not prolific": "No author of the collection wrote more than one of its papers.",
    "most_cited": "{label} is cited most: by {n} {papers} of the collection.",
    "none cited": "No paper of the collection cites another.",
    "venues": "The papers are from {n} journals, conferences or other venues.",
    "years": "The papers are of the years {what}.",
    "undated": " {n} {papers} of the collection {name} no year.",
    "no author": "No paper of the collection is by {what}.",
    "close": " Authors with a similar name: {what}.",
    "which": "Do you mean {what}?",
    "more": "{n} more are not shown.",
}
_JA = {
    "count": "{what}論文は{n}本です。",
    "all": "このコレクションには{n}本の論文があります。",
    "authors": "{label}の著者：{what}。",
    "no authors": "{label}には著者名がありません。",
    "makers": "これについての論文、{label}の著者：{what}。",
    "year": "{label}は{what}年のものです。",
    "no year": "{label}には年の記載がありません。",
    "venue": "{label}の掲載：{what}。",
    "no venue": "{label}には掲載先の記載がありません。",
    "doi": "{label}のDOIは{what}です。",
    "no doi": "{label}のDOIはコレクションにありません。",
    "citing": "{label}を引用している論文は{n}本です。",
    "cited": "{label}はコレクションの論文を{n}本引用しています（参考文献は{what}件）。",
    "newest": "最も新しい論文は{what}年のものです。",
    "oldest": "最も古い論文は{what}年のものです。",
    "prolific": "最も多く論文を書いた著者は{what}（{n}本）です。",
    "not prolific": "2本以上の論文を書いた著者はいません。",
    "most_cited": "最も引用されているのは{label}（{n}本から）です。",
    "none cited": "互いに引用し合う論文はありません。",
    "venues": "掲載先は{n}種類です。",
    "years": "論文の年は{what}です。",
    "undated": "年の記載がない論文は{n}本です。",
    "no author": "{what}による論文はこのコレクションにありません。",
    "close": "似た名前の著者：{what}。",
    "which": "{what}のどちらですか？",
    "more": "ほかに{n}件あります。",
}


def told(name: str, language: str, *, label: str = "", what: str = "", n: int = 0) -> str:
    """One sentence; the verbs agree with the number."""
    one = n == 1
    return (_JA if language == "ja" else _EN)[name].format(
        label=label, what=what, n=n, papers="paper" if one else "papers", are="is" if one else "are",
        cite="cites" if one else "cite",
        name="names" if one else "name",
    )  # fmt: skip


def described(author: str, year_from: int | None, year_to: int | None, language_name: str, language: str) -> str:
    """What papers were selected by: "by Barba, of 2020 to 2022"."""
    if language == "ja":
        parts = [f"{author}が書いた"] if author else []
        if year_from is not None or year_to is not None:
            span = f"{year_from}年から{year_to}年まで"
            if year_from == year_to:
                span = f"{year_from}年"
            elif year_to is None:
                span = f"{year_from}年以降"
            elif year_from is None:
                span = f"{year_to}年以前"
            parts.append(f"{span}の")
        if language_name:
            parts.append(f"{_NAMES_JA.get(language_name, language_name)}の")
        return "".join(parts)
    parts = [f"by {author}"] if author else []
    if year_from is not None and year_from == year_to:
        parts.append(f"of {year_from}")
    elif year_from is not None and year_to is not None:
        parts.append(f"of {year_from} to {year_to}")
    elif year_from is not None:
        parts.append(f"of {year_from} or later")
    elif year_to is not None:
        parts.append(f"of {year_to} or earlier")
    if language_name:
        parts.append(f"in {_NAMES_EN.get(language_name, language_name)}")
    return ", ".join(parts)


_NAMES_EN = {"en": "English", "ja": "Japanese", "de": "German", "fr": "French", "zh": "Chinese", "es": "Spanish"}
_NAMES_JA = {"en": "英語", "ja": "日本語", "de": "ドイツ語", "fr": "フランス語", "zh": "中国語", "es": "スペイン語"}
