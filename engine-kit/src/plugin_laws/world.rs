//! The service behind a plugin that is judged on the command line: commands look at it, and change it behind the plugin's
//! back.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use maloko_core::error::{Error, Result};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::trial::PluginTrial;
use super::under_test::PluginUnderTest;

/// Commands for a shell, which gets the id of an object as `$1`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldCommands {
    /// Prints what is there: an id on each line, or JSON (a list of ids, or an object with what is known of each, by id).
    pub objects: String,
    /// Changes an object.
    pub mutate_remote: Option<String>,
    /// Removes an object.
    pub delete_remote: Option<String>,
    /// Empties it, before each example.
    pub reset: Option<String>,
}

impl WorldCommands {
    /// What can be done to it, as laws take it.
    pub(super) fn abilities(&self) -> Json {
        let ability = |name: &str, command: &Option<String>| json!({ "name": name, "there": command.is_some() });
        json!({
            "mutate": ability("mutate_remote", &self.mutate_remote),
            "delete": ability("delete_remote", &self.delete_remote),
        })
    }
}

/// The world of one example.
pub(super) struct World<'a> {
    plugin: &'a PluginUnderTest,
    commands: &'a WorldCommands,
    /// Where the commands run.
    directory: PathBuf,
    /// What was there before the example made anything.
    before: BTreeSet<String>,
}

impl<'a> World<'a> {
    pub(super) fn new(plugin: &'a PluginUnderTest, commands: &'a WorldCommands, directory: PathBuf) -> Self {
        Self { plugin, commands, directory, before: BTreeSet::new() }
    }

    /// Takes an example to its end. Fails when a command does.
    pub(super) async fn judge(&mut self, trial: &PluginTrial) -> Result<Json> {
        self.renew().await?;
        let mut answer = Json::Null;
        loop {
            let request = trial.next(answer).await?;
            let id = request["id"].as_str().unwrap_or_default();
            answer = match request["do"].as_str().unwrap_or_default() {
                "renew" => {
                    self.renew().await?;
                    Json::Null
                }
                "look" => {
                    let ids = ids_of(&self.objects().await?);
                    json!(ids.difference(&self.before).collect::<Vec<_>>())
                }
                "picture" => self.objects().await?,
                "mutate-remote" => {
                    self.run("mutate_remote", self.commands.mutate_remote.as_ref(), id).await?;
                    Json::Null
                }
                "delete-remote" => {
                    self.run("delete_remote", self.commands.delete_remote.as_ref(), id).await?;
                    Json::Null
                }
                _ => return Ok(request),
            };
        }
    }

    async fn renew(&mut self) -> Result<()> {
        self.run("reset", self.commands.reset.as_ref(), "").await?;
        self.before = ids_of(&self.objects().await?);
        Ok(())
    }

    async fn objects(&self) -> Result<Json> {
        let printed = self.run("objects", Some(&self.commands.objects), "").await?;
        objects_in(&printed).map_err(|what| {
            let text = format!("the command `objects` of the world printed {what}; print an id on each line, or JSON");
            Error::Configuration(text.into())
        })
    }

    /// Runs a command, if there is one, and gives what it printed.
    async fn run(&self, name: &'static str, command: Option<&String>, id: &str) -> Result<String> {
        let Some(command) = command else { return Ok(String::new()) };
        let (command, directory, id) = (command.clone(), self.directory.clone(), id.to_owned());
        let run = move || {
            // As in a script: `$0` is its name, and `$1` what it is given.
            let shell = Command::new("sh")
                .args(["-c", &command, name, &id])
                .current_dir(directory)
                .stdin(Stdio::null())
                .output();
            shell.map_err(|error| format!("cannot be run: {error}")).and_then(|ran| {
                if ran.status.success() {
                    return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
                }
                let said = String::from_utf8_lossy(&ran.stderr);
                let last = said.trim().lines().last().unwrap_or("it said nothing on its stderr").to_owned();
                Err(format!("failed ({}): {last}", ran.status))
            })
        };
        // A command takes its time, and the threads of the runs may wait for it.
        let ran = self.plugin.shared().on_runtime(async move { tokio::task::spawn_blocking(run).await.ok() }).await;
        let ran = ran.flatten().unwrap_or_else(|| Err("could not be run".to_owned()));
        ran.map_err(|what| {
            let text = format!("the command `{name}` of the world {what}\nlet it do what it is for, and exit with 0");
            Error::Configuration(text.into())
        })
    }
}

/// What is there, from what a command printed: an object by id, or a sorted list of ids.
fn objects_in(printed: &str) -> std::result::Result<Json, String> {
    let printed = printed.trim();
    if !printed.starts_with(['[', '{']) {
        let ids: BTreeSet<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        return Ok(json!(ids));
    }
    match serde_json::from_str(printed) {
        Ok(Json::Array(listed)) => {
            let ids: Option<BTreeSet<String>> = listed.iter().map(id_in).collect();
            ids.map(|ids| json!(ids)).ok_or_else(|| "a list of something else than ids".to_owned())
        }
        Ok(objects) => Ok(objects),
        Err(error) => Err(format!("what is no JSON ({error})")),
    }
}

fn id_in(listed: &Json) -> Option<String> {
    match listed {
        Json::String(id) => Some(id.clone()),
        Json::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

fn ids_of(objects: &Json) -> BTreeSet<String> {
    match objects {
        Json::Object(objects) => objects.keys().cloned().collect(),
        Json::Array(ids) => ids.iter().filter_map(id_in).collect(),
        _ => BTreeSet::new(),
    }
}

#[cfg(test)]
#[path = "world_tests.rs"]
mod tests;
