//! `check`: looks at everything that can be looked at without deploying.

use std::path::{Path, PathBuf};

use maloko_core::message;
use maloko_core::message::{Command, Message};
use maloko_core::state::key_record::{KeyRecord, NamedKey};
use maloko_core::state::{PendingKind, Snapshot, StackName};
use maloko_plugins::terraform::{self, TerraformProvider};
use maloko_plugins::{PluginSettings, languages};
use serde_json::json;

use super::plugin::needed::{self, Need};
use super::pretty;
use crate::arguments::CheckArguments;
use crate::context::Context;
use crate::failure::{Failure, Result, code};
use crate::operation::{plugins, program};
use crate::plain::count;
use crate::project::{ListedPackage, Project};
use crate::settings::Settings;
use crate::settings::resolve::resolve;
use crate::workplace::Workplace;

/// What was looked at, and what was found.
#[derive(Default)]
struct Findings {
    looked_at: Vec<String>,
    problems: Vec<Message>,
    notes: Vec<String>,
}

impl Findings {
    fn take<T>(&mut self, what: impl Into<String>, result: Result<T>) -> Option<T> {
        self.looked_at.push(what.into());
        result.map_err(|failure| self.problems.push(failure.message)).ok()
    }
}

/// Runs `check`: every problem is listed, not only the first.
pub(crate) async fn run(context: &Context, arguments: &CheckArguments) -> Result<()> {
    let mut findings = Findings::default();
    if let Some(project) = findings.take("the project file", context.project()) {
        let program = findings.take("the program", program::of_project(context, &project));
        let settings = plugins::settings(context, &project);
        if let Some(spec) = program.as_ref().filter(|_| program::is_foreign(context, &project)) {
            findings.looked_at.push("the host of the program's language".to_owned());
            match languages::find_language_host(&program::foreign(&project, spec), &settings) {
                Ok(host) => {
                    findings.notes.push(format!("programs of `runtime: {}` are run by {host}", project.runtime));
                }
                Err(missing) => findings.problems.push(format!("{}: {missing}", project.place(&["runtime"])).into()),
            }
        }
        let mut needs = needed::of_file(&project);
        for (stack, file) in settings_files(&project) {
            check_settings(&mut findings, &project, &stack, &file);
        }
        needs.extend(check_state(&mut findings, context).await);
        if let Some(program) = program {
            findings.looked_at.push("the packages that the program names".to_owned());
            let named = needed::of_program(context, &program, &settings).await;
            findings.problems.extend(named.iter().filter_map(|need| {
                let ambiguous = maloko_plugins::ambiguous_places(&settings.package_folders, need.package.plugin().0);
                ambiguous.map(|reason| format!("{}: {reason}", need.place).into())
            }));
            needs.extend(named);
        }
        findings.problems.extend(crate::project::sdks::problems(&project).into_iter().map(Message::from));
        findings.notes.extend(terraform_providers(&project, &settings));
        let to_make = crate::project::sdks::missing(&project);
        for need in needs {
            let (place, shown) = (&need.place, need.shown());
            let listed = need.missing_sdk.as_ref().and_then(|_| to_make.iter().find(|it| it.name == need.package.name));
            if let Some(sdk) = listed {
                if !crate::project::sdks::is_linked(&project, &sdk.name) {
                    findings.problems.push(sdk.help().into());
                }
                continue;
            }
            if let Some(sdk) = &need.missing_sdk {
                let install = Command::new("install");
                let is_named = crate::project::sdks::is_linked(&project, &need.package.name);
                let first = if is_named { "" } else { "name it among the project's dependencies, and " };
                let problem = format!("{place}: the SDK '{sdk}' is imported and not installed: {first}run ");
                findings.problems.push(message![problem, install]);
                continue;
            }
            match maloko_plugins::find_plugin(&settings, &need.package) {
                Ok(plugin) => findings.notes.push(format!("{place}: the package '{shown}' is served by {plugin}")),
                Err(missing) => {
                    findings.problems.push(format!("{place}: the package '{shown}' is used: {missing}").into());
                }
            }
        }
    }
    report(context, arguments, &findings);
    if findings.problems.is_empty() { Ok(()) } else { Err(Failure::silent(code::FAILURE)) }
}

/// Where the providers of Terraform are that the project lists.
fn terraform_providers(project: &Project, settings: &PluginSettings) -> Vec<String> {
    let listed = project.packages.iter().filter(|package| package.plugin == terraform::PLUGIN);
    let note = |package: &ListedPackage| {
        let provider = TerraformProvider::of_arguments(&package.parameters).ok().flatten()?;
        let place = match terraform::find_cached(settings, &provider) {
            Some(cached) => format!("{} is in {}", cached.provider.version, cached.folder.display()),
            None => "the plugin downloads it when it is first needed".to_owned(),
        };
        Some(format!("{}: of {}, {place}", project.place(&["packages", &package.name]), provider.shown()))
    };
    listed.filter_map(note).collect()
}

