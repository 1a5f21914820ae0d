"""`monjyu search --explain`: why each passage was found, the steps of a lazy search, and the time by phase."""

import click

from monjyu_query.answers.render import safe
from monjyu_query.asking.lazy_explanation import LazyExplanation
from monjyu_query.asking.result import Hit, SearchResult

_ENDED = {
    "enough": "enough relevant sentences were found",
    "budget": "the budget was spent",
    "everything": "everything was tested",
    "cap": "a cap was reached, or the assessor failed",
    "cancelled": "it was cancelled",
}
_SENTENCES, _COMMUNITIES, _LONGEST = 10, 8, 110


def print_explanation(result: SearchResult) -> None:
    """Print one line per hit, then the lazy search, then seconds by phase."""
    click.echo("\nWhy these passages")
    if result.total_count is not None:
        click.echo(f"The best of {result.total_count} passages in {result.total_papers} papers")
    if result.routing.params is not None:
        given = result.routing.params.model_dump(exclude_none=True).items()
        click.echo(f"With {', '.join(f'{name} {_as_text(value)}' for name, value in given)}")
    for n, hit in enumerate(result.hits, start=1):
        click.echo(f"{n:3}  {_scores(hit)}")
    if result.lazy is not None:
        _print_lazy(result.lazy, result.usage.relevance_tests, result.usage.budget_total)
    seconds = "  ".join(f"{name} {1000 * value:.0f} ms" for name, value in result.phases.items())
    click.echo(f"\nTime: {seconds}")


def _scores(hit: Hit) -> str:
    told = f"{hit.score:7.3f}  {hit.chunk_id}"
    if hit.scores is None:
        return told
    parts = []
    for name, score, rank in (
        ("vector", hit.scores.vector, hit.scores.vector_rank),
        ("keyword", hit.scores.keyword, hit.scores.keyword_rank),
    ):
        if score is not None:
            parts.append(f"{name} {score:.3f}" + (f" (#{rank})" if rank else ""))
    parts += [f"fused {hit.scores.fused:.3f}"] if hit.scores.fused is not None else []
    parts += [f"words: {safe(', '.join(hit.scores.matched))}"] if hit.scores.matched else []
    parts += [f"found by: {safe('; '.join(hit.found_by))}"] if hit.found_by else []
    return f"{told}  {'  '.join(parts)}"


def _print_lazy(lazy: LazyExplanation, tests: int, budget: int) -> None:
    click.echo(
        f"\nLazy search: {tests} of {budget} tests in {lazy.rounds} rounds, depth {lazy.depth}, level "
        f"{lazy.level_reached}; it ended because {_ENDED[lazy.ended]}; {lazy.frontier_left} passages were not tested."
    )
    for subquery in lazy.subqueries:
        click.echo(f"  {subquery.relevant:4} of {subquery.tests:4} relevant  {_cut(subquery.text)}")
    if lazy.communities:
        click.echo("Communities with the most evidence")
    best = sorted(lazy.communities, key=lambda one: (-one.relevant, -one.tested, one.id))[:_COMMUNITIES]
    for community in best:
        named = _cut(community.title or community.id)
        click.echo(f"  {community.relevant:4} of {community.tested:4} relevant  {named}")
    if lazy.sentences:
        click.echo("Best sentences")
    for sentence in lazy.sentences[:_SENTENCES]:
        why = f"  ({safe(sentence.reason)})" if sentence.reason else ""
        click.echo(f"  {sentence.score:5.2f}  {_cut(sentence.text)}{why}")


def _as_text(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def _cut(text: str) -> str:
    clean = safe(text)
    return clean if len(clean) <= _LONGEST else f"{clean[:_LONGEST]} …"
