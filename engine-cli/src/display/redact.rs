//! The one way by which a property value reaches a display.

use std::borrow::Cow;
use std::sync::Arc;

use maloko_core::resource_state::ResourceState;
use maloko_core::value::{Archive, Asset, PROVIDER_KEY, PropertyMap, ResourceReference, Value};

use maloko_core::redaction::{Redactor, VALUE_MINIMUM};

/// A value as it may be shown. Displays look at values only through [`SecretDisplay::see`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Visible<'a> {
    /// Null.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text; still to be passed through [`SecretDisplay::text`].
    Text(&'a str),
    /// Bytes that are no UTF-8.
    Bytes(&'a [u8]),
    /// A list.
    List(&'a [Value]),
    /// An object.
    Object(&'a PropertyMap),
    /// Something that must not be shown.
    Secret,
    /// Something that is not known yet.
    Unknown,
    /// A reference to a resource.
    Resource(&'a ResourceReference),
    /// A file or text.
    Asset(&'a Asset),
    /// A collection of assets.
    Archive(&'a Archive),
}

/// Decides what of a value may be shown.
#[derive(Clone, Debug)]
pub(crate) struct SecretDisplay {
    show_secrets: bool,
    redactor: Arc<Redactor>,
}

impl SecretDisplay {
    /// With `show_secrets` the user asked to see everything.
    #[must_use]
    pub(crate) fn new(show_secrets: bool, redactor: Arc<Redactor>) -> Self {
        Self { show_secrets, redactor }
    }

    /// What may be shown of a value.
    #[must_use]
    pub(crate) fn see<'a>(&self, value: &'a Value) -> Visible<'a> {
        match value {
            Value::Null => Visible::Null,
            Value::Bool(flag) => Visible::Bool(*flag),
            Value::Number(number) => Visible::Number(*number),
            Value::String(text) => Visible::Text(text),
            Value::Bytes(bytes) => Visible::Bytes(bytes),
            Value::Array(items) => Visible::List(items),
            Value::Object(members) => Visible::Object(members),
            Value::Secret(inner) if self.show_secrets => self.see(inner),
            // There is nothing to hide yet.
            Value::Secret(inner) if **inner == Value::Unknown => Visible::Unknown,
            Value::Secret(_) | Value::Sealed(_) => Visible::Secret,
            Value::Unknown => Visible::Unknown,
            Value::Output(output) => match &output.value {
                _ if output.secret && !self.show_secrets => Visible::Secret,
                Some(inner) => self.see(inner),
                None => Visible::Unknown,
            },
            Value::Resource(reference) => Visible::Resource(reference),
            Value::Asset(asset) => Visible::Asset(asset),
            Value::Archive(archive) => Visible::Archive(archive),
        }
    }

    /// Must nothing of a value be shown?
    #[must_use]
    pub(crate) fn is_secret(&self, value: &Value) -> bool {
        matches!(self.see(value), Visible::Secret)
    }

    /// The members of an object that may be named: all but the provider's reference.
    pub(crate) fn members(map: &PropertyMap) -> impl Iterator<Item = (&str, &Value)> {
        map.iter().filter(|(key, _)| *key != PROVIDER_KEY).map(|(key, value)| (key.as_str(), value))
    }

    /// A text that stands in a property.
    #[must_use]
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.show_secrets { Cow::Borrowed(text) } else { self.redactor.redact(text, VALUE_MINIMUM) }
    }

    /// A text that somebody wrote for the user.
    #[must_use]
    pub(crate) fn message<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.show_secrets { Cow::Borrowed(text) } else { self.redactor.message(text) }
    }

    /// Remembers the secrets of a resource, so that no later message shows them.
    pub(crate) fn learn_resource(&self, resource: &ResourceState) {
        if self.show_secrets {
            return;
        }
        self.redactor.learn_properties(&resource.inputs);
        if let Some(outputs) = &resource.outputs {
            self.redactor.learn_properties(outputs);
        }
    }

    /// Remembers the secrets among these properties.
    pub(crate) fn learn(&self, properties: &PropertyMap) {
        if !self.show_secrets {
            self.redactor.learn_properties(properties);
        }
    }
}
