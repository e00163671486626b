"""What the site makes of a page beyond Markdown (mkdocs.yml), so that the page itself stays plain Markdown.

- A fenced block of Python followed by one of TypeScript becomes two tabs, and so do several such pairs in a row. A
  block in another language names the reader's as its second word: "```console python".
- A paragraph that is only **Python** or **TypeScript** begins a tab, which ends at the next such paragraph or heading.
- A link to a file that is outside of docs/ becomes its words, for the site does not have that file. It must exist.
"""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = {"python": "Python", "ts": "TypeScript", "typescript": "TypeScript"}
LABEL = re.compile(r"\*\*(Python|TypeScript)\*\*")
CHUNK = re.compile(r"^```.*?^```$|(?:^(?!```)[^\n]+(?:\n|\Z))+", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"```(\S+)(?: (\S+))?")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def chunks(text: str) -> list[str]:
    """The paragraphs and fenced blocks of a page, each without the empty lines around it."""
    return [chunk.strip("\n") for chunk in CHUNK.findall(text)]


def block_language(chunk: str) -> str | None:
    """The reader's language that a fenced block is for; `None` for all others."""
    opened = FENCE.match(chunk)
    return LANGUAGES.get(opened[2] or opened[1]) if opened else None


def is_pair(found: list[str]) -> bool:
    return [block_language(chunk) for chunk in found] == ["Python", "TypeScript"]


def without_second_word(chunk: str) -> str:
    return FENCE.sub(r"```\1", chunk, count=1) if chunk.startswith("```") else chunk


def tab(language: str, content: list[str], first: bool = False) -> str:
    """A tab; the mark of the first one keeps it apart from those of a group right before it."""
    inside = "\n\n".join(without_second_word(chunk) for chunk in content)
    return f'==={"!" if first else ""} "{language}"\n\n' + "\n".join(
        f"    {line}" if line else line for line in inside.splitlines()
    )


def with_tabs(text: str) -> str:
    """A page with its parts per language in tabs."""
    made: list[str] = []
    rest = chunks(text)
    while rest:
        chunk = rest.pop(0)
        if label := LABEL.fullmatch(chunk):
            inside: list[str] = []
            while rest and not rest[0].startswith("#") and not LABEL.fullmatch(rest[0]):
                inside.append(rest.pop(0))
            made.append(tab(label[1], inside, first=label[1] == "Python"))
        elif is_pair([chunk, *rest[:1]]):
            pairs = [chunk, rest.pop(0)]
            while is_pair(rest[:2]):
                pairs += [rest.pop(0), rest.pop(0)]
            made += [tab("Python", pairs[::2], first=True), tab("TypeScript", pairs[1::2])]
        else:
            made.append(without_second_word(chunk))
    return "\n\n".join(made) + "\n"


def without_links_outside(text: str, folder: Path, docs: Path) -> str:
    """A page in which links that leave the site are words; those that lead nowhere stay, for MkDocs to find."""

    def words(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        leaves = "://" not in link[2] and target.exists() and not target.is_relative_to(docs)
        return link[1] if leaves else link[0]

    return "\n\n".join(it if it.startswith("```") else LINK.sub(words, it) for it in chunks(text))


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """MkDocs calls it for each page before the Markdown is read."""
    folder = Path(page.file.abs_src_path).parent
    return with_tabs(without_links_outside(markdown, folder, Path(config["docs_dir"])))
