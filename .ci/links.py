"""Checks the links of every Markdown file: the file is there, and so is the heading that the link names."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]*)\)")


def prose(file: Path) -> str:
    """The text of a page without its code."""
    text = re.sub(r"^```.*?^```$", "", file.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", lambda code: code[0].replace("[", " ").replace("]", " "), text)


@cache
def anchors(file: Path) -> frozenset[str]:
    """The anchors that the headings of a page have on code hosts, and on the site."""
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", prose(file), re.MULTILINE):
        words = LINK.sub(lambda link: link[0][1 : link[0].index("]")], heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
        found.append(anchor)
    return frozenset(found)


def fault(file: Path, target: str) -> str | None:
    """What is wrong with a link; `None` when nothing is."""
    if "://" in target or target.startswith("mailto:"):
        return None
    path, _, anchor = target.partition("#")
    page = (file.parent / path).resolve() if path else file
    if not page.exists():
        return "there is no such file"
    if anchor and page.suffix == ".md" and anchor not in anchors(page):
        return f"{page.relative_to(ROOT)} has no such heading"
    return None


def main() -> int:
    """Prints every dead link with its place; gives 1 when there is one."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    files = [ROOT / name for name in sorted(set(listed.stdout.splitlines()))]
    files = [file for file in files if file.is_file() and not file.is_symlink()]
    links = [(file, target) for file in files for target in LINK.findall(prose(file))]
    faults = [
        f"{file.relative_to(ROOT)}: {target}: {wrong}" for file, target in links if (wrong := fault(file, target))
    ]
    print("\n".join(faults) or f"{len(links)} links in {len(files)} files lead somewhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
