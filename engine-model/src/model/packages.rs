//! Resources of packages: with what their provider resources are configured, and what their plugins are called for (docs/rules
//! 1.4, 3.1).

use maloko_core::provider::{Answer, DiffAnswer, Method, PluginArguments, ProviderError, ProviderErrorKind};
use maloko_core::{PropertyMap, Value};

use crate::cloud::{self, Outcome};
use crate::plugins::{has_died, is_gone, label, shown_call};
use crate::program::Resource;
use crate::rules::Rule;
use crate::{show, urns};

use super::wanted_resource::WantedResource;
use super::{Halt, Model, NEW_ID, Record, UNKNOWN_ID};

/// What a plugin is configured with.
#[derive(Clone, Debug)]
pub(crate) enum Configuration {
    /// Something of it is not known yet, in a preview.
    Unknown,
    /// These inputs.
    Known(PropertyMap),
}

/// The member of a provider resource's inputs that is the engine's own.
const INTERNAL: &str = "__internal";

/// How the calls of provider resources are labelled: a plugin is asked about its own configuration.
const ITS_OWN: &str = "its own";

/// Inputs of a provider resource as its plugin is told them.
pub(crate) fn without_internal(inputs: &PropertyMap) -> PropertyMap {
    inputs.iter().filter(|(key, _)| *key != INTERNAL).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// What is kept of a version in a provider resource's inputs.
pub(crate) fn keep_version(resource: &Resource, inputs: &mut PropertyMap) {
    if let (true, Some(version)) = (resource.is_provider, &resource.version) {
        inputs.entry("version".to_owned()).or_insert_with(|| Value::from(version.as_str()));
        inputs.insert(INTERNAL.to_owned(), Value::Object(PropertyMap::new()));
    }
}

/// The default provider resource of a package.
pub(crate) fn default_provider(
    package: &str,
    version: Option<&String>,
    config: impl Iterator<Item = (String, String)>,
) -> Resource {
    let suffix = version.map_or_else(String::new, |version| format!("_{}", version.replace('.', "_")));
    Resource {
        name: format!("default{suffix}"),
        package: Some(package.to_owned()),
        is_provider: true,
        version: version.cloned(),
        inputs: config.map(|(key, text)| (key, text.into())).collect(),
        ..Resource::default()
    }
}

/// Is it a default provider? These have no parent, and programs name none like them.
pub(crate) fn is_default(resource: &Resource) -> bool {
    resource.is_provider && resource.name.starts_with("default")
}

/// What stands for the answer of a plugin whose configuration is not known yet.
fn unconfigured(method: &Method) -> Answer {
    match method {
        Method::Check { news, .. } => Answer::Checked { inputs: news.clone(), failures: Vec::new() },
        Method::Diff { .. } => Answer::Diffed(DiffAnswer { changes: Some(true), ..DiffAnswer::default() }),
        Method::Create { .. } => Answer::created("", PropertyMap::new()),
        Method::Update { .. } => Answer::Updated { outputs: PropertyMap::new(), read_first: false },
        Method::Read { id, .. } => {
            Answer::Read { id: id.clone(), outputs: Some(PropertyMap::new()), inputs: None, read_first: false }
        }
        _ => Answer::Deleted,
    }
}

impl Model<'_> {
    /// The id of the provider resource that was registered just now.
    pub(crate) fn id_of_provider(&self, urn: &str) -> String {
        let record = self.resources().find(|record| record.urn == urn && !record.delete && !record.pending);
        record.map(|record| record.id.clone()).filter(|id| !id.is_empty()).unwrap_or_else(|| UNKNOWN_ID.to_owned())
    }

    /// Does the plugin of a provider resource that is registered come up?
    pub(crate) fn start_provider(&mut self, resource: &Resource) -> Result<(), Halt> {
        if resource.is_provider && cloud::start(&self.providers, &resource.name).is_err() {
            self.counts.hit(Rule::ProviderNotStarted);
            return Err(Halt);
        }
        Ok(())
    }

    /// Takes note of what the plugin of a provider resource is configured with from now on.
    pub(crate) fn configure(&mut self, record: &Record, inputs: &PropertyMap) {
        let unknown = self.before.dry_run && inputs.values().any(Value::contains_unknown);
        let id = match (self.before.dry_run, record.id.is_empty()) {
            (true, true) => UNKNOWN_ID,
            (false, true) => NEW_ID,
            _ => &record.id,
        };
        let reference = format!("{}::{id}", record.urn);
        self.gone.remove(&reference);
        let known = Configuration::Known(without_internal(inputs));
        self.configurations.insert(reference, if unknown { Configuration::Unknown } else { known });
    }

    /// What the plugin of a provider resource is configured with: by this run, else by the resource that it began with.
    fn configuration(&self, reference: &str) -> Option<Configuration> {
        let of_resource = || {
            let record = self.resource_of_provider(reference)?;
            Some(Configuration::Known(without_internal(&record.inputs)))
        };
        self.configurations.get(reference).cloned().or_else(of_resource)
    }

    fn resource_of_provider(&self, reference: &str) -> Option<&Record> {
        let (urn, id) = reference.rsplit_once("::")?;
        self.before.resources.iter().find(|record| record.urn == urn && record.id == id)
    }

    /// Is there such a provider resource?
    pub(crate) fn has_provider(&self, reference: &str) -> bool {
        reference.is_empty() || self.configuration(reference).is_some()
    }

    /// The label of a plugin that can be called; `None` where its configuration is not known yet.
    pub(crate) fn ready(&self, reference: &str) -> Result<Option<String>, ProviderError> {
        let missing = || ProviderError::new(ProviderErrorKind::NoProvider, format!("there is no {reference}"));
        let Configuration::Known(inputs) = self.configuration(reference).ok_or_else(missing)? else { return Ok(None) };
        let name = reference.rsplit_once("::").map_or("", |(urn, _)| show::name(urn));
        cloud::start(&self.providers, name)?;
        cloud::configure(&self.providers, name)?;
        Ok(Some(label(name, &inputs)))
    }

    /// Is the plugin of a provider resource still there?
    pub(crate) fn is_there(&self, reference: &str) -> Result<(), ProviderError> {
        if self.gone.contains(reference) { Err(is_gone(reference)) } else { Ok(()) }
    }

    /// Calls the plugin that serves a resource.
    pub(crate) fn call_plugin(&mut self, record: &Record, method: &Method, told: &PluginArguments) -> Outcome {
        let Some(by) = self.ready(&record.provider)? else {
            self.counts.hit(Rule::ProviderUnknown);
            return Ok(unconfigured(method));
        };
        let name = show::name(&record.urn).to_owned();
        self.note_call(shown_call(&name, method, Some(told), &by));
        self.is_there(&record.provider)?;
        let outcome = self.cloud.call_plugin(&self.providers, (&name, &by), method, told.preview);
        if has_died(&outcome) {
            self.counts.hit(Rule::PluginDies);
            self.gone.insert(record.provider.clone());
        }
        outcome
    }

    /// Asks the plugin of a provider resource to check or compare configurations.
    pub(crate) fn ask_provider(&mut self, urn: &str, method: &Method, told: &PluginArguments) -> Outcome {
        let name = show::name(urn).to_owned();
        self.note_call(shown_call(&name, method, Some(told), ITS_OWN));
        cloud::ask_provider(&self.providers, &name, method)
    }

    /// Has a plugin check the configuration of its provider resource.
    pub(crate) fn check_provider(&mut self, urn: &str, olds: &PropertyMap, news: &PropertyMap) -> Outcome {
        let method = Method::Check { olds: without_internal(olds), news: without_internal(news) };
        let answer = self.ask_provider(urn, &method, &PluginArguments::default())?;
        let Answer::Checked { mut inputs, failures } = answer else { return Ok(answer) };
        inputs.extend(news.get(INTERNAL).map(|internal| (INTERNAL.to_owned(), internal.clone())));
        Ok(Answer::Checked { inputs, failures })
    }

    /// Has a plugin compare the configurations of its provider resource.
    pub(crate) fn diff_provider(&mut self, urn: &str, old: &Record, news: &PropertyMap) -> Outcome {
        let method = Method::Diff { id: String::new(), olds: old.outputs.clone(), news: without_internal(news) };
        let told =
            PluginArguments { old_inputs: Some(without_internal(&old.inputs).into()), ..PluginArguments::default() };
        self.ask_provider(urn, &method, &told)
    }

    /// Does another provider resource serve it than before, and does that one say that the object has to be replaced?
    pub(crate) fn moves_to_another_provider(
        &mut self,
        old: &Record,
        wanted: &WantedResource<'_>,
    ) -> Result<bool, Halt> {
        let now = &wanted.record.provider;
        let Some(((new_urn, new_id), (old_urn, old_id))) = now.rsplit_once("::").zip(old.provider.rsplit_once("::"))
        else {
            return Ok(false);
        };
        if *now == old.provider {
            return Ok(false);
        }
        let formerly = self.registered.get(new_urn).and_then(|earlier| earlier.formerly.as_deref());
        if formerly == Some(old_urn) && new_id == old_id {
            self.counts.hit(Rule::ProviderRenamed);
            return Ok(false);
        }
        let Some(before) = self.resource_of_provider(&old.provider).cloned() else { return Ok(false) };
        let Some(Configuration::Known(news)) = self.configuration(now) else { return Ok(false) };
        let (now, new_urn) = (now.clone(), new_urn.to_owned());
        self.ready(&now).map_err(|_| Halt)?;
        let Ok(Answer::Diffed(answer)) = self.diff_provider(&new_urn, &before, &news) else { return Err(Halt) };
        self.is_there(&now).map_err(|_| Halt)?;
        let replaces = !answer.replaces.is_empty();
        self.counts.hit(if replaces { Rule::ProviderMovesReplace } else { Rule::ProviderMoves });
        Ok(replaces)
    }

    /// Does a resource that cannot do without it name a provider resource?
    pub(crate) fn is_in_use(&self, slot: usize) -> bool {
        let record = &self.slots[slot].record;
        let reference = format!("{}::{}", record.urn, record.id);
        self.resources().any(|state| !state.pending && state.provider == reference)
    }

    /// Is it the state of a provider whose plugin can be asked?
    pub(crate) fn is_provider_of_plugin(urn: &str) -> bool {
        urns::is_provider(urn) && !urns::is_dynamic_provider(urn)
    }
}
