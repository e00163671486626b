//! What a provider resource is asked of its plugin while it is registered: its configuration, checked and compared.

use std::sync::Arc;

use atomic_refcell::AtomicRefCell;

use crate::plugin::{PackageRequest, PluginAnswer, PluginQuestion};
use crate::provider::{Answer, Method, ObjectId, ProviderError, ProviderErrorKind};
use crate::urn::Urn;
use crate::value::PropertyMap;

use crate::driver::calls::plugins::{INTERNAL, PluginProviders, without_internal};
use crate::driver::outside_calls::{AskPlugin, StopPlugin};

/// A provider resource that is registered, with the plugin that was started for it.
pub(crate) struct ProviderResource {
    urn: Urn,
    package: PackageRequest,
    plugin: AtomicRefCell<ObjectId>,
    was_compared: AtomicRefCell<bool>,
}

impl ProviderResource {
    /// Starts the plugin of a provider resource.
    pub(crate) async fn start(
        plugins: &PluginProviders,
        package: PackageRequest,
        urn: &Urn,
    ) -> Result<Arc<Self>, ProviderError> {
        let plugin = plugins.start(&package, urn).await?;
        Ok(Arc::new(Self {
            urn: urn.clone(),
            package,
            plugin: AtomicRefCell::new(plugin),
            was_compared: AtomicRefCell::new(false),
        }))
    }

    /// The plugin that is to be configured by the resource.
    pub(crate) fn plugin(&self) -> ObjectId {
        *self.plugin.borrow()
    }

    /// Asks the plugin what a resource is asked otherwise.
    pub(crate) async fn ask(
        &self,
        plugins: &PluginProviders,
        method: Method,
        old_inputs: &PropertyMap,
        ignore_changes: Vec<String>,
    ) -> Result<Answer, ProviderError> {
        let urn = self.urn.clone();
        match method {
            Method::Check { olds, news } => {
                if std::mem::take(&mut *self.was_compared.borrow_mut()) {
                    // It is replaced: the new one has a plugin of its own.
                    plugins.exchange.ask(StopPlugin(self.plugin())).await;
                    let plugin = plugins.start(&self.package, &self.urn).await?;
                    *self.plugin.borrow_mut() = plugin;
                }
                let internal = news.get(INTERNAL).cloned();
                let question =
                    PluginQuestion::CheckConfig { urn, olds: without_internal(&olds), news: without_internal(&news) };
                match plugins.exchange.ask(AskPlugin(self.plugin(), Box::new(question))).await? {
                    PluginAnswer::Checked { mut inputs, failures } => {
                        inputs.extend(internal.map(|internal| (INTERNAL.to_owned(), internal)));
                        Ok(Answer::Checked { inputs, failures })
                    }
                    _ => Err(wrong_answer()),
                }
            }
            Method::Diff { olds, news, .. } => {
                *self.was_compared.borrow_mut() = true;
                let question = PluginQuestion::DiffConfig {
                    urn,
                    olds: without_internal(&olds),
                    old_inputs: without_internal(old_inputs),
                    news: without_internal(&news),
                    ignore_changes,
                };
                diff_of(plugins.exchange.ask(AskPlugin(self.plugin(), Box::new(question))).await?)
            }
            Method::Close => Ok(Answer::Closed),
            other => {
                let message = format!("a provider resource has no object that one could {}", other.name());
                Err(ProviderError::new(ProviderErrorKind::NoMethod, message))
            }
        }
    }
}

/// What a plugin says of the configurations of provider resources that it compared.
pub(super) fn diff_of(answer: PluginAnswer) -> Result<Answer, ProviderError> {
    match answer {
        PluginAnswer::Diffed(answer) => Ok(Answer::Diffed(answer)),
        _ => Err(wrong_answer()),
    }
}

/// The error of a plugin that answers something else than what it was asked.
pub(crate) fn wrong_answer() -> ProviderError {
    ProviderError::new(ProviderErrorKind::BadReturn, "the answer does not fit the question")
}
