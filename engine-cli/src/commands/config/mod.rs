//! `config`: show and edit a stack's configuration.

pub(super) mod copy;
mod from_history;

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Crypter, StackName};

use super::elsewhere::refuse;
use super::{pretty, table, text};
use crate::arguments::{ConfigArguments, ConfigCommand, ConfigGet, ConfigSet, ConfigSetAll, ScalarType};
use crate::config_key;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::plain::HIDDEN;
use crate::settings::path::{self, locate, split_assignment};
use crate::settings::{Settings, turn, value};
use crate::terminal::prompt;
use crate::workplace::Workplace;

/// Runs `config`.
pub(crate) async fn run(context: &Context, arguments: ConfigArguments) -> Result<()> {
    let json = arguments.json();
    let _turn = match &arguments.command {
        Some(
            ConfigCommand::Set(_)
            | ConfigCommand::SetAll(_)
            | ConfigCommand::Rm(_)
            | ConfigCommand::RmAll(_)
            | ConfigCommand::Copy(_)
            | ConfigCommand::Refresh { .. },
        ) => turn::take(&context.project()?).await,
        None | Some(ConfigCommand::Ls { .. } | ConfigCommand::Get(_) | ConfigCommand::Elsewhere(_)) => None,
    };
    match &arguments.command {
        None => list(context, json, arguments.show_secrets).await,
        Some(ConfigCommand::Ls { show_secrets, .. }) => {
            list(context, json, *show_secrets || arguments.show_secrets).await
        }
        Some(ConfigCommand::Get(arguments)) => get(context, arguments, json).await,
        Some(ConfigCommand::Set(arguments)) => set(context, arguments).await,
        Some(ConfigCommand::SetAll(arguments)) => set_all(context, arguments).await,
        Some(ConfigCommand::Rm(arguments)) => remove(context, &[&arguments.key], arguments.path, true).await,
        Some(ConfigCommand::Copy(arguments)) => copy::run(context, arguments).await,
        Some(ConfigCommand::Refresh { force }) => from_history::run(context, *force).await,
        Some(ConfigCommand::Elsewhere(command)) => Err(refuse("config ", command.reason())),
        Some(ConfigCommand::RmAll(arguments)) => remove(context, &arguments.keys, arguments.path, false).await,
    }
}

/// The settings of an existing stack.
async fn open(context: &Context) -> Result<(Workplace<'_>, StackName, Settings)> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.stack_to_begin_with().await?;
    workplace.require(&stack).await?;
    let mut settings = workplace.settings(&stack)?;
    workplace.finish_change_of_secrets_provider(&stack, &mut settings).await?;
    Ok((workplace, stack, settings))
}

async fn list(context: &Context, as_json: bool, show_secrets: bool) -> Result<()> {
    let (workplace, stack, mut settings) = open(context).await?;
    settings.refuse_environments()?;
    let crypter = if show_secrets && settings.has_secrets() {
        Some(workplace.crypter(&stack, &mut settings).await?)
    } else {
        None
    };
    let decrypt = |ciphertext: &str| match &crypter {
        Some(crypter) => decrypted(crypter, ciphertext),
        None => Ok(HIDDEN.to_owned()),
    };
    let mut entries: Vec<_> = settings.entries().map(|(_, key, value)| (key, value)).collect();
    entries.sort_by(|(left, _), (right, _)| left.cmp(right));
    if as_json {
        let mut shown = serde_json::Map::new();
        for (key, value) in entries {
            shown.insert(key, entry_json(value, show_secrets, &decrypt)?);
        }
        context.console.line(&pretty(&serde_json::Value::Object(shown)));
        return Ok(());
    }
    let mut table = table(&["KEY", "VALUE"]);
    for (full, value) in entries {
        let short = config_key::short_key(&workplace.project.name, &full).to_owned();
        table.add_row([short, value::to_text(value, &decrypt)?]);
    }
    context.console.print(&text(&table));
    Ok(())
}

fn decrypted(crypter: &Crypter, ciphertext: &str) -> Result<String> {
    Ok(crypter.decrypt(ciphertext)?.to_string())
}

