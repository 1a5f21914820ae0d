"""Words that end in a full stop without ending a sentence, as academic texts use them. All in lower case."""

from __future__ import annotations

_NEVER = """
    dr drs prof profs mr mrs ms mx st mt rev hon gen col capt lt sgt gov messrs
    e.g eg i.e ie cf viz vs v.s approx ca resp incl excl esp viz cp
    z.b d.h u.a bzw vgl sog ggf ggfs bspw abb p.ej
"""
_BEFORE_NUMBER = """
    fig figs eq eqs eqn eqns sec secs sect sects tab tabs ref refs ch chap chaps vol vols no nos nr nrs p pp pg pgs
    thm lem prop def defn cor alg algs ex app suppl supp art arts ver v rev ed pt pts bd para paras ln l ll col cols
    jan feb mar apr jun jul aug sep sept oct nov dec
"""
_MAYBE = """
    al inc ltd corp co cos llc plc gmbh jr sr bros assn dept univ inst lab labs natl intl acad
    ph.d phd m.sc b.sc msc bsc m.d b.a m.a d.c u.s u.k u.s.a u.n e.u a.m p.m
    min max avg std dev deg hr hrs sec secs temp conc wt mol est sp spp subsp var cv str
    eds ed trans transl proc conf symp j biol chem phys math sci comput soc int am med res lett
    comm commun trans ann adv appl rev acm ieee
"""
_STARTERS = """
    a about above according accordingly additionally after afterwards again all also although among an and another any
    are as at because before besides both but by can clearly compared consequently conversely currently despite did do
    does due during each either even every few finally first firstly following for from further furthermore given had
    has have having he hence here how however i if importantly in indeed initially instead interestingly is it its
    last lastly later let like likewise many meanwhile more moreover most much my nevertheless next no nonetheless nor
    not notably note now of often on once one only or other others otherwise our over overall participants perhaps
    previous previously rather recall recent recently regarding results second secondly see several she should similar
    similarly since so some specifically still subsequently such suppose that the their then there thereby therefore
    these they third this those though three through throughout thus to together traditionally two under unfortunately
    unless unlike until upon using usually was we were what when where whereas whether which while who why with within
    without yet you your
"""

NEVER_LAST = frozenset(_NEVER.split())
"""A name, an example or a comparison follows: these end no sentence."""
BEFORE_NUMBER = frozenset(_BEFORE_NUMBER.split())
"""Followed by a number or a label ("Fig. 3", "Eq. (2)", "Sec. IV") they end no sentence; else they are words."""
MAYBE_LAST = frozenset(_MAYBE.split())
"""These end a sentence only where a word follows that often begins one."""
STARTERS = frozenset(_STARTERS.split())
"""Words that often begin a sentence and seldom stand with a capital letter within one."""
