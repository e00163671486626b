//! The configuration of a run: the stack's values over the project's defaults, checked against what the project
//! declares (docs/rules 11).

use std::collections::BTreeMap;

use maloko_core::config_value::ConfigValue;
use maloko_core::message;
use maloko_core::message::Command;

use super::Settings;
use super::value::{Decrypt, has_secret, is_secure, to_text};
use crate::failure::{Failure, Result};
use crate::project::{Declaration, Kind, Project};
use crate::yaml::describe;

/// The flat map that programs and providers get. Defaults of the project are used without being written down.
pub(crate) fn resolve(
    project: &Project,
    settings: &Settings,
    stack: &str,
    decrypt: Decrypt<'_>,
    validate: bool,
) -> Result<BTreeMap<String, ConfigValue>> {
    settings.refuse_environments()?;
    let mut config = BTreeMap::new();
    for (written, key, value) in settings.entries() {
        let text = to_text(value, decrypt).map_err(|failure| Failure {
            message: format!("{}: `{written}`: {}", settings.place(&["config", written]), failure.message).into(),
            ..failure
        })?;
        config.insert(key, ConfigValue { value: text, secret: has_secret(value) });
    }
    let mut missing = Vec::new();
    for declaration in &project.declarations {
        if let Some(value) = settings.get(&declaration.key) {
            if validate {
                check(declaration, value, settings)?;
            }
        } else if let Some(default) = &declaration.default {
            let value = ConfigValue { value: to_text(default, decrypt)?, secret: declaration.secret };
            config.insert(declaration.key.clone(), value);
        } else if declaration.is_required() {
            missing.push(declaration);
        }
    }
    if validate && !missing.is_empty() {
        return Err(missing_values(project, stack, &missing));
    }
    Ok(config)
}

fn check(declaration: &Declaration, value: &serde_norway::Value, settings: &Settings) -> Result<()> {
    let written = settings.entries().find_map(|(written, key, _)| (key == declaration.key).then(|| written.to_owned()));
    let place = settings.place(&["config", written.as_deref().unwrap_or(&declaration.key)]);
    let name = &declaration.written_key;
    if declaration.secret && !has_secret(value) {
        return Err(Failure::configuration(message![
            format!(
                "{place}: the project declares '{name}' to be secret, but its value is in plain text; set it again \
                 with "
            ),
            Command::new("config set").value(name).with("--secret")
        ]));
    }
    // What is encrypted as a whole can only be judged when it is used.
    if let Some(kind) = &declaration.kind
        && !is_secure(value)
        && !kind.admits(value, false)
    {
        return Err(Failure::configuration(format!(
            "{place}: the value of '{name}' must be of type {}; it is {}",
            kind.name(),
            describe(value)
        )));
    }
    Ok(())
}

fn missing_values(project: &Project, stack: &str, missing: &[&Declaration]) -> Failure {
    let mut lines = vec![format!("stack '{stack}' has no value for what {} declares:", project.file.display())];
    for declaration in missing {
        let kind = declaration.kind.as_ref().map(Kind::name).unwrap_or_default();
        let description = match declaration.description.as_str() {
            "" => String::new(),
            description => format!(": {description}"),
        };
        lines.push(format!("  {} ({kind}){description}", declaration.written_key));
    }
    let advice = Command::new("config set").with("KEY VALUE --stack").value(stack);
    Failure::configuration(message![lines.join("\n"), "\nset each with ", advice])
}