/// `{value?, objectValue?, secret}`; the value of a secret only when it is to be shown.
fn entry_json(
    value: &serde_norway::Value,
    show_secrets: bool,
    decrypt: value::Decrypt<'_>,
) -> Result<serde_json::Value> {
    let secret = value::has_secret(value);
    let mut entry = serde_json::Map::new();
    if show_secrets || !secret {
        entry.insert("value".to_owned(), value::to_text(value, decrypt)?.into());
        if value::is_structured(value) {
            entry.insert("objectValue".to_owned(), value::to_json(value, decrypt)?);
        }
    }
    entry.insert("secret".to_owned(), secret.into());
    Ok(serde_json::Value::Object(entry))
}

async fn get(context: &Context, arguments: &ConfigGet, as_json: bool) -> Result<()> {
    let (workplace, stack, mut settings) = open(context).await?;
    settings.refuse_environments()?;
    let (key, path) = locate(&workplace.project.name, &arguments.key, arguments.path)?;
    let Some(found) = settings.get(&key).and_then(|whole| path::get(whole, &path)).cloned() else {
        return Err(Failure::new(message![
            format!(
                "configuration key '{}' not found for stack '{}' ({}); set it with ",
                arguments.key,
                workplace.shown(&stack),
                settings.file().display()
            ),
            Command::new("config set").value(&arguments.key).with("VALUE")
        ]));
    };
    let crypter = if value::has_secret(&found) { Some(workplace.crypter(&stack, &mut settings).await?) } else { None };
    let decrypt = |ciphertext: &str| match &crypter {
        Some(crypter) => decrypted(crypter, ciphertext),
        None => Ok(HIDDEN.to_owned()),
    };
    let shown = if as_json { pretty(&entry_json(&found, true, &decrypt)?) } else { value::to_text(&found, &decrypt)? };
    context.console.data(&format!("{shown}\n"));
    Ok(())
}

async fn set(context: &Context, arguments: &ConfigSet) -> Result<()> {
    let (workplace, stack, mut settings) = open(context).await?;
    let (key, path) = locate(&workplace.project.name, &arguments.key, arguments.path)?;
    let given = match &arguments.value {
        Some(given) => given.clone(),
        None => ask_for_value(context, arguments)?,
    };
    let new = if arguments.secret {
        if arguments.kind.is_some() {
            return Err(Failure::configuration("a secret is always a string; remove --type"));
        }
        secret(&workplace, &stack, &mut settings, &given).await?
    } else {
        let was_secret = settings.is_secret(&key, &path);
        if !arguments.plaintext && (was_secret || looks_like_secret(&key, &given)) {
            let finding = if was_secret { "has been" } else { "looks like" };
            return Err(Failure::configuration(format!(
                "the value of '{}' {finding} a secret; add --secret to encrypt it, or --plaintext to keep it readable",
                arguments.key
            )));
        }
        let kind = if arguments.raw { Some(ScalarType::String) } else { arguments.kind };
        value::from_text(&given, kind, !path.is_empty()).map_err(Failure::configuration)?
    };
    settings.set(&key, &path, new)?;
    workplace.save_settings(&settings)
}

fn ask_for_value(context: &Context, arguments: &ConfigSet) -> Result<String> {
    if let Some(text) = prompt::piped_text(&context.console)? {
        if arguments.raw {
            return Ok(text);
        }
        let text = text.strip_suffix('\n').unwrap_or(&text);
        return Ok(text.strip_suffix('\r').unwrap_or(text).to_owned());
    }
    if !context.console.interactive {
        return Err(Failure::configuration(message![
            "give the value: ",
            Command::new("config set").value(&arguments.key).with("VALUE")
        ]));
    }
    let question = format!("Value of '{}'", arguments.key);
    if arguments.secret { prompt::secret(&question) } else { prompt::text(&question, None) }
}

