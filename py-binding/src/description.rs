//! What the package tells of a live object: `maloko._providers.registry.Description`, read by the names of its members.

use std::sync::Arc;
use std::time::Duration;

use maloko_core::autonaming::Autonaming;
use maloko_core::provider::{CallLimits, Capabilities, ProviderDescription, ProviderReference, Revision};
use pyo3::prelude::*;

/// `maloko._providers.registry.Description`
#[derive(FromPyObject)]
pub(crate) struct PythonDescription {
    module: String,
    name: String,
    attributes: Option<String>,
    incomplete: Option<String>,
    methods: Methods,
    autonaming: Option<AutomaticName>,
    version: Option<u64>,
    code: Option<String>,
    limits: Option<Limits>,
}

/// `maloko._providers.methods.Methods`
#[derive(FromPyObject)]
#[expect(clippy::struct_excessive_bools, reason = "one for each method that a provider may have")]
struct Methods {
    configure: bool,
    check: bool,
    diff: bool,
    create: bool,
    read: bool,
    update: bool,
    delete: bool,
    find: bool,
    close: bool,
}

/// `maloko._providers.registry.Autonaming`
#[derive(FromPyObject)]
struct AutomaticName {
    property: String,
    max_length: Option<usize>,
}

/// `maloko._providers.rate_limits.Limits`
#[derive(FromPyObject)]
struct Limits {
    class_name: String,
    max_concurrency: Option<usize>,
    /// Seconds.
    min_interval: f64,
}

impl From<PythonDescription> for ProviderDescription {
    fn from(description: PythonDescription) -> Self {
        let Methods { configure, check, diff, create, read, update, delete, find, close } = description.methods;
        Self {
            reference: Arc::new(ProviderReference {
                maloko: 1,
                language: "python".to_owned(),
                module: description.module,
                name: description.name,
                attributes: description.attributes,
                incomplete: description.incomplete,
                lacks_delete: false,
                revision: Revision { version: description.version, code: description.code },
            }),
            capabilities: Capabilities { configure, check, diff, create, read, update, delete, find, close },
            limits: description.limits.map(|limits| CallLimits {
                class: limits.class_name,
                max_concurrency: limits.max_concurrency,
                min_interval: Duration::try_from_secs_f64(limits.min_interval).unwrap_or_default(),
            }),
            autonaming: description
                .autonaming
                .map(|named| Autonaming { property: named.property, max_length: named.max_length }),
        }
    }
}
