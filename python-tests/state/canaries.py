"""Secrets that no output and no file may show, and the search for them in every form that they can take."""

import base64
import html
import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

# With letters that look different in JSON, in URLs, in HTML and in base64's two alphabets.
CANARIES = {
    name: f"{name}~c4n4ry/+?&<\"é'>{number}{number * 7919}"
    for number, name in enumerate(
        ["config", "input", "nested", "output", "result", "token", "passphrase", "exported", "read"], 101
    )
}
LINES = ["-----BEGIN CANARY-----", "TElORS1PTkUtT0YtQS1DQU5BUlk", "TElORS1UV08tT0YtQS1DQU5BUlk", "-----END CANARY-----"]


PAGE = {letter: f"\\u{ord(letter):04x}" for letter in "<>&"}
"""How a page writes what could be taken for markup."""


def forms(secret: str) -> dict[str, bytes]:
    """What the secret may look like."""
    found = {
        "raw": secret,
        "JSON": json.dumps(secret)[1:-1],
        "JSON, not ASCII": json.dumps(secret, ensure_ascii=False)[1:-1],
        "JSON in JSON": json.dumps(json.dumps(secret, ensure_ascii=False)[1:-1], ensure_ascii=False)[1:-1],
        "URL": urllib.parse.quote(secret, safe=""),
        "URL with slashes": urllib.parse.quote(secret),
        "form": urllib.parse.quote_plus(secret),
        "HTML": html.escape(secret),
        "HTML, texts only": html.escape(secret, quote=False),
        "repr": repr(secret)[1:-1],
        "JSON in a page": "".join(PAGE.get(letter, letter) for letter in json.dumps(secret, ensure_ascii=False)[1:-1]),
    }
    encoded = {name: text.encode() for name, text in found.items()}
    for offset in range(3):
        raw = bytes(offset) + secret.encode()
        first, last = -(-offset * 8 // 6), len(raw) * 8 // 6
        encoded[f"base64 at {offset}"] = base64.b64encode(raw)[first:last]
        encoded[f"URL base64 at {offset}"] = base64.urlsafe_b64encode(raw)[first:last]
    return encoded


def hits(place: str, content: bytes, secrets: dict[str, str]) -> Iterator[str]:
    """Where the content shows a secret."""
    for name, secret in secrets.items():
        for form, needle in forms(secret).items():
            at = content.find(needle)
            if at >= 0:
                line = content[max(0, content.rfind(b"\n", 0, at)) : at + len(needle) + 20]
                yield f"{place}: the canary '{name}' as {form}: {line[:300].decode(errors='replace')}"


def files(root: Path) -> Iterator[Path]:
    """Every file of a project, but what was installed there."""
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and "node_modules" not in path.parts:
            yield path
