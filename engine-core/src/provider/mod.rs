//! The border to the host language: live provider objects and what the engine asks of them.

mod call;
mod error;
mod extension;
mod host;
mod reference;

pub use call::{
    Answer, CallLimits, Capabilities, CheckFailure, DiffAnswer, Method, OldView, PluginArguments, ProviderCall,
    ProviderDescription, TraceContext,
};
pub use error::{HostError, ProviderError, ProviderErrorKind, Transience};
pub use extension::{Extension, ExtensionParameter, Extensions};
pub use host::{ProviderHost, Spawner};
pub(crate) use reference::DYNAMIC_PACKAGES;
pub use reference::{
    ConfigurationId, HANDLE_PREFIX, ObjectId, ProviderReference, Revision, SerializedProvider, StoredProvider,
    parse_handle,
};
