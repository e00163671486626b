//! Where plugins tell of the views of a resource while they are called for it.
//!
//! The token names the call: whoever reaches the port and has none cannot tell of anybody's views.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use ring::rand::{SecureRandom, SystemRandom};

use maloko_core::provider::{OldView, ProviderError};
use maloko_core::urn::Urn;
use maloko_core::wire::provider as wire;
use maloko_rpc::lock;

use crate::answers::Features;

/// The calls that are under way, by their tokens.
#[derive(Clone, Default)]
pub(crate) struct ViewTokens(Arc<Mutex<BTreeMap<String, Urn>>>);

/// A call whose plugin may tell of views, until this is dropped.
pub(crate) struct OpenToken {
    tokens: ViewTokens,
    pub(crate) token: String,
}

impl ViewTokens {
    /// Takes what is told of the views of a resource; the token is random. Without randomness nothing is taken.
    pub(crate) fn open(&self, owner: &Urn) -> OpenToken {
        let mut random = [0; 16];
        let mut token = String::new();
        if SystemRandom::new().fill(&mut random).is_ok() {
            for byte in random {
                let _ = write!(token, "{byte:02x}");
            }
            lock(&self.0).insert(token.clone(), owner.clone());
        }
        OpenToken { tokens: self.clone(), token }
    }

    /// The resource of a call that is under way.
    pub(crate) fn owner(&self, token: &str) -> Option<Urn> {
        lock(&self.0).get(token).cloned()
    }
}

impl Drop for OpenToken {
    fn drop(&mut self) {
        lock(&self.tokens.0).remove(&self.token);
    }
}

/// Views as a plugin with these features is told of them.
pub(crate) fn shown(views: &[OldView], features: Features) -> Result<Vec<wire::View>, ProviderError> {
    let view = |view: &OldView| {
        let (parent_type, parent_name) = view.parent.clone().unwrap_or_default();
        Ok(wire::View {
            r#type: view.kind.clone(),
            name: view.name.clone(),
            parent_type,
            parent_name,
            inputs: Some(features.whole(&view.inputs)?),
            outputs: Some(features.whole(&view.outputs)?),
        })
    };
    views.iter().map(view).collect()
}
