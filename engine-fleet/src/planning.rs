//! From a fleet file and a request to a plan.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use maloko_core::message::suggestions::listed;

use crate::digest::{self, Site};
use crate::document::Document;
use crate::fault::Result;
use crate::needs::{self, Needs};
use crate::plan::{Limits, Place, Plan, PlannedStack};
use crate::request::Request;
use crate::select;
use crate::settings;
use crate::stacks::{self, DeclaredStack};
use crate::waves;

/// What a fleet file may say.
const FIELDS: [&str; 13] = [
    "name",
    "engine",
    "backend",
    "key",
    "stacks",
    "limits",
    "retry",
    "waves",
    "stop_after",
    "heartbeat",
    "deadline",
    "schedules",
    "keep",
];
/// How many digits the digest of a plan has.
const HASH_DIGITS: usize = 16;

/// Which fleet it is: nothing is read but its name and its server. `source` as for [`plan_run`].
pub fn place(source: &str) -> Result<Place> {
    let document = Document::of_source(source)?;
    let root = document.root();
    root.knows(&FIELDS)?;
    Ok(Place { name: settings::name(&root)?.to_owned(), engine: settings::engine(&root)? })
}

/// The plan of a run. `source` is the path of a fleet file, or a document (JSON) that code has made.
pub fn plan_run(source: &str, request: &Request) -> Result<Plan> {
    let document = Document::of_source(source)?;
    let root = document.root();
    root.knows(&FIELDS)?;
    let name = settings::name(&root)?;
    let (engine, backend, key) = (settings::engine(&root)?, settings::backend(&root)?, settings::key(&root)?);
    let (retry, heartbeat) = (settings::retry(&root)?, settings::heartbeat(&root)?);
    let (deadline, schedules) = (settings::deadline(&root)?, settings::schedules(&root)?);
    let keep = settings::keep(&root)?;
    let entries = root.required("stacks", "stacks: [{ program: ./tenant, stack: prod }]")?;
    let stacks = stacks::read(&entries, &document, &request.variables)?;
    let needs = needs::find(&stacks)?;
    needs::check_circles(&stacks, &needs)?;
    let declared_waves = waves::read(root.member("waves")?.as_ref())?;
    waves::check(root.member("waves")?.as_ref(), &declared_waves, &stacks.all)?;
    let limits = settings::limits(&root, &stacks.all)?;
    let in_file = root.member("stop_after")?.map(|share| share.share()).transpose()?;

    let chosen = select::chosen(&stacks.all, &request.select, &request.stacks)?;
    let stop_after = request.stop_after()?.or(in_file).map(|share| share.of(chosen.len()));
    let is_destroy = request.verb == "destroy";
    let needs = if is_destroy { needs::turned_round(&needs) } else { needs };
    let warnings = if is_destroy { needed_by_others(&stacks.all, &chosen, &needs) } else { Vec::new() };
    let ordered = needs::order(&chosen, &needs);
    let (waves, wave_of) = waves::assign(&declared_waves, &stacks.all, &ordered, &needs);
    let planned = planned(&stacks.all, &ordered, &needs, &wave_of);
    let limits = Limits { at_a_time: request.at_a_time.or(limits.at_a_time), ..limits };
    let state = backend.as_deref().and_then(|url| url.strip_prefix("file://")).map(Path::new);
    // A copy of the fleet's directory has a state of its own, which workers of the original must not take for theirs.
    let is_only_here = state.is_some_and(is_below);
    let state = state.map(|path| document.directory.join(path));
    let secret_files = secret_files(&stacks.all, &document.directory);
    let site =
        Site { directory: &document.directory, state: state.as_deref(), secret_files: &secret_files, is_only_here };
    let code = digest::of_programs(&stacks.programs, &site)?;
    let (fleet, verb) = (name.to_owned(), request.verb.clone());
    let (hash, directory) = (String::new(), String::new());
    let plan = Plan {
        fleet,
        verb,
        hash,
        directory,
        engine,
        backend,
        key,
        code,
        waves,
        limits,
        retry,
        stop_after,
        heartbeat,
        deadline,
        schedules,
        keep,
        stacks: planned,
        warnings: Vec::new(),
    };
    Ok(Plan {
        warnings,
        hash: digest::of_text(&plan.to_json(), HASH_DIGITS),
        directory: document.directory.to_string_lossy().into_owned(),
        ..plan
    })
}

/// Warns of stacks that are not destroyed and need some that are; `dependents` are those that each stack has.
fn needed_by_others(stacks: &[DeclaredStack], chosen: &[usize], dependents: &Needs) -> Vec<String> {
    let in_run = needs::are_in(stacks.len(), chosen);
    let others = chosen.iter().flat_map(|number| &dependents[*number]).filter(|number| !in_run[**number]);
    let others: BTreeSet<&str> = others.map(|number| stacks[*number].id.as_str()).collect();
    if others.is_empty() {
        return Vec::new();
    }
    vec![format!("not in this run, although they need stacks that it destroys: {}", listed(others))]
}

fn planned(stacks: &[DeclaredStack], ordered: &[usize], needs: &Needs, wave_of: &[usize]) -> Vec<PlannedStack> {
    let in_run = needs::are_in(stacks.len(), ordered);
    let planned = |number: &usize| {
        let stack = &stacks[*number];
        PlannedStack {
            id: stack.id.clone(),
            project: stack.project.clone(),
            stack: stack.stack.clone(),
            program: stack.program.name.clone(),
            inline: stack.program.is_inline,
            language: stack.program.language.name().to_owned(),
            labels: stack.labels.clone(),
            config: stack.config.clone(),
            needs: needs[*number].iter().filter(|need| in_run[**need]).map(|need| stacks[*need].id.clone()).collect(),
            wave: wave_of[*number],
            queue: stack.queue.clone(),
        }
    };
    ordered.iter().map(planned).collect()
}

/// The files that secrets are taken from.
fn secret_files(stacks: &[DeclaredStack], directory: &Path) -> BTreeSet<PathBuf> {
    let values = stacks.iter().flat_map(|stack| stack.config.values());
    let named = values.filter_map(|value| value.get("secretFrom")?.get("file")?.as_str());
    named.map(|file| directory.join(file)).collect()
}

/// Is it a path that begins at the fleet's file? One that begins with `~` begins at the home directory.
fn is_below(path: &Path) -> bool {
    !path.is_absolute() && !path.starts_with("~")
}

/// The name of a fleet file where none is given.
const FILE_NAMES: [&str; 2] = ["fleet.yaml", "fleet.yml"];

/// The fleet file in a directory, or the nearest one above it.
#[must_use]
pub fn file_above(directory: &Path) -> Option<std::path::PathBuf> {
    let candidates = directory.ancestors().flat_map(|above| FILE_NAMES.map(|name| above.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

#[cfg(test)]
#[path = "planning_tests.rs"]
mod tests;
