"""The stable-id example: drawn once, kept, and gone with its resource."""

from pathlib import Path

from examples.harness import Project, with_stack


def identifiers(project: Project) -> dict[str, str]:
    outputs = project.outputs()
    return dict(outputs if project.language == "python" else outputs["identifiers"])


def test_identifiers_stay_until_they_leave_the_program(language: str, tmp_path: Path) -> None:
    project = with_stack(language, "stable-id", tmp_path)

    assert project.up() == {"create": 3}
    first = identifiers(project)
    assert sorted(first) == ["bucket", "session"]
    assert all(len(text) == 16 for text in first.values())

    assert project.up() == {"same": 3}
    assert identifiers(project) == first

    project.must("config", "set", "--path", "names[2]", "queue")
    assert project.preview() == {"create": 1, "same": 3}
    assert project.up() == {"create": 1, "same": 3}
    second = identifiers(project)
    assert {name: second[name] for name in first} == first
    assert len(set(second.values())) == 3

    assert project.destroy() == {"delete": 4}
    assert project.state() == []


def test_an_identifier_that_is_in_use_is_imported_and_read(language: str, tmp_path: Path) -> None:
    project = with_stack(language, "stable-id", tmp_path)
    old = "00112233445566aa"
    python = f'pulumi.export("old", StableId("old", size=8, opts=pulumi.ResourceOptions(import_="{old}")).text)'
    typescript = f'export const old = new StableId("old", {{ size: 8 }}, {{ import: "{old}" }}).text;'
    name, text = ("__main__.py", python) if language == "python" else ("index.ts", typescript)
    with (project.folder / name).open("a") as program:
        program.write(f"\n{text}\n")

    assert project.up() == {"create": 3, "import": 1}
    assert project.outputs()["old"] == old
    project.must("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    assert project.up() == {"same": 4}
