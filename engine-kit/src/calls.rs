//! What providers were asked, and what they answered.

use std::borrow::Cow;

use maloko_core::Urn;
use maloko_core::provider::{Answer, Method, ProviderError, ProviderErrorKind};
use maloko_core::redaction::Redactor;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::json::{Secrets, properties};

/// A call as tests read it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// The resource on whose behalf it was made.
    pub urn: String,
    /// The resource's name.
    pub name: String,
    /// The resource's type token.
    #[serde(rename = "type")]
    pub kind: String,
    /// The method.
    pub method: &'static str,
    /// Its arguments by name.
    pub arguments: Json,
    /// What it answered, by name; `None` when it failed or never answered.
    pub result: Option<Json>,
    /// Why it failed.
    pub error: Option<CallError>,
    /// Was it stubbed, delayed or failed by the test?
    pub faulted: bool,
}

/// Why a call failed.
#[derive(Clone, Debug, Serialize)]
pub struct CallError {
    /// The kind of failure.
    pub kind: &'static str,
    /// The message.
    pub message: String,
}

impl Call {
    /// A call that begins.
    pub(crate) fn begun(urn: &Urn, method: &Method) -> Self {
        Self {
            urn: urn.as_str().to_owned(),
            name: urn.name().to_owned(),
            kind: urn.own_type().to_owned(),
            method: method.name(),
            arguments: arguments(method),
            result: None,
            error: None,
            faulted: false,
        }
    }

    /// Takes its outcome.
    pub(crate) fn ended(&mut self, outcome: &Result<Answer, ProviderError>) {
        match outcome {
            Ok(answer) => self.result = Some(result(answer)),
            Err(error) => {
                self.error = Some(CallError { kind: kind(&error.kind), message: error.message.to_string() });
            }
        }
    }

    /// The call without the secrets that are known by now.
    pub(crate) fn redacted(mut self, redactor: &Redactor) -> Self {
        crate::json::redact(&mut self.arguments, redactor);
        if let Some(result) = &mut self.result {
            crate::json::redact(result, redactor);
        }
        if let Some(error) = &mut self.error
            && let Cow::Owned(clean) = redactor.message(&error.message)
        {
            error.message = clean;
        }
        self
    }
}

fn arguments(method: &Method) -> Json {
    let open = |map| properties(map, Secrets::Open);
    match method {
        Method::Configure { config, .. } => json!({ "config": open(config) }),
        Method::Close => json!({}),
        Method::Check { olds, news } => json!({ "olds": open(olds), "news": open(news) }),
        Method::Diff { id, olds, news } | Method::Update { id, olds, news, .. } => {
            json!({ "id": id, "olds": open(olds), "news": open(news) })
        }
        Method::Create { inputs, .. } => json!({ "props": open(inputs) }),
        Method::Find { inputs, key, .. } => json!({ "key": key, "props": open(inputs) }),
        Method::Read { id, props, .. } | Method::Delete { id, props, .. } => json!({ "id": id, "props": open(props) }),
    }
}

fn result(answer: &Answer) -> Json {
    let open = |map| properties(map, Secrets::Open);
    match answer {
        Answer::Configured | Answer::Deleted | Answer::Closed => Json::Null,
        Answer::Checked { inputs, failures } => {
            let failures: Vec<Json> =
                failures.iter().map(|it| json!({ "property": it.property, "reason": it.reason })).collect();
            json!({ "inputs": open(inputs), "failures": failures })
        }
        Answer::Diffed(diff) => json!({
            "changes": diff.changes,
            "replaces": diff.replaces,
            "stables": diff.stables,
            "deleteBeforeReplace": diff.delete_before_replace,
        }),
        Answer::Created { id, outputs, .. } => json!({ "id": id, "outs": open(outputs) }),
        Answer::Read { id, outputs, inputs, .. } => {
            json!({ "id": id, "outs": outputs.as_ref().map(open), "inputs": inputs.as_ref().map(open) })
        }
        Answer::Updated { outputs, .. } => json!({ "outs": open(outputs) }),
    }
}

fn kind(kind: &ProviderErrorKind) -> &'static str {
    match kind {
        ProviderErrorKind::Raised => "raised",
        ProviderErrorKind::BadReturn | ProviderErrorKind::Unreadable { .. } => "bad-return",
        ProviderErrorKind::UnusableOutputs { .. } => "unusable-outputs",
        ProviderErrorKind::NotInitialized { .. } => "partial",
        ProviderErrorKind::NoProvider => "no-provider",
        ProviderErrorKind::NoStack(_) => "no-stack",
        ProviderErrorKind::NoMethod => "no-method",
        ProviderErrorKind::TimedOut => "timed-out",
        ProviderErrorKind::Interrupted => "interrupted",
        ProviderErrorKind::Died => "died",
        ProviderErrorKind::Cancelled => "cancelled",
        ProviderErrorKind::Hook => "hook",
    }
}
