//! What a plugin is asked that is not about a resource of its own: its configuration, components, methods and functions.

use std::collections::BTreeMap;

use maloko_core::PropertyMap;
use maloko_core::plugin::{PluginAnswer, PluginQuestion};
use maloko_core::urn::Urn;
use maloko_core::value::{UNKNOWN_TEXT, Value};
use maloko_core::wire::provider as wire;

use crate::answers::{Features, compact_json, properties_in};
use crate::provider::{CallResult, RunningPlugin, bad_return, diff_answer, failures};
use crate::secrecy::mark_like;

impl RunningPlugin {
    /// Asks something that is not about a resource of its own.
    pub(crate) async fn ask(&self, question: PluginQuestion) -> CallResult<PluginAnswer> {
        match question {
            PluginQuestion::CheckConfig { urn, olds, news } => self.check_config(&urn, &olds, news).await,
            PluginQuestion::DiffConfig { urn, olds, old_inputs, news, ignore_changes } => {
                let plain = |properties| Features { secrets: false, ..self.features() }.whole(properties);
                let asked = wire::DiffRequest {
                    id: String::new(),
                    olds: Some(plain(&olds)?),
                    news: Some(plain(&news)?),
                    ignore_changes,
                    old_inputs: Some(plain(&old_inputs)?),
                    name: urn.name().to_owned(),
                    r#type: urn.own_type().to_owned(),
                    urn: urn.to_string(),
                };
                let answer = self.rpc_if_known("DiffConfig", &asked).await?;
                Ok(PluginAnswer::Diffed(answer.map(diff_answer).unwrap_or_default()))
            }
            PluginQuestion::Configure { urn, id, inputs } => {
                self.configure(&urn, id, &inputs).await.map(|()| PluginAnswer::Configured)
            }
            PluginQuestion::Extend(parameter) => self.extend(parameter).await,
            PluginQuestion::Construct { request, inputs } => self.construct(*request, &inputs).await,
            PluginQuestion::Call { request, arguments } => self.call_method(*request, &arguments).await,
            PluginQuestion::Invoke { token, arguments, preview } => {
                let asked = wire::InvokeRequest { tok: token, args: Some(self.features().whole(&arguments)?), preview };
                let answer: wire::InvokeResponse = self.rpc("Invoke", &asked, false).await?;
                let mut result = properties_in(answer.r#return, preview).map_err(bad_return("the function"))?;
                if !self.features().secrets && arguments.values().any(Value::contains_secret) {
                    for value in result.values_mut().filter(|value| !value.is_secret()) {
                        *value = Value::secret(std::mem::replace(value, Value::Null));
                    }
                }
                Ok(PluginAnswer::Returned { result, failures: failures(answer.failures) })
            }
        }
    }

    async fn check_config(&self, urn: &Urn, olds: &PropertyMap, news: PropertyMap) -> CallResult<PluginAnswer> {
        // Whatever a plugin understands: it is told its configuration in plain.
        let plain = |properties: &PropertyMap| Features { secrets: false, ..self.features() }.whole(properties);
        let asked = wire::CheckRequest {
            olds: Some(plain(olds)?),
            news: Some(plain(&news)?),
            random_seed: Vec::new(),
            name: urn.name().to_owned(),
            r#type: urn.own_type().to_owned(),
            urn: urn.to_string(),
            autonaming: None,
            old_outputs: None,
        };
        let Some(answer) = self.rpc_if_known::<_, wire::CheckResponse>("CheckConfig", &asked).await? else {
            return Ok(PluginAnswer::Checked { inputs: news, failures: Vec::new() });
        };
        let mut inputs = properties_in(answer.inputs, true).map_err(bad_return("checkConfig"))?;
        mark_like(&news, &mut inputs);
        Ok(PluginAnswer::Checked { inputs, failures: failures(answer.failures) })
    }

    async fn configure(&self, urn: &Urn, id: Option<String>, inputs: &PropertyMap) -> CallResult<()> {
        let package = urn.provider_package().unwrap_or(&self.package);
        let asked = wire::ConfigureRequest {
            variables: variables(package, inputs),
            args: Some(Features { secrets: true, resources: true, ..self.features() }.whole(inputs)?),
            accept_secrets: true,
            accept_resources: true,
            sends_old_inputs: true,
            sends_old_inputs_to_delete: true,
            id: Some(id.unwrap_or_else(|| UNKNOWN_TEXT.to_owned())),
            urn: Some(urn.to_string()),
            name: Some(urn.name().to_owned()),
            r#type: Some(urn.own_type().to_owned()),
        };
        let answer: wire::ConfigureResponse = self.rpc("Configure", &asked, false).await?;
        self.learn_features(Features {
            secrets: answer.accept_secrets,
            resources: answer.accept_resources,
            preview: answer.supports_preview,
            autonaming: answer.supports_autonaming_configuration,
            outputs: answer.accept_outputs,
            bytes: false,
        });
        Ok(())
    }
}

/// The configuration in its old form: texts by `package:config:key`.
fn variables(package: &str, inputs: &PropertyMap) -> BTreeMap<String, String> {
    let kept = inputs.iter().filter(|(key, value)| *key != "version" && !value.contains_unknown());
    kept.filter_map(|(key, value)| {
        let text = match value.plain() {
            Value::Null | Value::Bytes(_) => return None,
            Value::String(text) => text,
            other => compact_json(&other)?.to_string(),
        };
        Some((format!("{package}:config:{key}"), text))
    })
    .collect()
}
