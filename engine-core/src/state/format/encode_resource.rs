//! Resources to JSON, in Pulumi's member order.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::error::Result;
use crate::provider::{Extension, StoredProvider};
use crate::resource_state::{CustomTimeouts, Hooks, ResourceState};
use crate::state::pending_operation::PendingOperation;
use crate::urn::Urn;
use crate::value::{PROVIDER_KEY, PropertyMap, SECRET_SIGNATURE, SIGNATURE_KEY};

use super::encode_value::{Encoder, readable};
use super::json::{write_json, write_string};

/// The member of a journal's resources that is in checkpoints once for all of them.
pub(super) const WHOLE_EXTENSION: &str = "extension";

impl Encoder<'_> {
    /// Writes one resource.
    pub(crate) fn resource_state(&mut self, resource: &ResourceState) -> Result<()> {
        self.raw("{\"urn\":");
        write_string(self.out(), resource.urn.as_str());
        self.raw(if resource.custom { ",\"custom\":true" } else { ",\"custom\":false" });
        self.flag("delete", resource.delete);
        self.text("id", &resource.id);
        self.raw(",\"type\":");
        write_string(self.out(), &resource.kind);
        self.properties("inputs", &resource.inputs, &resource.stored_provider)?;
        if let Some(outputs) = &resource.outputs {
            self.properties("outputs", outputs, &resource.stored_provider)?;
        }
        self.optional_urn("parent", resource.parent.as_ref());
        self.flag("protect", resource.protect);
        self.flag("taint", resource.taint);
        self.flag("external", resource.external);
        self.texts("dependencies", resource.dependencies.iter().map(Urn::as_str));
        self.texts("initErrors", resource.init_errors.iter().map(String::as_str));
        self.text("provider", &resource.provider);
        self.property_dependencies(resource);
        self.flag("pendingReplacement", resource.pending_replacement);
        self.texts("additionalSecretOutputs", resource.additional_secret_outputs.iter().map(String::as_str));
        self.custom_timeouts(&resource.custom_timeouts)?;
        self.text("importID", &resource.import_id);
        self.flag("retainOnDelete", resource.retain_on_delete);
        self.optional_urn("deletedWith", resource.deleted_with.as_ref());
        self.texts("replaceWith", resource.replace_with.iter().map(Urn::as_str));
        self.text("created", &resource.created);
        self.text("modified", &resource.modified);
        self.text("sourcePosition", &resource.source_position);
        self.stack_trace(&resource.stack_trace);
        self.texts("ignoreChanges", resource.ignore_changes.iter().map(String::as_str));
        self.texts("hideDiff", resource.hide_diff.iter().map(String::as_str));
        self.texts("replaceOnChanges", resource.replace_on_changes.iter().map(String::as_str));
        if let Some(trigger) = &resource.replacement_trigger {
            self.key("replacementTrigger");
            self.value(trigger)?;
        }
        self.flag("refreshBeforeUpdate", resource.refresh_before_update);
        self.optional_urn("viewOf", resource.view_of.as_ref());
        self.hooks(&resource.hooks)?;
        if let Some(extension) = &resource.extension {
            self.extension(extension)?;
        }
        for (key, value) in &resource.unknown_members {
            self.out.push(b',');
            write_string(self.out(), key);
            self.out.push(b':');
            self.json(value)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Writes an entry of `pending_operations`.
    pub(crate) fn pending(&mut self, pending: &PendingOperation) -> Result<()> {
        self.raw("{\"resource\":");
        self.resource_state(&pending.resource)?;
        self.raw(",\"type\":\"");
        self.raw(pending.kind.name());
        self.raw("\"}");
        Ok(())
    }

    fn key(&mut self, name: &str) {
        self.raw(",\"");
        self.raw(name);
        self.raw("\":");
    }

    fn flag(&mut self, name: &str, set: bool) {
        if set {
            self.key(name);
            self.raw("true");
        }
    }

    fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.key(name);
            write_string(&mut self.out, text);
        }
    }

    fn optional_urn(&mut self, name: &str, urn: Option<&Urn>) {
        if let Some(urn) = urn {
            self.text(name, urn.as_str());
        }
    }

    fn texts<'t>(&mut self, name: &str, texts: impl ExactSizeIterator<Item = &'t str>) {
        if texts.len() > 0 {
            self.key(name);
            self.list(texts);
        }
    }

    fn list<'t>(&mut self, texts: impl Iterator<Item = &'t str>) {
        self.out.push(b'[');
        for (index, text) in texts.enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            write_string(&mut self.out, text);
        }
        self.out.push(b']');
    }

    fn properties(&mut self, name: &str, map: &PropertyMap, provider: &StoredProvider) -> Result<()> {
        let mut provider = (*provider != StoredProvider::Absent).then_some(provider);
        if map.is_empty() && provider.is_none() {
            return Ok(());
        }
        readable(map)?;
        self.key(name);
        self.out.push(b'{');
        let mut first = true;
        for (key, value) in map {
            if let Some(stored) = provider.take_if(|_| key.as_str() >= PROVIDER_KEY) {
                self.provider_member(stored, first)?;
                first = false;
                // The resource's own field wins over a property of that name.
                if key == PROVIDER_KEY {
                    continue;
                }
            }
            self.property_name(key, first);
            first = false;
            self.value(value)?;
        }
        if let Some(stored) = provider {
            self.provider_member(stored, first)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn property_name(&mut self, key: &str, first: bool) {
        if !first {
            self.out.push(b',');
        }
        write_string(&mut self.out, key);
        self.out.push(b':');
    }

    fn provider_member(&mut self, provider: &StoredProvider, first: bool) -> Result<()> {
        self.property_name(PROVIDER_KEY, first);
        match provider {
            StoredProvider::Absent => {
                self.raw("null");
                Ok(())
            }
            StoredProvider::Sealed(ciphertext) => self.sealed(ciphertext),
            StoredProvider::Reference(reference) => self.reference(reference),
            StoredProvider::Foreign(json) => self.json(json),
            StoredProvider::Code(code) if code.secret => self.secret_json(&Json::from(code.text.as_str()).to_string()),
            StoredProvider::Code(code) => {
                write_string(self.out(), &code.text);
                Ok(())
            }
        }
    }

    /// Writes JSON that was read and is not looked into, except that its secrets take the form asked for: what an
    /// export showed is encrypted again.
    fn json(&mut self, json: &Json) -> Result<()> {
        match json {
            Json::Array(items) => {
                self.out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        self.out.push(b',');
                    }
                    self.json(item)?;
                }
                self.out.push(b']');
            }
            Json::Object(members) => {
                let member = |name| members.get(name).and_then(Json::as_str);
                if member(SIGNATURE_KEY) == Some(SECRET_SIGNATURE) {
                    if let Some(ciphertext) = member("ciphertext") {
                        return self.sealed(ciphertext);
                    }
                    if let Some(text) = member("plaintext") {
                        return self.secret_json(text);
                    }
                }
                self.out.push(b'{');
                for (index, (key, value)) in members.iter().enumerate() {
                    self.property_name(key, index == 0);
                    self.json(value)?;
                }
                self.out.push(b'}');
            }
            scalar => write_json(&mut self.out, scalar)?,
        }
        Ok(())
    }

    fn property_dependencies(&mut self, resource: &ResourceState) {
        if resource.property_dependencies.is_empty() {
            return;
        }
        self.key("propertyDependencies");
        self.out.push(b'{');
        for (index, (key, urns)) in resource.property_dependencies.iter().enumerate() {
            self.property_name(key, index == 0);
            self.list(urns.iter().map(Urn::as_str));
        }
        self.out.push(b'}');
    }

    fn custom_timeouts(&mut self, timeouts: &CustomTimeouts) -> Result<()> {
        if timeouts.is_empty() {
            return Ok(());
        }
        self.key("customTimeouts");
        self.out.push(b'{');
        let mut first = true;
        for (name, seconds) in [
            ("create", timeouts.create),
            ("update", timeouts.update),
            ("delete", timeouts.delete),
            ("read", timeouts.read),
        ] {
            if seconds != 0.0 {
                self.property_name(name, first);
                first = false;
                self.value(&seconds.into())?;
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    fn hooks(&mut self, hooks: &Hooks) -> Result<()> {
        if !hooks.is_empty() {
            self.key("resourceHooks");
            write_json(&mut self.out, hooks)?;
        }
        Ok(())
    }

    fn extension(&mut self, extension: &Arc<Extension>) -> Result<()> {
        self.text("extensionRef", extension.reference());
        let Some(parameter) = extension.parameter() else { return Ok(()) };
        if let Some(extensions) = &mut self.extensions {
            extensions.entry(extension.reference().to_owned()).or_insert_with(|| Arc::clone(extension));
            return Ok(());
        }
        self.key(WHOLE_EXTENSION);
        write_json(&mut self.out, parameter)
    }

    fn stack_trace(&mut self, positions: &[String]) {
        if positions.is_empty() {
            return;
        }
        self.key("stackTrace");
        self.out.push(b'[');
        for (index, position) in positions.iter().enumerate() {
            self.raw(if index > 0 { ",{" } else { "{" });
            if !position.is_empty() {
                self.raw("\"sourcePosition\":");
                write_string(&mut self.out, position);
            }
            self.out.push(b'}');
        }
        self.out.push(b']');
    }
}
