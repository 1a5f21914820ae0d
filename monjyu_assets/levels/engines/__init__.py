"""Engines that make entities, reports and claims: one protocol, an extractive engine and one that asks a model."""
