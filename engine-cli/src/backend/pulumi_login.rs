//! What an existing Pulumi login knows about a project.

use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::project::Project;

/// A project as Pulumi knows it.
pub(super) struct PulumiStacks {
    /// Where Pulumi is logged in.
    pub(super) url: String,
    /// Stacks of the project there; only the selected one where Pulumi alone can list them.
    pub(super) stacks: Vec<String>,
}

impl PulumiStacks {
    /// The stacks in words.
    pub(super) fn what(&self) -> String {
        let names: Vec<String> = self.stacks.iter().map(|name| format!("'{name}'")).collect();
        format!("the stack{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
    }
}

/// Does the Pulumi login of this user know stacks of this project? Files of Pulumi that cannot be read or understood
/// are taken as "no": they are not ours to complain about.
pub(super) fn knows(context: &Context, project: &Project) -> Option<PulumiStacks> {
    let home = pulumi_home(context)?;
    let url = current_login(&home)?;
    let stacks = match url.strip_prefix("file://") {
        Some(path) => stored_stacks(&expand(context, path), &project.name),
        None => selected_stack(&home, project).into_iter().collect(),
    };
    (!stacks.is_empty()).then_some(PulumiStacks { url, stacks })
}

fn pulumi_home(context: &Context) -> Option<PathBuf> {
    match context.text_variable("PULUMI_HOME").filter(|home| !home.is_empty()) {
        Some(home) => Some(PathBuf::from(home)),
        None => context.home.as_ref().map(|home| home.join(".pulumi")),
    }
}

fn current_login(home: &Path) -> Option<String> {
    let credentials: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(home.join("credentials.json")).ok()?).ok()?;
    credentials.get("current")?.as_str().filter(|url| !url.is_empty()).map(str::to_owned)
}

fn expand(context: &Context, path: &str) -> PathBuf {
    match (path.strip_prefix('~'), &context.home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(path),
    }
}

fn stored_stacks(directory: &Path, project: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory.join(".pulumi").join("stacks").join(project)) else {
        return Vec::new();
    };
    let mut stacks: Vec<String> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            ["json", "json.gz", "json.zst"]
                .iter()
                .find_map(|end| Some(name.strip_suffix(end)?.strip_suffix('.')?.to_owned()))
        })
        .collect();
    stacks.sort();
    stacks
}

/// The stack that Pulumi's command line has selected in this very project directory, as it writes its name.
pub(crate) fn selected_in_pulumi(context: &Context, project: &Project) -> Option<String> {
    selected_stack(&pulumi_home(context)?, project)
}

/// Where that choice is kept: Pulumi names the file by the hash of the project file's path.
fn selected_stack(home: &Path, project: &Project) -> Option<String> {
    let path = project.file.to_str()?;
    let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, path.as_bytes());
    let hash = digest.as_ref().iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    let file = home.join("workspaces").join(format!("{}-{hash}-workspace.json", project.name));
    let workspace: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
    workspace.get("stack")?.as_str().filter(|stack| !stack.is_empty()).map(str::to_owned)
}
