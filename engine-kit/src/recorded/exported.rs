//! Inputs of resources that really exist, for laws and lifecycles of their provider.

use std::path::Path;

use maloko_core::redaction::SECRET_TEXT;
use serde_json::{Map, Value as Json};

use super::{is_secret, read, signature};

/// The inputs of the custom resources of an exported stack, each once: those of a type and with one of these names, where that
/// is said. A secret becomes the text `[secret]`, so that nothing has to be decrypted.
pub(crate) fn inputs(file: &Path, of_type: Option<&str>, names: Option<&[String]>) -> Result<Json, String> {
    let place = file.display();
    let unreadable = |why: &str| {
        format!(
            "{place} cannot be read as an exported stack ({why}); write one with `maloko stack export --file {place}`"
        )
    };
    let state = read(file).map_err(|why| unreadable(&why))?;
    let deployment = state["deployment"].as_object().ok_or_else(|| unreadable("it has no `deployment`"))?;
    let mut found: Vec<Json> = Vec::new();
    for resource in deployment.get("resources").and_then(Json::as_array).into_iter().flatten() {
        let kind = resource["type"].as_str().unwrap_or("");
        let name = resource["urn"].as_str().and_then(|urn| urn.rsplit("::").next()).unwrap_or("");
        let is_meant = of_type.is_none_or(|wanted| wanted == kind)
            && names.is_none_or(|names| names.iter().any(|wanted| wanted == name));
        if resource["custom"] != true || kind.starts_with("pulumi:providers:") || !is_meant {
            continue;
        }
        let members = resource["inputs"].as_object().into_iter().flatten().filter(|(key, _)| !key.starts_with("__"));
        let inputs = members.map(|(key, value)| Ok((key.clone(), plain(value, &format!("{name}.{key}"))?)));
        let inputs: Json = inputs.collect::<Result<Map<_, _>, String>>()?.into();
        if !found.contains(&inputs) {
            found.push(inputs);
        }
    }
    if found.is_empty() {
        let of_that_type = of_type.map_or_else(String::new, |kind| format!(" of type {kind}"));
        let with_names = names.map_or_else(String::new, |names| format!(" named {}", names.join(" or ")));
        return Err(format!("{place} has no custom resource{of_that_type}{with_names}"));
    }
    Ok(found.into())
}

fn plain(value: &Json, place: &str) -> Result<Json, String> {
    Ok(match value {
        Json::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| plain(item, &format!("{place}[{index}]"))).collect::<Result<Vec<_>, _>>()?.into()
        }
        secret if is_secret(secret) => SECRET_TEXT.into(),
        special if signature(special).is_some() => {
            return Err(format!(
                "{place} is an asset, an archive or a reference, of which an export has no content; leave its resource out: name \
                 the type or the resources that are meant"
            ));
        }
        Json::Object(members) => {
            let members = members.iter().map(|(key, item)| Ok((key.clone(), plain(item, &format!("{place}.{key}"))?)));
            members.collect::<Result<Map<_, _>, String>>()?.into()
        }
        other => other.clone(),
    })
}
