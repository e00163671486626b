"""Writes docs/internals/hostile-providers.md from what the tests of both languages saw: `make hostile-table`."""

import json
import sys
from pathlib import Path

from table import DOCUMENT, METHODS

HEAD = """# Hostile providers

How maloko handles providers whose methods misbehave, as the tests in `python-tests/hostile` and `node-tests/hostile`
see it. Each behaviour is tried in each method, in a stack with another resource.

- `error`: the resource fails with an error that names the resource, the method and, where there is one, the place in
  the value.
- `given up`: the engine gives the call up at its time limit, with an error.
- `fine`: the run succeeds; the behaviour does not matter there.

In every case the run ends, and the other resource stays as it was. What the failed call may have made is recorded. The
next run with a correct provider brings the stack to where it should be. `make hostile-table` writes this page.

"""


def main(files: dict[str, str]) -> None:
    seen = {language: json.loads(Path(file).read_text()) for language, file in files.items()}
    names = list(dict.fromkeys(name for outcomes in seen.values() for name in outcomes))
    lines = [f"| behaviour | language | {' | '.join(METHODS)} |", f"| --- | --- |{' --- |' * len(METHODS)}"]
    for name in names:
        for language, outcomes in seen.items():
            if name in outcomes:
                cells = " | ".join(outcomes[name][method] for method in METHODS)
                lines.append(f"| {name} | {language} | {cells} |")
    text = DOCUMENT.read_text()
    # What is written there by hand stays.
    plugins = text[text.index("\n## Plugins") :]
    DOCUMENT.write_text(HEAD + "\n".join(lines) + "\n" + plugins)


if __name__ == "__main__":
    main({"python": sys.argv[1], "nodejs": sys.argv[2]})
