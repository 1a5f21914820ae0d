"""A package's signature: Ed25519 over its manifest, which holds the hashes of all else."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping

from monjyu_core.errors import ConfigurationError
from monjyu_query.answer_packages.package_files import MANIFEST, SIGNATURE, canonical_bytes

_ALGORITHM = "ed25519"
LONGEST_KEY = 64 * 1024
"""Bytes of a PEM file."""


def signed(files: Mapping[str, bytes], key: bytes) -> dict[str, bytes]:
    """The files with a signature. `key`: a private key in PEM without a password; ConfigurationError for another."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(key, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise ConfigurationError(
            "The file is not a private Ed25519 key without a password.",
            "`openssl genpkey -algorithm ed25519` creates one.",
        )
    told = {
        "algorithm": _ALGORITHM,
        "public_key": base64.b64encode(private.public_key().public_bytes_raw()).decode(),
        "signature": base64.b64encode(private.sign(files[MANIFEST])).decode(),
    }
    return {**files, SIGNATURE: canonical_bytes(told)}


def signer_of(files: Mapping[str, bytes]) -> str | None:
    """The public key (base64) whose signature holds; None where there is none that does."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = files.get(SIGNATURE, b"")
    try:
        told = json.loads(content)
        if canonical_bytes(told) != content or set(told) != {"algorithm", "public_key", "signature"}:
            return None
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(told["public_key"], validate=True))
        public.verify(base64.b64decode(told["signature"], validate=True), files[MANIFEST])
    except (ValueError, TypeError, KeyError, RecursionError, binascii.Error, InvalidSignature):
        return None
    if told["algorithm"] != _ALGORITHM:
        return None
    same = base64.b64encode(base64.b64decode(told["public_key"])).decode() == told["public_key"]
    same &= base64.b64encode(base64.b64decode(told["signature"])).decode() == told["signature"]
    return str(told["public_key"]) if same else None


def public_key_of(pem: bytes) -> str:
    """The key of a PEM file (base64); ConfigurationError for a file that is none."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        public = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        public = None
    if not isinstance(public, Ed25519PublicKey):
        raise ConfigurationError(
            "The file is not a public Ed25519 key.", "`openssl pkey -in KEY -pubout` writes that of a private one."
        )
    return base64.b64encode(public.public_bytes_raw()).decode()
