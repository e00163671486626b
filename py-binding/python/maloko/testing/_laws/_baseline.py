"""What a former release of a provider left in a state: as resources, or as a stack that was exported then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from maloko.testing._judgement import ask
from maloko.testing._laws._words import plain


def baseline_of(given: Any, beside: str, kind: str = "") -> list[dict[str, Any]]:
    """The resources of a baseline: `id`, `inputs`, `outputs`. Raises `MalokoError` for one that has none.

    :param given: a list of them, an exported stack, or the file of either, beside that of the test.
    :param kind: the type token of those that count; without it, all of dynamic providers do.
    """
    told = str(Path(beside).parent / given) if isinstance(given, str | Path) else plain(given)
    found: list[dict[str, Any]] = ask("former_resources", given=told, kind=kind or None)
    return found
