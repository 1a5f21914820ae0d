"""The assets: thin shells over the stages. Each reads parts, calls a stage, and reports what it wrote."""
