//! Values, texts and changes as a page has them: without secrets.

use std::sync::Arc;

use maloko_core::event::StepMetadata;
use maloko_core::property_path::{PropertyPath, Segment};
use maloko_core::redaction::Redactor;
use maloko_core::value::{ArchiveSource, AssetSource, PropertyMap, Value};
use serde_json::{Map, Value as Json, json};

use super::data::{Change, Properties};
use crate::display::{Body, DisplayedChange, Kind, SecretDisplay, Visible, changes_of};

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
pub(super) struct Shower(SecretDisplay);

impl Shower {
    pub(super) fn new(redactor: Arc<Redactor>) -> Self {
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
            Visible::Number(number) => number_as_json(number),
            Visible::Text(text) => Json::String(self.text(text)),
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

    fn source(&self, source: &AssetSource) -> String {
        match source {
            AssetSource::Text(text) | AssetSource::Path(text) | AssetSource::Uri(text) => self.text(text),
            AssetSource::Elided => String::new(),
        }
    }

    /// What a step changes, each as far down as it can be said.
    pub(super) fn changes(&self, step: &StepMetadata) -> Vec<Change> {
        let mut all = Vec::new();
        self.collect(changes_of(step), &mut Vec::new(), &mut all);
        all
    }

    fn collect(&self, changes: Vec<DisplayedChange<'_>>, path: &mut Vec<Segment>, all: &mut Vec<Change>) {
        for DisplayedChange { segment, kind, replace, body } in changes {
            path.push(segment);
            let shown = |value| Some(self.value(value));
            let sides = match (kind, body) {
                (_, Body::Nested(inside)) => {
                    self.collect(inside, path, all);
                    None
                }
                (Kind::Same, _) => None,
                (Kind::Add, Body::One(value)) => Some((None, shown(value))),
                (Kind::Delete, Body::One(value)) => Some((shown(value), None)),
                (_, Body::Pair(old, new)) => {
                    // Not even what a value was before it became a secret.
                    let secret = [old, new].into_iter().find(|value| self.0.is_secret(value));
                    Some((shown(secret.unwrap_or(old)), shown(secret.unwrap_or(new))))
                }
                (_, Body::One(_) | Body::Hidden | Body::Unsaid) => Some((None, None)),
            };
            if let Some((old, new)) = sides {
                let path = self.text(&PropertyPath(path.clone()).to_string());
                let kind = match kind {
                    Kind::Add => "add",
                    Kind::Delete => "delete",
                    Kind::Update | Kind::Same => "update",
                };
                all.push(Change { path, kind: kind.to_owned(), replace, old, new });
            }
            path.pop();
        }
    }
}

/// Whole numbers without a fraction; what JSON cannot hold in words.
fn number_as_json(number: f64) -> Json {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !number.is_finite() {
        return Json::Object(Map::from_iter([
            (MARK.to_owned(), "number".into()),
            ("text".to_owned(), number.to_string().into()),
        ]));
    }
    if number.fract() == 0.0 && number.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within the range in which doubles are exact")]
        return Json::from(number as i64);
    }
    Json::from(number)
}
