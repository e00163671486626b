#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::fs;

use super::poetry;
use crate::project::Project;

/// The command for a project of poetry, and its file afterwards.
fn linked(pyproject: &str) -> (String, String) {
    let there = tempfile::tempdir().unwrap();
    let settings = "name: t\nruntime: {name: python, options: {toolchain: poetry}}\n";
    let project = Project::parse(&there.path().join("Pulumi.yaml"), settings.to_owned()).unwrap();
    let file = there.path().join("pyproject.toml");
    fs::write(&file, pyproject).unwrap();
    let steps = poetry(&project, "./sdks/random").unwrap();
    assert_eq!(steps.len(), 1);
    (steps[0].shown(), fs::read_to_string(file).unwrap())
}

#[test]
fn poetry_gets_a_group_for_sdks_where_it_would_write_a_path_of_this_machine() {
    let project = "[project]\nname = \"t\"\ndependencies = [\"pulumi\"]\n";
    let group = format!("{project}\n[tool.poetry.group.sdks.dependencies]\n");
    let command = "poetry add --group sdks ./sdks/random";
    assert_eq!(linked(project), (command.to_owned(), group.clone()));
    assert_eq!(linked(&group), (command.to_owned(), group.clone()));
    let own = "[tool.poetry]\nname = \"t\"\n\n[tool.poetry.dependencies]\npython = \"^3.10\"\n";
    assert_eq!(linked(own), ("poetry add ./sdks/random".to_owned(), own.to_owned()));
}
