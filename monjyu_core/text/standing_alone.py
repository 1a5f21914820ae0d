"""Whether a sentence says by itself what it is about, or points at what stands before it. English and Japanese."""

from __future__ import annotations

import re

_OUTSIDE = re.compile(
    r"\W*(?:this|these|that|those|it|its|they|them|their|he|his|she|her|such(?! as\b)|both(?! (?:[\w-]+ ){1,4}and\b)"
    r"|another|others|likewise|similarly(?! to\b)"
    r"|however|moreover|furthermore|additionally|thus|therefore|hence|consequently|also|then|but|and|so|yet|nor"
    r"|in addition(?! to\b)|as a result(?! of\b)|for example|for instance|in contrast(?! (?:to|with)\b)"
    r"|on the other hand|nevertheless|nonetheless|instead(?! of\b)"
    r"|otherwise|accordingly|conversely|besides|again|here|as such|to this end|in this (?:way|case|context|sense)"
    r"|at (?:this|that) (?:point|time)|the (?:former|latter|same|above))\b(?!-)"
    r"|\W*there\b(?! (?:is|are|was|were|has|have|exists?|may|might|will|can|could)\b)"
    r"|^(?:それ|これ|その|この(?!論文|研究)|また|しかし|そのため|さらに|一方|したがって|よって|なお|ただし|つまり|そして|だが|同|ここ|そこ|こうした|そうした|彼|両)",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\W*it (?:is|was|has been|seems|appears|remains|should be|can be|may be|must be) (?:[\w-]+ )?"
    r"(?:that|to|known|shown|noted|possible|likely|clear|important|unclear|believed|estimated|recommended|well)\b",
    re.IGNORECASE,
)
_OWN = (
    r"papers?|articles?|stud(?:y|ies)|work|course|package|library|toolkit|curriculum|workshop|module|software|tutorial"
    r"|lessons?|book|textbook|notebooks?|materials?|review|survey|thesis|report|repository|project|program(?:me)?"
)
_OF_THE_PAPER = re.compile(rf"\W*(?:this|these|our) (?:\w+[- ])?(?:{_OWN})\b|本(?:論文|研究|稿|書)", re.IGNORECASE)
"""What a reader who sees the paper's title understands."""
_POINTS = re.compile(
    r"\b(?:as follows|the (?:former|latter)|aforementioned|above[- ]mentioned|mentioned above|described above|see above"
    r"|(?:described|listed|given|shown|discussed) (?:above|below)|the following"
    r"|as (?:mentioned|described|noted) (?:above|earlier|before|previously)"
    r"|(?:each|all|any|no|most|some) of (?:them|these)"
    r"|such (?!as\b)[a-z]{3}|these|those(?! (?:who|with|of|in|that|for|from)\b)"
    rf"|this(?! (?:\w+[- ])?(?:{_OWN})\b)(?! is\b))\b"
    r"|\bon the one hand\b|(?:上述|前述|後述|以下の(?:よう|通り)|次の(?:よう|通り))",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"[:：;,]\s*$|^\W*(?:and|or|but|which|who|where|whereas|while)\b|^\s*(?:\(?[a-z0-9ivx]{1,3}[.)]|[•·▪◦*–-])\s",
    re.IGNORECASE,
)


def points_outside(text: str) -> bool:
    """Whether a sentence begins with a word that means something said before it."""
    return bool(_OUTSIDE.match(text)) and not _EXPLETIVE.match(text)


def stands_alone(text: str) -> bool:
    """Whether a reader who knows the paper's title understands the sentence by itself: it points at nothing outside,
    and neither its beginning nor its end is missing."""
    if _HALF.search(text):
        return False
    own = _OF_THE_PAPER.match(text)
    return not (points_outside(text) and not own) and not _POINTS.search(text, own.end() if own else 0)
