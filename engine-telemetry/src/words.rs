//! The names and attributes of spans and metrics.

use std::borrow::Cow;

use maloko_core::activity::{Activity, ActivityEnd, ActivityKind};
use maloko_core::event::Op;
use maloko_core::provider::ProviderErrorKind;
use maloko_core::redaction::Redactor;
use maloko_core::urn::Urn;
use opentelemetry::KeyValue;

pub(crate) const URN: &str = "maloko.urn";
pub(crate) const TYPE: &str = "maloko.type";
pub(crate) const OP: &str = "maloko.op";
pub(crate) const METHOD: &str = "maloko.method";
pub(crate) const ATTEMPT: &str = "maloko.attempt";
pub(crate) const OUTCOME: &str = "maloko.outcome";
pub(crate) const PROJECT: &str = "maloko.project";
pub(crate) const STACK: &str = "maloko.stack";
pub(crate) const PREVIEW: &str = "maloko.preview";
pub(crate) const KIND: &str = "maloko.kind";
pub(crate) const WAIT: &str = "maloko.wait";
pub(crate) const ERROR: &str = "error.type";

/// What a step is called.
pub(crate) fn step_name(op: Op, urn: &Urn) -> String {
    format!("{} {}", op.name(), urn.own_type())
}

/// What an activity is called.
pub(crate) fn activity_name(activity: &Activity) -> Cow<'static, str> {
    let before = match activity.kind {
        ActivityKind::Call => "call",
        ActivityKind::Permit | ActivityKind::Disk | ActivityKind::Dependency => "wait for",
        ActivityKind::Callback => "callback",
        ActivityKind::Plugin => "plugin",
    };
    Cow::Owned(format!("{before} {}", activity.name))
}

/// The attributes that say of whom something is, without what the run knows as secret.
pub(crate) fn of_resource(urn: &Urn, redactor: &Redactor) -> [KeyValue; 2] {
    [KeyValue::new(URN, redacted(urn.as_str(), redactor)), KeyValue::new(TYPE, redacted(urn.own_type(), redactor))]
}

pub(crate) fn redacted(text: &str, redactor: &Redactor) -> String {
    redactor.message(text).into_owned()
}

/// How an activity ended, in a word.
pub(crate) fn ended(end: ActivityEnd<'_>) -> &'static str {
    match end {
        ActivityEnd::Done => "done",
        ActivityEnd::Failed(_) => "failed",
        ActivityEnd::GivenUp => "given_up",
    }
}

/// Why a call failed, in a word.
pub(crate) fn error_type(kind: &ProviderErrorKind) -> &'static str {
    match kind {
        ProviderErrorKind::Raised => "raised",
        ProviderErrorKind::BadReturn => "bad_return",
        ProviderErrorKind::Unreadable { .. } => "unreadable",
        ProviderErrorKind::UnusableOutputs { .. } => "unusable_outputs",
        ProviderErrorKind::NotInitialized { .. } => "not_initialized",
        ProviderErrorKind::NoProvider => "no_provider",
        ProviderErrorKind::NoStack(_) => "no_stack",
        ProviderErrorKind::NoMethod => "no_method",
        ProviderErrorKind::TimedOut => "timed_out",
        ProviderErrorKind::Interrupted => "interrupted",
        ProviderErrorKind::Died => "died",
        ProviderErrorKind::Cancelled => "cancelled",
        ProviderErrorKind::Hook => "hook",
    }
}
