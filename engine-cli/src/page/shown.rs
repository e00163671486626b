//! Values, texts and changes as a page has them: without secrets.

use std::sync::Arc;

use maloko_core::event::StepMetadata;
use maloko_core::redaction::Redactor;
use maloko_core::value::{ArchiveSource, AssetSource, PropertyMap, Value, shown_bytes};
use serde_json::{Value as Json, json};

use super::data::{Change, PastOperation, Properties};
use crate::display::{Kind, Leaf, SecretDisplay, Visible, leaves_of};
use crate::plain;

/// What marks an object as something that plain JSON cannot say.
const MARK: &str = "$";

/// How much of a run is put into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// All of it.
    Whole,
    /// Resources, steps and calls without any property.
    Outline,
}

/// Writes values for a page.
#[derive(Clone, Debug)]
pub(crate) struct Shower(SecretDisplay);

impl Shower {
    pub(crate) fn new(redactor: Arc<Redactor>) -> Self {
        // Nobody can ask a page for secrets: it is a file that is passed on.
        Self(SecretDisplay::new(false, redactor))
    }

    pub(super) fn secrets(&self) -> &SecretDisplay {
        &self.0
    }

    /// A text that somebody wrote for the user.
    pub(super) fn message(&self, text: &str) -> String {
        self.0.message(text).into_owned()
    }

    /// A text that stands in a property or an option.
    pub(super) fn text(&self, text: &str) -> String {
        self.0.text(text).into_owned()
    }

    pub(super) fn properties(&self, map: &PropertyMap) -> Properties {
        SecretDisplay::members(map).map(|(key, value)| (self.text(key), self.value(value))).collect()
    }

    pub(super) fn value(&self, value: &Value) -> Json {
        match self.0.see(value) {
            Visible::Null => Json::Null,
            Visible::Bool(flag) => Json::Bool(flag),
            Visible::Number(number) => match plain::number_to_json(number) {
                Json::String(text) => json!({ MARK: "number", "text": text }),
                number => number,
            },
            Visible::Text(text) => Json::String(self.text(text)),
            Visible::Bytes(bytes) => Json::String(self.text(&shown_bytes(bytes))),
            Visible::List(items) => items.iter().map(|item| self.value(item)).collect(),
            Visible::Object(members) => {
                let members = self.properties(members);
                if members.contains_key(MARK) { json!({ MARK: "object", "members": members }) } else { members.into() }
            }
            Visible::Secret => json!({ MARK: "secret" }),
            Visible::Unknown => json!({ MARK: "unknown" }),
            Visible::Resource(reference) => json!({ MARK: "resource", "text": reference.urn.as_str() }),
            Visible::Asset(asset) => json!({ MARK: "asset", "text": self.source(&asset.source) }),
            Visible::Archive(archive) => {
                let text = match &archive.source {
                    ArchiveSource::Path(path) => self.text(path),
                    ArchiveSource::Uri(uri) => self.text(uri),
                    ArchiveSource::Assets(assets) => {
                        assets.keys().map(|name| self.text(name)).collect::<Vec<_>>().join(", ")
                    }
                    ArchiveSource::Elided => archive.hash.clone(),
                };
                json!({ MARK: "archive", "text": text })
            }
        }
    }

    /// An operation of the past, without what has become a secret since it was noted.
    pub(super) fn past_operation(&self, operation: &PastOperation) -> PastOperation {
        let change = |change: &Change| Change {
            path: self.text(&change.path),
            old: change.old.as_ref().map(|value| self.noted(value)),
            new: change.new.as_ref().map(|value| self.noted(value)),
            ..change.clone()
        };
        PastOperation {
            keys: operation.keys.iter().map(|key| self.text(key)).collect(),
            changes: operation.changes.iter().map(change).collect(),
            ..operation.clone()
        }
    }

    /// A value as it was noted for a page.
    fn noted(&self, value: &Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(text)),
            Json::Array(items) => items.iter().map(|item| self.noted(item)).collect(),
            Json::Object(members) => {
                members.iter().map(|(key, value)| (self.text(key), self.noted(value))).collect::<Properties>().into()
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
        }
    }

    fn source(&self, source: &AssetSource) -> String {
        match source {
            AssetSource::Text(text) | AssetSource::Path(text) | AssetSource::Uri(text) => self.text(text),
            AssetSource::Elided => String::new(),
        }
    }

    /// What a step changes, each as far down as it can be said.
    pub(super) fn changes(&self, step: &StepMetadata) -> Vec<Change> {
        leaves_of(step, &self.0).iter().map(|leaf| self.change(leaf)).collect()
    }

    fn change(&self, leaf: &Leaf<'_>) -> Change {
        let kind = match leaf.kind {
            Kind::Add => "add",
            Kind::Delete => "delete",
            Kind::Update | Kind::Same => "update",
        };
        Change {
            path: self.text(&leaf.path),
            kind: kind.to_owned(),
            replace: leaf.replace,
            old: leaf.old.map(|value| self.value(value)),
            new: leaf.new.map(|value| self.value(value)),
        }
    }
}
