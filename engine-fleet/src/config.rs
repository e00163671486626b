//! `config` of an entry: the configuration of its stacks.

use serde_json::{Map, Value as Json, json};

use crate::document::{Field, Value};
use crate::fault::Result;
use crate::template::Template;

/// A member that says that a value is kept elsewhere.
const SECRET_FROM: &str = "secretFrom";

/// A value that is the same for all stacks of an entry but for the columns in it.
pub(crate) enum ConfigValue {
    /// A text.
    Text(Template),
    /// A list or mapping, which programs get as JSON; its texts are templates.
    Structure(Json),
    /// A secret that workers take from `env` or `file`.
    Secret { from: &'static str, template: Template },
}

/// The values of `config`, by key.
pub(crate) fn read<'a>(field: &Field<'a>) -> Result<Vec<(&'a str, Field<'a>, ConfigValue)>> {
    field.members()?.map(|(key, value)| Ok((key, value.clone(), read_value(&value)?))).collect()
}

fn template(field: &Field<'_>) -> Result<Template> {
    Template::parse(field.text()?).map_err(|what| field.fault(what))
}

fn read_value(field: &Field<'_>) -> Result<ConfigValue> {
    match &field.node().value {
        Value::Nothing => Err(field.fault("it has no value; write one, or \"\" for an empty text")),
        Value::Mapping(entries) if entries.iter().any(|entry| entry.name == SECRET_FROM) => {
            field.knows(&[SECRET_FROM])?;
            secret(&field.required(SECRET_FROM, "secretFrom: env API_TOKEN")?)
        }
        Value::Mapping(entries) if matches!(&entries[..], [entry] if entry.node.value == Value::Nothing) => {
            let name = &entries[0].name;
            Err(field.fault(format!("`{{{name}}}` without quotes is a mapping; write \"{{{name}}}\" for the column")))
        }
        Value::List(_) | Value::Mapping(_) => {
            let mut wrong = None;
            let structure = field.node().to_json(&mut |text| {
                wrong = wrong.take().or_else(|| Template::parse(text).err());
                text.into()
            });
            wrong.map_or(Ok(ConfigValue::Structure(structure)), |what| Err(field.fault(what)))
        }
        _ => template(field).map(ConfigValue::Text),
    }
}

/// `env NAME`, `file PATH`, or a mapping with one of the two.
fn secret(field: &Field<'_>) -> Result<ConfigValue> {
    let unknown = || field.fault("a secret is taken from `env NAME` or `file PATH`");
    if let Value::Text(text) = &field.node().value {
        let (from, rest) = text.trim().split_once(char::is_whitespace).ok_or_else(unknown)?;
        let from = ["env", "file"].into_iter().find(|known| *known == from).ok_or_else(unknown)?;
        let template = Template::parse(rest.trim()).map_err(|what| field.fault(what))?;
        return Ok(ConfigValue::Secret { from, template });
    }
    field.knows(&["env", "file"])?;
    match (field.member("env")?, field.member("file")?) {
        (Some(name), None) => Ok(ConfigValue::Secret { from: "env", template: template(&name)? }),
        (None, Some(path)) => Ok(ConfigValue::Secret { from: "file", template: template(&path)? }),
        _ => Err(unknown()),
    }
}

impl ConfigValue {
    /// The value of one stack; the error is the first column that its row has not.
    pub(crate) fn render<'a>(&self, value: impl Fn(&str) -> Option<&'a str> + Copy) -> Result<Json, String> {
        match self {
            Self::Text(template) => template.render(value).map(Json::String).map_err(str::to_owned),
            Self::Secret { from, template } => {
                let rendered = template.render(value).map_err(str::to_owned)?;
                Ok(json!({ SECRET_FROM: { *from: rendered } }))
            }
            Self::Structure(structure) => Ok(Json::String(rendered(structure, value)?.to_string())),
        }
    }
}

fn rendered<'a>(json: &Json, value: impl Fn(&str) -> Option<&'a str> + Copy) -> Result<Json, String> {
    match json {
        Json::String(text) => Template::parse(text)?.render(value).map(Json::String).map_err(str::to_owned),
        Json::Array(items) => items.iter().map(|item| rendered(item, value)).collect(),
        Json::Object(members) => {
            let members = members.iter().map(|(name, item)| Ok((name.clone(), rendered(item, value)?)));
            members.collect::<Result<Map<_, _>, String>>().map(Json::Object)
        }
        other => Ok(other.clone()),
    }
}
