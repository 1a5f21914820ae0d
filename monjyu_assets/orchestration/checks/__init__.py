"""Checks beside the blocking ones: drift, graph, quality of parsing."""
