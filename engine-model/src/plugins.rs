//! The plugins of one run, played: each is started for a provider resource, configured by it, and serves the simulated
//! cloud under that configuration until it dies.

use maloko_core::PropertyMap;
use maloko_core::plugin::{FIRST_PLUGIN, PluginAnswer, PluginQuestion};
use maloko_core::provider::{
    Answer, Method, ObjectId, PluginArguments, ProviderCall, ProviderError, ProviderErrorKind,
};

use crate::cloud::{self, Cloud, Outcome, Providers};
use crate::show;

/// What stands in calls that are made for a preview.
pub const PREVIEW: &str = " as a preview ";

/// A plugin that was started.
#[derive(Clone, Debug, Default)]
struct Plugin {
    /// The name of its provider resource.
    provider: String,
    configured: Option<PropertyMap>,
    gone: bool,
}

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub struct Plugins {
    started: Vec<Plugin>,
}

/// The error of whoever calls a plugin that is no longer there.
#[must_use]
pub fn is_gone(provider: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Raised, format!("the plugin of {provider} is no longer there"))
}

/// A configuration as objects and calls are labelled with it: who gave it, and what it says.
#[must_use]
pub fn label(provider: &str, inputs: &PropertyMap) -> String {
    format!("{provider}{}", show::properties(inputs))
}

/// A call as it is written down: with what only plugins are told.
#[must_use]
pub fn shown_call(name: &str, method: &Method, told: Option<&PluginArguments>, by: &str) -> String {
    let preview = if told.is_some_and(|told| told.preview && !is_question(method)) { PREVIEW } else { " " };
    let before = told
        .and_then(|told| told.old_inputs.as_ref())
        .map_or_else(String::new, |inputs| format!(" inputs were {}", show::properties(inputs)));
    format!("{}{before}{preview}by {by}", show::call(name, method))
}

fn is_question(method: &Method) -> bool {
    !matches!(method, Method::Create { .. } | Method::Update { .. })
}

/// A question to a provider resource's plugin as the method that is like it; `None` for questions of other kinds.
#[must_use]
pub fn as_method(question: &PluginQuestion) -> Option<(Method, PluginArguments)> {
    match question {
        PluginQuestion::CheckConfig { olds, news, .. } => {
            Some((Method::Check { olds: olds.clone(), news: news.clone() }, PluginArguments::default()))
        }
        PluginQuestion::DiffConfig { olds, old_inputs, news, .. } => {
            let method = Method::Diff { id: String::new(), olds: olds.clone(), news: news.clone() };
            let told = PluginArguments { old_inputs: Some(old_inputs.clone().into()), ..PluginArguments::default() };
            Some((method, told))
        }
        _ => None,
    }
}

impl Plugins {
    fn plugin(&mut self, number: ObjectId) -> Result<&mut Plugin, ProviderError> {
        let index = number.checked_sub(FIRST_PLUGIN).and_then(|index| usize::try_from(index).ok());
        let found = index.and_then(|index| self.started.get_mut(index));
        let plugin =
            found.ok_or_else(|| ProviderError::new(ProviderErrorKind::NoProvider, "there is no such plugin"))?;
        if plugin.gone { Err(is_gone(&plugin.provider)) } else { Ok(plugin) }
    }

    /// Starts a plugin for a provider resource of that name.
    ///
    /// # Errors
    /// It does not come up in this step.
    pub fn start(&mut self, providers: &Providers, provider: &str) -> Result<ObjectId, ProviderError> {
        cloud::start(providers, provider)?;
        self.started.push(Plugin { provider: provider.to_owned(), ..Plugin::default() });
        Ok(FIRST_PLUGIN + self.started.len() as ObjectId - 1)
    }

    /// A plugin is gone: the engine ended it, or it died.
    pub fn end(&mut self, number: ObjectId) {
        if let Ok(plugin) = self.plugin(number) {
            plugin.gone = true;
        }
    }

    /// What a plugin's calls are labelled with: its provider resource and its configuration.
    #[must_use]
    pub fn label(&self, number: ObjectId) -> String {
        let index = number.checked_sub(FIRST_PLUGIN).and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| self.started.get(index)) {
            Some(Plugin { provider, configured: Some(inputs), .. }) => label(provider, inputs),
            Some(Plugin { provider, .. }) => format!("{provider}, not configured"),
            None => "nobody".to_owned(),
        }
    }

    /// Answers a question about a provider resource.
    ///
    /// # Errors
    /// The fault of this step, or the plugin is gone.
    pub fn ask(
        &mut self,
        providers: &Providers,
        number: ObjectId,
        question: &PluginQuestion,
    ) -> Result<PluginAnswer, ProviderError> {
        let plugin = self.plugin(number)?;
        if let PluginQuestion::Configure { inputs, .. } = question {
            cloud::configure(providers, &plugin.provider)?;
            plugin.configured = Some(inputs.clone());
            return Ok(PluginAnswer::Configured);
        }
        let unfit = || ProviderError::new(ProviderErrorKind::NoMethod, "these plugins have no functions");
        let (method, _) = as_method(question).ok_or_else(unfit)?;
        let outcome = cloud::ask_provider(providers, &plugin.provider, &method);
        plugin.gone = has_died(&outcome);
        match outcome? {
            Answer::Checked { inputs, failures } => Ok(PluginAnswer::Checked { inputs, failures }),
            Answer::Diffed(answer) => Ok(PluginAnswer::Diffed(answer)),
            _ => Err(unfit()),
        }
    }

    /// Serves a call about a resource of that name.
    pub fn call(
        &mut self,
        cloud: &mut Cloud,
        providers: &Providers,
        number: ObjectId,
        name: &str,
        call: &ProviderCall,
    ) -> Outcome {
        let by = self.label(number);
        let plugin = self.plugin(number)?;
        if plugin.configured.is_none() {
            return Err(ProviderError::new(
                ProviderErrorKind::Raised,
                format!("{} was not configured", plugin.provider),
            ));
        }
        let preview = call.for_plugin.as_ref().is_some_and(|told| told.preview);
        let outcome = cloud.call_plugin(providers, (name, &by), &call.method, preview);
        plugin.gone = has_died(&outcome);
        outcome
    }
}

/// Did the plugin die in the call?
#[must_use]
pub fn has_died(outcome: &Outcome) -> bool {
    outcome.as_ref().is_err_and(|error| error.kind == ProviderErrorKind::Died)
}
