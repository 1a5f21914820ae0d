"""The assets: thin shells over the stages. Each reads parts, calls a stage, and reports what it wrote.

Their modules do not use `from __future__ import annotations`: Dagster checks the type of `context` itself.
"""

import warnings

from dagster import BetaWarning, PreviewWarning

# Backfill policies are marked as beta, partitioned checks as preview; Dagster is pinned and both are tested.
warnings.filterwarnings("ignore", category=BetaWarning)
warnings.filterwarnings("ignore", category=PreviewWarning)
