//! `about` and `version`.

use maloko_core::builtin::PULUMI_VERSION;
use maloko_plugins::languages;
use maloko_plugins::terraform::cached_providers;
use maloko_stores::postgres::{has_password, without_password};
use serde_json::json;

use super::plugin::needed::{self, Need};
use super::{pretty, table, text};
use crate::context::Context;
use crate::failure::Result;
use crate::operation::{self, program};
use crate::plain::HIDDEN;
use crate::project::Project;
use crate::workplace::Workplace;

/// The version of this package.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs `version`. Tools that call `pulumi` go by the version whose behaviour they get.
pub(crate) fn version(context: &Context) {
    if context.is_shim() {
        context.console.line(&format!("v{PULUMI_VERSION}"));
        return;
    }
    context.console.line(&format!("v{VERSION}"));
}

/// Variables of the environment that have an effect: name, meaning, and whether the value is a secret.
const VARIABLES: [(&str, &str, bool); 28] = [
    ("GITHUB_TOKEN", "downloads plugins from private repositories", true),
    ("GITLAB_TOKEN", "downloads plugins from private repositories", true),
    ("MALOKO_ATTEMPT", "which attempt at a piece of work a command is: RUN:NUMBER", false),
    ("MALOKO_BACKEND_URL", "where state is kept; comes before PULUMI_BACKEND_URL", false),
    ("MALOKO_CANCEL_SECONDS", "how long a run waits after Ctrl-C", false),
    ("MALOKO_GENERATIONS", "how many former states of a stack are kept", false),
    ("MALOKO_HISTORY_LIMIT", "how many entries of a stack's history are kept", false),
    ("MALOKO_HOME", "where `login` is recorded", false),
    ("MALOKO_LOCK_TIMEOUT", "as --lock-timeout", false),
    ("MALOKO_PASSPHRASE_<PROJECT>_<STACK>", "the passphrase of one stack's secrets", true),
    ("MALOKO_PASSPHRASE_FILE_<PROJECT>_<STACK>", "a file that holds it", false),
    ("MALOKO_PLUGIN_START_SECONDS", "how long a plugin may take to tell its port", false),
    ("MALOKO_SHOW_TRACEBACKS", "as --show-tracebacks", false),
    ("MALOKO_TERRAFORM_MIRROR", "where providers of Terraform are taken from: an address, or a folder", true),
    ("NO_COLOR", "as --color never", false),
    ("PULUMI_BACKEND_URL", "where state is kept", false),
    ("PULUMI_CLOUD_SECRET_OVERRIDE", "reaches the stack's key in another way", true),
    ("PULUMI_CONFIG_PASSPHRASE", "the passphrase of the stack's secrets", true),
    ("PULUMI_CONFIG_PASSPHRASE_FILE", "a file that holds it", false),
    ("PULUMI_CONTINUE_ON_ERROR", "as --continue-on-error", false),
    ("PULUMI_DEBUG_PROVIDERS", "plugins that run already: NAME:PORT", false),
    ("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "downloads no plugins", false),
    ("PULUMI_DYNAMIC_TF_PLUGIN_CACHE_DIR", "where providers of Terraform are kept", false),
    ("PULUMI_HOME", "where plugins are", false),
    ("PULUMI_IGNORE_AMBIENT_PLUGINS", "takes no plugins from PATH", false),
    ("PULUMI_PARALLEL", "as --parallel", false),
    ("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES", "where plugins are downloaded from", true),
    ("PULUMI_STACK", "as --stack", false),
];

/// Runs `about env`.
pub(crate) fn env(context: &Context) {
    let mut shown = table(&["VARIABLE", "MEANING", "VALUE"]);
    for (name, meaning, is_secret) in VARIABLES {
        let value = context.text_variable(name).filter(|value| !value.is_empty()).unwrap_or_default();
        // An address may hold a password, or a token.
        let value = if is_secret && !value.is_empty() {
            HIDDEN.into()
        } else if has_password(&value) {
            without_password(&value)
        } else {
            value.as_str().into()
        };
        shown.add_row([name, meaning, &value]);
    }
    context.console.print(&text(&shown));
}

/// What runs the programs of a language that has a process of its own.
async fn runtime(context: &Context, project: &Project) -> String {
    let asked = match project.program() {
        Ok(spec) => {
            let settings = operation::plugins::settings(context, project);
            languages::about(program::foreign(project, &spec), settings).await
        }
        Err(failure) => Err(failure.message.to_string()),
    };
    let known = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    match asked {
        Ok(about) => {
            let (version, executable) = (known(&about.version), known(&about.executable));
            let host = format!("{} {}", about.host, about.host_version);
            format!("{}: {version} ({executable}); host: {}", project.runtime, host.trim_end())
        }
        Err(reason) => format!("{}: {reason}", project.runtime),
    }
}

/// Runs `about`. What is not there (a project, a stack) is left out and is no error.
pub(crate) async fn run(context: &Context, as_json: bool) -> Result<()> {
    let language_host = context.language_host.about();
    let workplace = Workplace::open(context);
    let mut facts: Vec<(&str, String)> = vec![
        ("version", VERSION.to_owned()),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        (
            context.language_host.language().name(),
            format!("{} ({})", language_host.language_version, language_host.executable),
        ),
        (
            "pulumi SDK",
            if language_host.sdk_version.is_empty() {
                "not installed".to_owned()
            } else {
                language_host.sdk_version.clone()
            },
        ),
    ];
    match &workplace {
        Ok(workplace) => {
            facts.push(("project", format!("{} ({})", workplace.project.name, workplace.project.file.display())));
            if !workplace.project.description.is_empty() {
                facts.push(("description", workplace.project.description.clone()));
            }
            if program::is_foreign(context, &workplace.project) {
                facts.push(("runtime", runtime(context, &workplace.project).await));
            }
            facts.push(("backend", format!("{} (from {})", workplace.backend.url(), workplace.place.origin.name())));
            if let Ok(Some(stack)) = workplace.named(None) {
                let read = workplace.read(&stack).await;
                let state = match &read {
                    Ok(snapshot) => crate::plain::count(snapshot.resources.len(), "resource"),
                    Err(failure) => failure.message.to_string(),
                };
                facts.push(("stack", format!("{} ({state})", workplace.shown(&stack))));
                let key = read.map(|snapshot| snapshot.shown_key()).unwrap_or_default();
                facts.extend((!key.is_empty()).then_some(("secrets provider", key)));
            }
        }
        Err(failure) => facts.push(("project", failure.message.to_string())),
    }
    let cached = cached_providers(&super::plugin::settings(context));
    let cached: Vec<String> =
        cached.iter().map(|it| format!("{} {}", it.provider.shown(), it.provider.version)).collect();
    facts.extend((!cached.is_empty()).then(|| ("Terraform providers", cached.join(", "))));
    let plugins = plugins(context).await;
    if as_json {
        let mut facts: serde_json::Map<_, _> =
            facts.into_iter().map(|(name, fact)| (name.to_owned(), json!(fact))).collect();
        let plugin = |(need, place): &(Need, Option<String>)| {
            let (name, version) = need.package.plugin();
            json!({ "name": name, "version": version.trim_start_matches('v'), "place": place })
        };
        facts.insert("plugins".to_owned(), plugins.iter().map(plugin).collect());
        context.console.line(&pretty(&serde_json::Value::Object(facts)));
    } else {
        let mut shown = table(&["", ""]);
        for (name, fact) in facts {
            shown.add_row([name.to_owned(), fact]);
        }
        for (number, (need, place)) in plugins.iter().enumerate() {
            let title = if number == 0 { "plugins" } else { "" };
            let place = place.as_deref().unwrap_or("not installed");
            shown.add_row([title.to_owned(), format!("{} ({place})", need.shown())]);
        }
        context.console.print(text(&shown).trim_start_matches('\n'));
    }
    Ok(())
}

/// The plugins that the project needs, and where they are. What cannot be read needs none.
async fn plugins(context: &Context) -> Vec<(Need, Option<String>)> {
    let Ok(project) = context.project() else { return Vec::new() };
    let settings = operation::plugins::settings(context, &project);
    let needs = needed::of_project(context, &project).await.unwrap_or_default();
    let place = |need: Need| {
        let place = maloko_plugins::find_plugin(&settings, &need.package).ok();
        (need, place)
    };
    needs.into_iter().map(place).collect()
}
