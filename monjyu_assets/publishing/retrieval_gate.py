"""Measures retrieval with the user's questions before readers see a snapshot.

`monjyu eval retrieval` measures in a separate process, because the writer never imports the reader.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from monjyu_assets.publishing.checks import CheckResult
from monjyu_assets.work.work import Work
from monjyu_core.errors import ConfigurationError

NAME = "retrieval_kept"
WHAT = "The user's questions (checks.questions, checks.qrels) find their papers: nDCG@10 is not below checks.min_ndcg."
SECONDS = 1800


class RetrievalGate:
    """Measures retrieval on a snapshot. `ndcg` is None before that, and if the user supplied no questions."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.checks = work.settings.checks
        self.ndcg: float | None = None
        self.queries = 0

    def __call__(self, snapshot_id: str) -> CheckResult | None:
        """Measure. Return the result if checks.retrieval_blocks is set, otherwise None."""
        if self.checks.questions is None or self.checks.qrels is None:
            return None
        measures = self._measure(Path(self.checks.questions), Path(self.checks.qrels), snapshot_id)
        self.ndcg, self.queries = float(measures["ndcg@10"]), int(measures["queries"])
        shortfall = [f"nDCG@10 is {self.ndcg:.3f}, not {self.checks.min_ndcg:.3f}"]
        return CheckResult(NAME, self.passed, self.queries, shortfall) if self.checks.retrieval_blocks else None

    @property
    def passed(self) -> bool:
        return self.ndcg is None or self.ndcg >= self.checks.min_ndcg

    def _measure(self, questions: Path, qrels: Path, snapshot_id: str) -> dict[str, float]:
        """Measure in another process; paths are relative to the data folder. Raises ConfigurationError on failure."""
        root = self.work.data.root
        command = [sys.executable, "-m", "monjyu_core", "eval", "retrieval", "-c", self.work.name, "--json"]
        command += ["--queries", str(root / questions), "--qrels", str(root / qrels), "--snapshot", snapshot_id]
        environment = os.environ | {"MONJYU_DATA": str(root)}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise ConfigurationError(f"{NAME} took longer than {SECONDS} s.", "Use fewer questions.") from error
        if done.returncode != 0:
            last_line = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise ConfigurationError(
                f"{NAME} could not measure: {last_line[0]}", "See checks.questions and checks.qrels."
            )
        measures: dict[str, float] = json.loads(done.stdout)
        return measures
