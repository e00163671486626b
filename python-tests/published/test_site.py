"""What reads the documents makes the tabs of the site."""

# All in Python alone: what is made for both languages at once is looked at once

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

CI = Path(__file__).parents[2] / ".ci"


def tool(name: str) -> dict[str, Any]:
    return runpy.run_path(str(CI / f"{name}.py"))


def test_blocks_and_paragraphs_per_language_become_tabs() -> None:
    with_tabs: Callable[[str], str] = tool("site_hooks")["with_tabs"]
    code = "Text\n\n```python\na = 1\n\nb = 2\n```\n\n```ts\nlet a;\n```\n\n"
    commands = "```console python\n$ pytest\n```\n\n```console ts\n$ npx vitest\n```\n\n```console\n$ ls\n```\n"
    python = "    ```python\n    a = 1\n\n    b = 2\n    ```\n\n    ```console\n    $ pytest\n    ```\n\n"
    typescript = "    ```ts\n    let a;\n    ```\n\n    ```console\n    $ npx vitest\n    ```\n\n"
    tabs = f'===! "Python"\n\n{python}=== "TypeScript"\n\n{typescript}'
    assert with_tabs(code + commands) == f"Text\n\n{tabs}```console\n$ ls\n```\n"
    labels = "**Python**\n\none\n\n**TypeScript**\n\ntwo\n\n## Next\n\nthree\n"
    assert with_tabs(labels) == '===! "Python"\n\n    one\n\n=== "TypeScript"\n\n    two\n\n## Next\n\nthree\n'