/// A guard against secrets in plain text: a telling name, and a value that nobody would choose to type.
fn looks_like_secret(key: &str, text: &str) -> bool {
    let name = key.to_ascii_lowercase();
    let telling = ["password", "passwd", "passphrase", "secret", "token", "apikey", "api_key"];
    telling.iter().any(|word| name.contains(word))
        && text.len() >= 12
        && !text.contains(char::is_whitespace)
        && text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// A secret as it stands among the settings, which then name the key that it takes to read it, also where the state alone
/// did.
pub(crate) async fn secret(
    workplace: &Workplace<'_>,
    stack: &StackName,
    settings: &mut Settings,
    text: &str,
) -> Result<serde_norway::Value> {
    let crypter = workplace.crypter(stack, settings).await?;
    settings.check_opened_by(&crypter)?;
    settings.complete_key(crypter.record())?;
    Ok(value::secure(crypter.encrypt(text)?.to_string()))
}

async fn set_all(context: &Context, arguments: &ConfigSetAll) -> Result<()> {
    if let Some(text) = &arguments.json {
        return set_all_shown(context, text).await;
    }
    let (workplace, stack, mut settings) = open(context).await?;
    let project = workplace.project.name.clone();
    for assignment in &arguments.plaintext {
        let (key, text) = split_assignment(assignment)?;
        let (key, path) = locate(&project, key, arguments.path)?;
        settings.set(&key, &path, value::from_text(text, None, !path.is_empty()).map_err(Failure::configuration)?)?;
    }
    for assignment in &arguments.secret {
        let (key, text) = split_assignment(assignment)?;
        let (key, path) = locate(&project, key, arguments.path)?;
        let value = secret(&workplace, &stack, &mut settings, text).await?;
        settings.set(&key, &path, value)?;
    }
    workplace.save_settings(&settings)
}

/// Removes values. As in Pulumi, one that is not there is an error only where it alone was to go.
async fn remove(context: &Context, keys: &[impl AsRef<str>], are_paths: bool, must_exist: bool) -> Result<()> {
    let (workplace, stack, mut settings) = open(context).await?;
    for key in keys.iter().map(AsRef::as_ref) {
        let (full, path) = locate(&workplace.project.name, key, are_paths)?;
        if !settings.remove(&full, &path)? && must_exist {
            return Err(Failure::new(format!(
                "configuration key '{key}' not found for stack '{}' ({})",
                workplace.shown(&stack),
                settings.file().display()
            )));
        }
    }
    workplace.save_settings(&settings)
}

/// A value as `config --json` shows it.
#[derive(serde::Deserialize)]
struct ShownValue {
    value: Option<String>,
    #[serde(default)]
    secret: bool,
    #[serde(rename = "objectValue")]
    object: Option<serde_json::Value>,
}

/// Sets all values of a text that `config --json` wrote.
async fn set_all_shown(context: &Context, text: &str) -> Result<()> {
    let shown: std::collections::BTreeMap<String, ShownValue> = serde_json::from_str(text).map_err(|error| {
        // Not the error itself: it quotes what it met, which may be a secret.
        Failure::configuration(format!(
            "--json: the text is not what `config --json --show-secrets` writes (line {}, column {}); it has the form \
             {{\"KEY\": {{\"value\": \"...\", \"secret\": true}}}}",
            error.line(),
            error.column()
        ))
    })?;
    let (workplace, stack, mut settings) = open(context).await?;
    for (key, ShownValue { value, secret: is_secret, object }) in shown {
        let (full, path) = locate(&workplace.project.name, &key, false)?;
        let set = match (object, value) {
            (Some(object), _) if is_secret => encrypted(&workplace, &stack, &mut settings, object).await?,
            (Some(object), _) => yaml_of(object)?,
            (None, Some(text)) if is_secret => secret(&workplace, &stack, &mut settings, &text).await?,
            (None, Some(text)) => value::from_text(&text, None, false).map_err(Failure::configuration)?,
            (None, None) => {
                let message = "has no value; give what `config --json --show-secrets` wrote";
                return Err(Failure::configuration(format!("--json: '{key}' {message}")));
            }
        };
        settings.set(&full, &path, set)?;
    }
    workplace.save_settings(&settings)
}

/// An object that has a secret member; which one is not known any more. Each text in it is encrypted, and its shape stays.
async fn encrypted(
    workplace: &Workplace<'_>,
    stack: &StackName,
    settings: &mut Settings,
    object: serde_json::Value,
) -> Result<serde_norway::Value> {
    Ok(match object {
        serde_json::Value::String(text) => secret(workplace, stack, settings, &text).await?,
        serde_json::Value::Array(items) => {
            let mut list = Vec::with_capacity(items.len());
            for item in items {
                list.push(Box::pin(encrypted(workplace, stack, settings, item)).await?);
            }
            serde_norway::Value::Sequence(list)
        }
        serde_json::Value::Object(members) => {
            let mut mapping = serde_norway::Mapping::new();
            for (name, member) in members {
                mapping.insert(name.into(), Box::pin(encrypted(workplace, stack, settings, member)).await?);
            }
            serde_norway::Value::Mapping(mapping)
        }
        plain => yaml_of(plain)?,
    })
}

fn yaml_of(value: serde_json::Value) -> Result<serde_norway::Value> {
    serde_norway::to_value(value).map_err(|error| Failure::configuration(error.to_string()))
}
