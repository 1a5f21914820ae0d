"""What makes entities, reports and claims: one protocol, with an extractive engine and one that asks a model."""
