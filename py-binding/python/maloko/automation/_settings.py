"""Settings files as the engine reads and writes them.

The engine reads YAML 1.2, PyYAML reads 1.1. Where they differ, a text would become something else: `12e5` is a number
in 1.2 and a text in 1.1, and it is the other way round with `yes`, `1_000`, `0777`, `1:20` and `2024-01-01`. So files
are read by the rules of 1.2, and a text that either would take for something else is written between quotes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from pulumi.automation import StackSettings
from pulumi.automation._stack_settings import StackSettingsSecureConfigValue

_EXTENSIONS = (".yaml", ".yml", ".json")
_NUMBER = re.compile(r"[-+]?\.?\d")
"""How everything begins that is a number, a date or a time for anybody. What else is no text, PyYAML itself knows."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads YAML 1.2, as the engine does."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 PyYAML's own member


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Writes texts so that nobody takes them for something else."""


def _whole_number(loader: _Loader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node), 0)


def _fraction(loader: _Loader, node: yaml.ScalarNode) -> float:
    return float(re.sub(r"\.(?=inf|nan)", "", loader.construct_scalar(node).lower()))


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "'" if _NUMBER.match(text) and "\n" not in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(0|[1-9][0-9]*|0o[0-7]+|0x[0-9a-fA-F]+|0b[01]+)", list("-+0123456789")),
    (
        "float",
        r"[-+]?((\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|\.(inf|Inf|INF))|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
):
    if _tag == "float":
        # Digits with a zero before them are a text, such as a postal code.
        _pattern = rf"(?![-+]?0[0-9]+$)({_pattern})"
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), _first)
_Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)
_Loader.add_constructor("tag:yaml.org,2002:float", _fraction)
_Dumper.add_representer(str, _text)


def base_of(stack: str) -> str:
    """The name of a stack's settings file, without the extension."""
    return f"Pulumi.{stack.rsplit('/', 1)[-1]}"


def file_of(directory: str, base: str) -> Path | None:
    """The settings file of a directory that is there."""
    files = (Path(directory, base + extension) for extension in _EXTENSIONS)
    return next((file for file in files if file.exists()), None)


def read(file: Path) -> Any:
    """What stands in a settings file."""
    text = file.read_text(encoding="utf-8")
    return json.loads(text) if file.suffix == ".json" else yaml.load(text, _Loader)


def write(directory: str, base: str, settings: Any) -> None:
    """Writes a settings file: the one that is there, else one in YAML."""
    file = file_of(directory, base) or Path(directory, f"{base}.yaml")
    text = json.dumps(settings, indent=4) if file.suffix == ".json" else yaml.dump(settings, Dumper=_Dumper)
    file.write_text(text, encoding="utf-8")


def stack_settings_of(members: Any) -> StackSettings:
    """The settings of a stack, by the members of its file."""
    members = members or {}
    config = {
        key: StackSettingsSecureConfigValue(**value) if isinstance(value, dict) and [*value] == ["secure"] else value
        for key, value in (members.get("config") or {}).items()
    }
    return StackSettings(
        secrets_provider=members.get("secretsprovider"),
        encrypted_key=members.get("encryptedkey"),
        encryption_salt=members.get("encryptionsalt"),
        config=config if "config" in members else None,
    )
