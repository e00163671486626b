//! How a provider behaves, as a lifecycle says it.

use maloko_core::provider::Capabilities;
use serde::{Deserialize, Serialize};

/// What a provider's `diff` answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiffMode {
    /// Whether something changed; a change of `zone` replaces.
    #[default]
    Exact,
    /// The engine is to compare; a change of `zone` replaces.
    Ask,
    /// The engine is to compare; whatever changed replaces.
    AskReplacing,
    /// Always a change.
    Always,
    /// Always a replacement.
    AlwaysReplacing,
    /// Never a change.
    Never,
    /// Never a change, and yet a list of keys that replace.
    NeverReplacing,
    /// There is no `diff`.
    Absent,
}

/// What a provider's `check` does to the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckMode {
    /// Nothing.
    #[default]
    Echo,
    /// Adds a default for `size`.
    Defaults,
    /// Chooses `auto` once and keeps it from the old inputs.
    Keeps,
    /// There is no `check`.
    Absent,
}

/// What a provider's `read` returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadMode {
    /// The object's outputs.
    #[default]
    Outputs,
    /// The object's outputs and inputs.
    Inputs,
    /// There is no `read`.
    Absent,
}

/// How a provider behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderKind {
    /// `check`
    pub check: CheckMode,
    /// `diff`
    pub diff: DiffMode,
    /// `read`
    pub read: ReadMode,
    /// What `diff` says of `deleteBeforeReplace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_first: Option<bool>,
    /// Does `diff` name the output `out` as stable?
    pub stable: bool,
}

impl ProviderKind {
    /// Does it always say that something changed?
    #[must_use]
    pub fn is_restless(self) -> bool {
        matches!(self.diff, DiffMode::Always | DiffMode::AlwaysReplacing)
    }

    /// The methods that the provider has.
    #[must_use]
    pub fn capabilities(self) -> Capabilities {
        Capabilities {
            configure: false,
            check: self.check != CheckMode::Absent,
            diff: self.diff != DiffMode::Absent,
            create: true,
            read: self.read != ReadMode::Absent,
            update: true,
            delete: true,
            find: false,
            close: false,
        }
    }
}
