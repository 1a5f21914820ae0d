"""Licences of everything that an installation of Monjyu may hold, and its bill of materials.

`python -m tests.licences` fails where a package's licence is neither permissive nor named for it in README.md.
`python -m tests.licences FILE` writes the packages as CycloneDX 1.6 (JSON) too, with the hashes of the lock files.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCKS = ("requirements.lock", "requirements-demo.lock", "requirements-query.lock")
"""Those of the images and of `make demo`; the one of the tests is not given to anybody."""
PERMISSIVE = {
    *("MIT", "MIT-0", "MIT-CMU", "BSD", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Apache-2.0", "ISC", "PSF-2.0", "Zlib"),
    *("CC0-1.0", "CNRI-Python", "Unlicense"),
}
_NAMES = {
    "MIT License": "MIT",
    "The MIT License (MIT)": "MIT",
    "BSD License": "BSD",
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "GNU General Public License (GPL)": "GPL-2.0-or-later",
    "GNU Library or Lesser General Public License (LGPL)": "LGPL",
    "LGPL with exceptions": "LGPL",
}
"""As metadata write them, and as SPDX does."""
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


@dataclass
class Package:
    """`licences` are SPDX names, empty where its metadata state none, None where it is not installed here."""

    name: str
    version: str
    hashes: list[str]
    licences: list[str] | None


def packages() -> list[Package]:
    """What the lock files name, and the extras that are in none of them."""
    found: dict[str, Package] = {}
    for lock in LOCKS:
        package: Package | None = None
        for line in (ROOT / lock).read_text("utf-8").splitlines():
            if locked := _LOCKED.match(line):
                name = _plain(locked[1])
                package = found.setdefault(name, Package(name, locked[2], [], licences_of(name)))
            elif package is not None:
                package.hashes += [one for one in _HASH.findall(line) if one not in package.hashes]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for needed in (one for extra in project["optional-dependencies"].values() for one in extra):
        name = _plain(re.split(r"[^A-Za-z0-9._-]", needed)[0])
        licences = licences_of(name)
        if name not in found and licences is not None and name != "monjyu":
            found[name] = Package(name, version(name), [], licences)
    return sorted(found.values(), key=lambda package: package.name)


def licences_of(name: str) -> list[str] | None:
    """The SPDX names in a package's licence expression, else in its classifiers, else in its `License` field."""
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return None
    if "License-Expression" in told:
        expression = told["License-Expression"]
        return re.split(r" (?:AND|OR|WITH) ", re.sub(r"[()]", "", expression))
    classified = [one.split(" :: ")[-1] for one in told.get_all("Classifier") or [] if one.startswith("License ::")]
    named = [_NAMES.get(one, one) for one in classified if one != "OSI Approved"]
    if named:
        return named
    line = next(iter((told.get_all("License") or [""])[0].strip().splitlines()), "").strip()
    if line in _NAMES:
        return [_NAMES[line]]
    return [_NAMES.get(one, one) for one in re.split(r" AND |, ", line) if one]


def named_exceptions() -> dict[str, str]:
    """Packages by name with what README.md says of their licence: its table of those that are not permissive."""
    section = (ROOT / "README.md").read_text("utf-8").partition("## Licence")[2]
    return {
        _plain(name): licence for name, licence in re.findall(r"^\| `([\w.-]+)` \| ([^|]+?) \|", section, re.MULTILINE)
    }


def problems(found: list[Package], exceptions: dict[str, str]) -> list[str]:
    """What a licence is that is neither permissive nor named, and names of packages that are not there."""
    wrong = []
    for package in found:
        other = sorted(set(package.licences or []) - PERMISSIVE) if package.licences else ["none stated"]
        if package.licences is not None and other and package.name not in exceptions:
            wrong.append(f"{package.name} {package.version}: {', '.join(other)}")
    known = {package.name for package in found}
    return wrong + [f"{name}: named in README.md, and not installed" for name in sorted(exceptions.keys() - known)]


def bill_of_materials(found: list[Package]) -> dict[str, object]:
    """CycloneDX 1.6, the same bytes for the same lock files: no time and no serial number."""
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{package.name}@{package.version}",
            "name": package.name,
            "version": package.version,
            "purl": f"pkg:pypi/{package.name}@{package.version}",
            "licenses": [{"license": {"name": name}} for name in package.licences or []],
            "hashes": [{"alg": "SHA-256", "content": one} for one in package.hashes],
        }
        for package in found
    ]
    main = {"type": "application", "bom-ref": "monjyu", "name": "monjyu", "version": version("monjyu")}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": main},
        "components": components,
    }


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: list[str]) -> int:
    found = packages()
    wrong = problems(found, named_exceptions())
    for line in wrong:
        print(f"licence: {line}")
    if wrong:
        print("Use another package, or name it with its licence in README.md, section Licence.")
    for path in arguments:
        Path(path).write_text(json.dumps(bill_of_materials(found), indent=1) + "\n", "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
