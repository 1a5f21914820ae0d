"""Command `doctor`."""

import json
import sys
from dataclasses import asdict

import click

_MARKS = {"ok": ("ok", "green"), "off": ("--", "bright_black"), "wrong": ("!!", "red")}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def doctor(as_json: bool) -> None:
    """Check the data folder, the settings and every configured service.

    Each service gets one cheap call; a model gets a question of a few tokens. Exit code 1 if something is wrong.
    """
    from monjyu_assets.indexing.doctor import examine

    findings = []
    for finding in examine():
        findings.append(finding)
        if not as_json:
            mark, colour = _MARKS[finding.state]
            click.echo(f"{click.style(mark, fg=colour)}  {finding.name}: {finding.detail}")
            if finding.hint:
                click.echo(f"    {finding.hint}")
    wrong = sum(finding.state == "wrong" for finding in findings)
    if as_json:
        click.echo(json.dumps({"findings": [asdict(one) for one in findings], "wrong": wrong}, ensure_ascii=False))
    elif wrong:
        click.echo(f"{wrong} of {len(findings)} checks found a fault.", err=True)
    sys.exit(1 if wrong else 0)
