"""Local search: the neighbourhood of the question's entities and phrases, in shares of one context.

As microsoft/graphrag's local search mixes it: half of the context is text, a quarter community reports, the rest
entities, relationships and claims.
"""