/// Stacks and their settings files, by name.
fn settings_files(project: &Project) -> Vec<(String, PathBuf)> {
    let entries =
        std::fs::read_dir(&project.settings_directory).into_iter().flatten().filter_map(std::result::Result::ok);
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let stack = name
                .strip_prefix("Pulumi.")?
                .strip_suffix(".yaml")
                .or_else(|| name.strip_prefix("Pulumi.")?.strip_suffix(".yml"))?;
            Some((stack.to_owned(), entry.path()))
        })
        .collect();
    files.sort();
    files
}

fn check_settings(findings: &mut Findings, project: &Project, stack: &str, file: &Path) {
    let what = format!("the configuration of stack '{stack}'");
    if let Some(settings) = findings.take(what.clone(), Settings::read(file, &project.name)) {
        // Types are judged without the passphrase: encrypted values have none until they are used.
        let checked = resolve(project, &settings, stack, &|_| Ok(String::new()), true);
        findings.problems.extend(checked.err().map(|failure| failure.message));
    }
}

/// Gives the packages whose plugins the stacks need.
async fn check_state(findings: &mut Findings, context: &Context) -> Vec<Need> {
    let mut needs = Vec::new();
    let Some(workplace) = findings.take("the backend", Workplace::open(context)) else { return needs };
    let listed = workplace.backend.list().await.map_err(Failure::from);
    let stacks = findings.take(format!("the stacks in {}", workplace.backend.url()), listed).unwrap_or_default();
    // A stack that never had its key there is opened by what the environment has when it is needed.
    if workplace.key_file_was_here() {
        let refusal = workplace.refuse_second_key(None).await;
        findings.problems.extend(refusal.err().map(|failure| failure.message));
    }
    for stack in stacks.iter().filter(|stack| stack.project() == workplace.project.name) {
        let read = workplace.read(stack).await;
        if let Some(snapshot) = findings.take(format!("the state of stack '{}'", workplace.shown(stack)), read) {
            needs.extend(needed::of_state(&snapshot, &format!("the state of stack '{}'", workplace.shown(stack))));
            for unresolved in snapshot.all_unresolved_creates() {
                findings.notes.push(format!("{} is unresolved: {}", unresolved.urn(), unresolved.summary()));
            }
            for pending in snapshot.pending.iter().filter(|pending| pending.kind != PendingKind::Creating) {
                findings.notes.push(format!("{} was interrupted while {}", pending.resource.urn, pending.kind.name()));
            }
            check_keys(findings, &workplace, stack, &snapshot);
        }
    }
    needs
}

/// Can the keys of the stack's secrets be had, and do they open what they should? Settings and state have the same one, unless somebody has
/// written another one into the settings.
fn check_keys(findings: &mut Findings, workplace: &Workplace<'_>, stack: &StackName, snapshot: &Snapshot) {
    // What is wrong with the file is told where it is looked at.
    let Ok(settings) = workplace.settings(stack) else { return };
    let of_state = snapshot.key_record().ok().flatten();
    let of_settings = match settings.key() {
        Ok(NamedKey::Record(record)) => Some(record),
        Ok(NamedKey::Url(_)) if settings.has_secrets() && of_state.as_ref().is_none_or(|key| key.salt().is_some()) => {
            findings.problems.push(settings.without_its_key().message);
            None
        }
        Ok(NamedKey::Url(_) | NamedKey::Nothing) => None,
        Err(failure) => {
            findings.problems.push(failure.message);
            None
        }
    };
    let named = of_settings.clone().or_else(|| of_state.clone());
    let other = of_state.filter(|record| !of_settings.as_ref().is_some_and(|known| known.is_same_key(record)));
    for record in of_settings.into_iter().chain(other) {
        let of_values = named.as_ref().filter(|named| named.is_same_key(&record)).map(|_| &settings);
        check_key(findings, workplace, stack, record, of_values);
    }
}

/// `values`: the settings whose secrets it has to open.
fn check_key(
    findings: &mut Findings,
    workplace: &Workplace<'_>,
    stack: &StackName,
    record: KeyRecord,
    values: Option<&Settings>,
) {
    let shown = workplace.shown(stack);
    if record.salt().is_some() && !workplace.knows_passphrase(stack) {
        findings
            .notes
            .push(format!("the passphrase of stack '{shown}' is not known here, so its key was not looked at"));
        return;
    }
    let what = format!("the key of stack '{shown}' ({})", record.shown());
    let opened = workplace.crypter_of_record(stack, record).and_then(|crypter| {
        crypter.verify()?;
        Ok(crypter)
    });
    let crypter = findings.take(what, opened.map_err(|failure| failure.of_stack(&shown)));
    if let (Some(crypter), Some(settings)) = (crypter, values) {
        findings.problems.extend(settings.check_opened_by(&crypter).err().map(|failure| failure.message));
    }
}

fn report(context: &Context, arguments: &CheckArguments, findings: &Findings) {
    if arguments.format.json() {
        context.console.line(&pretty(&json!({
            "checked": findings.looked_at,
            "problems": findings.problems,
            "notes": findings.notes,
        })));
        return;
    }
    for what in &findings.looked_at {
        context.console.line(&format!("checked {what}"));
    }
    for note in &findings.notes {
        context.console.line(&format!("note: {note}"));
    }
    for problem in &findings.problems {
        context.console.note(format!("problem: {problem}"));
    }
    context.console.line(&format!("{} found", count(findings.problems.len(), "problem")));
}
