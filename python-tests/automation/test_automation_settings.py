"""What settings say, whoever reads them: a text stays a text, and a number keeps its digits."""

from pathlib import Path

import yaml
from automation_kit import new_stack

from maloko import automation as auto

TEXTS = [
    *("12e5", "1234e56", "0x1f", "+0x1f", "0o17", "0b11", "1_000", "0777", "+5", "-12", "1.", ".5", "5.5e3", "1:20"),
    *("yes", "No", "on", "OFF", "y", "n", "true", "False", "null", "~", "", ".inf", "-.INF", ".nan", "2024-01-01"),
    *("a: b", "# x", " x", "- a", "=", "<<", "!x", "&a", "*a", "1\n2", "18446744073709551616"),
]


def test_texts_of_stack_settings_stay_texts(tmp_path: Path) -> None:
    config = {f"project:k{number}": text for number, text in enumerate(TEXTS)}
    stack = new_stack(tmp_path, lambda: None)
    settings = stack.workspace.stack_settings("dev")
    settings.config = dict(config)
    stack.workspace.save_stack_settings("dev", settings)
    assert {key: value.value for key, value in stack.get_all_config().items()} == config
    assert stack.workspace.stack_settings("dev").config == config
    # So do those of a tool that reads YAML 1.1.
    assert yaml.safe_load(Path(stack.workspace.work_dir, "Pulumi.dev.yaml").read_text())["config"] == config


def test_settings_are_read_as_the_engine_reads_them(tmp_path: Path) -> None:
    stack = new_stack(tmp_path, lambda: None)
    file = Path(stack.workspace.work_dir, "Pulumi.dev.yaml")
    written = (
        "config:\n  project:a: yes\n  project:b: 0777\n  project:c: 1_000\n  project:d: 2024-01-01\n  project:e: 0b11\n"
        "  project:f: 18446744073709551616\n  project:g: 9007199254740993\n  project:h: 1:20\n  project:i: [1, on]\n"
    )
    file.write_text(file.read_text() + written)

    def texts() -> list[str]:
        return [stack.get_config(key).value for key in "abcdefghi"]

    before = texts()
    assert before == [
        *("yes", "0777", "1_000", "2024-01-01", "3", "18446744073709551616", "9007199254740993", "1:20", '[1,"on"]')
    ]
    stack.workspace.save_stack_settings("dev", stack.workspace.stack_settings("dev"))
    assert texts() == before


def test_texts_of_project_settings_stay_texts(tmp_path: Path) -> None:
    settings = auto.ProjectSettings(name="project", runtime="python", description="12e5", author="0x1f")
    stack = new_stack(tmp_path, lambda: None, project_settings=settings)
    read = stack.workspace.project_settings()
    assert (read.description, read.author) == ("12e5", "0x1f")
    assert "description: '12e5'\n" in Path(stack.workspace.work_dir, "Pulumi.yaml").read_text()
