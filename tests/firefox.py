"""Debian's Firefox under Playwright: a program that starts it and passes WebDriver BiDi on, both ways.

Playwright 1.65 sets media features by a command that Firefox lacks, and fails. This program answers the command."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
UNKNOWN_TO_FIREFOX = "emulation.setMediaFeaturesOverride"
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


def firefox_program(folder: Path) -> Path:
    """An executable file in `folder` that Playwright may start as Firefox."""
    program = folder / "firefox"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(__file__)} "$@"\n')
    program.chmod(0o755)
    return program


async def _pass_on(playwright: ServerConnection, address: str) -> None:
    async with connect(address + "/session", max_size=None, compression=None) as firefox:

        async def commands() -> None:
            async for message in playwright:
                command: dict[str, Any] = json.loads(message)
                if command["method"] == UNKNOWN_TO_FIREFOX:
                    await playwright.send(json.dumps({"type": "success", "id": command["id"], "result": {}}))
                else:
                    await firefox.send(message)
            await firefox.close()

        sending = asyncio.create_task(commands())
        async for message in firefox:
            await playwright.send(message)
        sending.cancel()


async def run(arguments: list[str]) -> int:
    process = await asyncio.create_subprocess_exec(str(FIREFOX), *arguments, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    async for line in process.stderr:
        if found := LISTENING.search(text := line.decode(errors="replace")):
            server = await serve(
                lambda playwright: _pass_on(playwright, found[1]), "127.0.0.1", 0, max_size=None, compression=None
            )
            text = f"WebDriver BiDi listening on ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}\n"
        sys.stderr.write(text)
        sys.stderr.flush()
    return await process.wait()


if __name__ == "__main__":
    raise SystemExit(asyncio.run(run(sys.argv[1:])))
