"""Looks through the built site (make docs): nothing in its pages and styles makes a browser ask another host."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

# What a browser fetches by itself. A link that the reader follows is not among it.
FETCHED = {
    **dict.fromkeys(("audio", "embed", "iframe", "input", "script", "track"), ("src",)),
    **dict.fromkeys(("image", "link"), ("href",)),
    **dict.fromkeys(("img", "source"), ("src", "srcset")),
    "object": ("data",),
    "video": ("src", "poster"),
}
ELSEWHERE = re.compile(r"\s*(?:[a-z]+:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:[a-z]+:)?//[^\"')\s]+)", re.IGNORECASE)


class Requests(HTMLParser):
    """The addresses at other hosts that a page makes a browser ask."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in FETCHED.get(tag, ()) and ELSEWHERE.match(value):
                self.found.append(f"<{tag} {name}={value}>")
            elif value and name == "style":
                self.found += IN_STYLE.findall(value)


def requests_of(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".css":
        return IN_STYLE.findall(text)
    page = Requests()
    page.feed(text)
    return page.found + [
        it for style in re.findall(r"<style.*?</style>", text, re.DOTALL) for it in IN_STYLE.findall(style)
    ]


def main(site: Path) -> int:
    """Prints every request to another host; gives 1 when there is one, or no page."""
    files = [file for file in sorted(site.rglob("*")) if file.suffix in (".html", ".css", ".svg")]
    faults = [f"{file}: asks another host: {it}" for file in files for it in requests_of(file)]
    pages = sum(file.suffix == ".html" for file in files)
    print("\n".join(faults) or f"{site}: {pages} pages, no request to another host")
    return 1 if faults or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
