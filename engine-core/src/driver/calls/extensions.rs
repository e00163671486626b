//! Plugins that serve packages which extend their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use atomic_refcell::AtomicRefCell;

use crate::message;
use crate::message::Command;
use crate::plugin::PluginQuestion;
use crate::provider::{Extension, ObjectId, ProviderError, ProviderErrorKind};

use crate::driver::exchange::Exchange;
use crate::driver::outside_calls::AskPlugin;
use crate::driver::permits::Once;

/// What a plugin was extended by, or why it was not.
#[derive(Default)]
pub(super) struct ExtendedPlugin {
    by_reference: AtomicRefCell<BTreeMap<String, Arc<Attempt>>>,
}

type Attempt = Once<Result<(), ProviderError>>;

impl ExtendedPlugin {
    /// Has the plugin extended, once.
    pub(super) async fn extend(
        &self,
        exchange: &Exchange,
        plugin: ObjectId,
        extension: &Extension,
    ) -> Result<(), ProviderError> {
        let attempt = Arc::clone(self.by_reference.borrow_mut().entry(extension.reference().to_owned()).or_default());
        let extended = attempt.get_or_do(async || {
            let parameter = extension.parameter().ok_or_else(|| no_parameter(extension))?.clone();
            exchange.ask(AskPlugin(plugin, Box::new(PluginQuestion::Extend(parameter)))).await.map(|_| ())
        });
        extended.await
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
