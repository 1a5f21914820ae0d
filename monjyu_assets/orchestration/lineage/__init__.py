"""OpenLineage: what ran on which tables, for catalogues of data (Marquez, DataHub, OpenMetadata and others)."""
