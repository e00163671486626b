//! Plugins that serve packages which extend their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use atomic_refcell::AtomicRefCell;

use crate::extension::Extension;
use crate::message;
use crate::message::Command;
use crate::plugin::PluginQuestion;
use crate::provider::{ObjectId, ProviderError, ProviderErrorKind};

use crate::driver::calls::plugins::{PluginProvider, PluginProviders};
use crate::driver::outside_calls::AskPlugin;
use crate::driver::permits::Once;

/// What a plugin was extended by, or why it was not.
#[derive(Default)]
pub(super) struct ExtendedPlugin {
    by_reference: AtomicRefCell<BTreeMap<String, Arc<Attempt>>>,
}

type Attempt = Once<Result<(), ProviderError>>;

impl ExtendedPlugin {
    fn by(&self, extension: &Extension) -> Arc<Attempt> {
        let mut by_reference = self.by_reference.borrow_mut();
        Arc::clone(by_reference.entry(extension.reference().to_owned()).or_default())
    }
}

impl PluginProviders {
    /// The number of a provider's plugin once it serves what extends its package; `None` where its configuration is not known
    /// yet.
    pub(crate) async fn ready_for(
        &self,
        provider: &PluginProvider,
        extension: Option<&Extension>,
    ) -> Result<Option<ObjectId>, ProviderError> {
        let plugin = self.ready(provider).await?;
        if let (Some(plugin), Some(extension)) = (plugin, extension) {
            let attempt = provider.extended.by(extension);
            attempt.get_or_do(async || self.extend(plugin, extension).await).await?;
        }
        Ok(plugin)
    }

    async fn extend(&self, plugin: ObjectId, extension: &Extension) -> Result<(), ProviderError> {
        let parameter = extension.parameter().ok_or_else(|| no_parameter(extension))?.clone();
        self.exchange.ask(AskPlugin(plugin, Box::new(PluginQuestion::Extend(parameter)))).await.map(|_| ())
    }
}

/// The state does not hold what the plugin is to be extended by.
fn no_parameter(extension: &Extension) -> ProviderError {
    let message = message![
        format!(
            "its package extends that of its provider, and the state does not hold by what (extensionRef '{}'). Run ",
            extension.reference()
        ),
        Command::new("up"),
        " with the program that has the package, or put the member 'extensions' of the state back"
    ];
    ProviderError::new(ProviderErrorKind::NoProvider, message)
}
