//! What a schema has against properties, as the plugin's own check would say it. Values never stand in what is said: they may
//! be secret.

use maloko_core::message::suggestions::{instead, listed};
use maloko_core::provider::CheckFailure;
use maloko_core::{PropertyMap, Value};
use maloko_packages::schema::{EnumValue, Package, Property, Shape, Type};
use serde_json::Value as Json;

/// Names that begin so are between engine, SDK and plugin.
const INTERNAL: &str = "__";

/// Whether everything that is required has to be there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Partial,
}

/// What is wrong with properties: unknown ones, missing ones, and values of other types.
pub(super) fn problems(
    package: &Package,
    declared: &[Property],
    given: &PropertyMap,
    presence: Presence,
) -> Vec<CheckFailure> {
    let mut judge = Judge { package, found: Vec::new() };
    judge.properties(declared, given, "", presence);
    judge.found
}

/// What is wrong with a provider's configuration: values that are no texts may come as JSON.
pub(super) fn problems_of_config(package: &Package, given: &PropertyMap) -> Vec<CheckFailure> {
    let declared = &package.provider.inputs;
    let opened = |(name, value): (&String, &Value)| {
        let property = declared.iter().find(|it| it.name == *name);
        let value = property.map_or_else(|| value.clone(), |property| opened(&property.kind, value));
        (name.clone(), value)
    };
    // The engine's own words about the plugin are no configuration.
    let given = given.iter().filter(|(name, _)| !["version", "pluginDownloadURL"].contains(&name.as_str()));
    problems(package, declared, &given.map(opened).collect(), Presence::Required)
}

/// What is wrong with a value by itself.
pub(super) fn problems_of_value(package: &Package, kind: &Type, value: &Value) -> Vec<CheckFailure> {
    let mut judge = Judge { package, found: Vec::new() };
    judge.value(kind, value, "");
    judge.found
}

/// All of them in one text.
pub(super) fn told(problems: &[CheckFailure]) -> String {
    let each = problems.iter().map(|it| match it.property.as_str() {
        "" => it.reason.clone(),
        property => format!("'{property}': {}", it.reason),
    });
    each.collect::<Vec<_>>().join("; ")
}

struct Judge<'a> {
    package: &'a Package,
    found: Vec<CheckFailure>,
}

impl Judge<'_> {
    fn say(&mut self, path: &str, reason: impl Into<String>) {
        self.found.push(CheckFailure { property: path.to_owned(), reason: reason.into() });
    }

    fn properties(&mut self, declared: &[Property], given: &PropertyMap, path: &str, presence: Presence) {
        let whole = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        for (name, value) in given.iter().filter(|(_, value)| !is_absent(value)) {
            match declared.iter().find(|it| it.name == *name) {
                Some(property) => self.property(property, value, &whole(name)),
                None if name.starts_with(INTERNAL) => {}
                None => {
                    let known = declared.iter().map(|it| it.name.as_str());
                    let hint = instead(name, known, "there are");
                    self.say(
                        &whole(name),
                        format!("the schema of '{}' has no such property; {hint}", self.package.name),
                    );
                }
            }
        }
        for property in declared.iter().filter(|it| it.required && presence == Presence::Required) {
            // What has a default is filled in by SDKs or by the plugin.
            let has_default =
                property.default.is_some() || property.constant.is_some() || !property.environment.is_empty();
            if given.get(&property.name).is_none_or(is_absent) && !has_default {
                self.say(
                    &whole(&property.name),
                    format!("it is missing, and the schema of '{}' requires it", self.package.name),
                );
            }
        }
    }

    fn property(&mut self, property: &Property, value: &Value, path: &str) {
        let before = self.found.len();
        self.value(&property.kind, value, path);
        if let Some(constant) = &property.constant
            && self.found.len() == before
            && is_other_than(value, constant)
        {
            self.say(path, format!("the schema of '{}' allows {constant} alone", self.package.name));
        }
    }

    fn value(&mut self, kind: &Type, value: &Value, path: &str) {
        let value = match value {
            Value::Secret(inner) => return self.value(kind, inner, path),
            Value::Output(output) => match &output.value {
                Some(inner) => return self.value(kind, inner, path),
                None => return,
            },
            Value::Unknown | Value::Sealed(_) => return,
            value => value,
        };
        match (kind, value) {
            (Type::Any | Type::Json, _)
            | (Type::Bool, Value::Bool(_))
            | (Type::Number, Value::Number(_))
            | (Type::String, Value::String(_) | Value::Bytes(_))
            | (Type::Asset, Value::Asset(_) | Value::Archive(_))
            | (Type::Archive, Value::Archive(_))
            | (Type::Resource(_) | Type::Provider | Type::Elsewhere(_), Value::Resource(_)) => {}
            (Type::Integer, Value::Number(number)) if number.fract() == 0.0 => {}
            // Schemas of other packages are not looked at.
            (Type::Elsewhere(other), _) if !other.is_resource => {}
            (Type::Token(base), value) => self.value(base, value, path),
            (Type::List(element), Value::Array(items)) => {
                for (at, item) in items.iter().enumerate().filter(|(_, item)| !is_absent(item)) {
                    self.value(&element.kind, item, &format!("{path}[{at}]"));
                }
            }
            (Type::Map(element), Value::Object(members)) => {
                for (name, member) in members.iter().filter(|(_, member)| !is_absent(member)) {
                    self.value(&element.kind, member, &format!("{path}.{name}"));
                }
            }
            (Type::Defined(id), value) => match (&self.package.definition(*id).shape, value) {
                (Shape::Object(declared), Value::Object(members)) => {
                    self.properties(declared, members, path, Presence::Required);
                }
                (Shape::Enum { base, values }, value) => self.choice(base, values, value, path),
                _ => self.mismatch(kind, value, path),
            },
            (Type::Union(kinds), value) => self.union(kinds, kind, value, path),
            _ => self.mismatch(kind, value, path),
        }
    }

    fn choice(&mut self, base: &Type, values: &[EnumValue], value: &Value, path: &str) {
        let before = self.found.len();
        self.value(base, value, path);
        if self.found.len() == before && values.iter().all(|it| is_other_than(value, &it.value)) {
            let allowed: Vec<String> = values.iter().map(|it| it.value.to_string()).collect();
            let allowed = listed(allowed.iter().map(String::as_str));
            self.say(path, format!("the schema of '{}' allows {allowed}", self.package.name));
        }
    }

    /// One of them has to fit. Where only one is of the value's kind, that one says what is wrong.
    fn union(&mut self, kinds: &[Type], whole: &Type, value: &Value, path: &str) {
        let tried: Vec<Vec<CheckFailure>> = kinds
            .iter()
            .map(|kind| {
                let mut judge = Judge { package: self.package, found: Vec::new() };
                judge.value(kind, value, path);
                judge.found
            })
            .collect();
        if tried.iter().any(Vec::is_empty) {
            return;
        }
        let mut inner = tried.into_iter().filter(|found| found.iter().all(|it| it.property != path));
        match (inner.next(), inner.next()) {
            (Some(only), None) => self.found.extend(only),
            _ => self.mismatch(whole, value, path),
        }
    }

    fn mismatch(&mut self, kind: &Type, value: &Value, path: &str) {
        let (is, wants) = (kind_of(value), self.described(kind));
        self.say(path, format!("it is {is}, and the schema of '{}' wants {wants}", self.package.name));
    }

    fn described(&self, kind: &Type) -> String {
        match kind {
            Type::Bool => "a boolean".to_owned(),
            Type::Integer => "a whole number".to_owned(),
            Type::Number => "a number".to_owned(),
            Type::String => "a string".to_owned(),
            Type::Any | Type::Json => "anything".to_owned(),
            Type::Asset => "an asset or an archive".to_owned(),
            Type::Archive => "an archive".to_owned(),
            Type::List(_) => "a list".to_owned(),
            Type::Map(_) => "a map".to_owned(),
            Type::Token(base) => self.described(base),
            Type::Resource(token) => format!("a resource {}", token.name),
            Type::Provider => "a provider".to_owned(),
            Type::Elsewhere(other) => format!("a resource {}", other.token.name),
            Type::Defined(id) => {
                let definition = self.package.definition(*id);
                match &definition.shape {
                    Shape::Object(_) => format!("an object {}", definition.token.name),
                    Shape::Enum { base, .. } => self.described(base),
                }
            }
            Type::Union(kinds) => {
                let each: Vec<String> = kinds.iter().map(|kind| self.described(kind)).collect();
                each.join(" or ")
            }
        }
    }
}

/// SDKs leave out what nobody has set, or send null.
fn is_absent(value: &Value) -> bool {
    matches!(value, Value::Null)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.fract() == 0.0 => "a number",
        Value::Number(_) => "a number with a fraction",
        Value::String(_) => "a string",
        Value::Bytes(_) => "a string of bytes",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        Value::Resource(_) => "a resource",
        Value::Asset(_) => "an asset",
        Value::Archive(_) => "an archive",
        Value::Secret(inner) => kind_of(inner),
        Value::Sealed(_) | Value::Unknown | Value::Output(_) => "not known",
    }
}

/// Is a known value another one than a schema names?
fn is_other_than(value: &Value, named: &Json) -> bool {
    match (value, named) {
        (Value::Secret(inner), named) => is_other_than(inner, named),
        (Value::Output(output), named) => output.value.as_ref().is_some_and(|inner| is_other_than(inner, named)),
        (Value::Bool(value), Json::Bool(named)) => value != named,
        (Value::String(value), Json::String(named)) => value != named,
        // Both come from texts of the same number.
        #[expect(clippy::float_cmp, reason = "a value of an enumeration is named exactly")]
        (Value::Number(value), Json::Number(named)) => named.as_f64().is_none_or(|named| *value != named),
        (Value::Unknown | Value::Sealed(_), _) => false,
        _ => true,
    }
}

/// A value of configuration: one that is no text may come as JSON.
fn opened(kind: &Type, value: &Value) -> Value {
    match value {
        Value::Secret(inner) => Value::secret(opened(kind, inner)),
        Value::String(text) if !takes_text(kind) => {
            serde_json::from_str(text).map_or_else(|_| value.clone(), |inner| crate::json::read(&inner))
        }
        value => value.clone(),
    }
}

fn takes_text(kind: &Type) -> bool {
    match kind {
        Type::String | Type::Any | Type::Json => true,
        Type::Token(base) => takes_text(base),
        Type::Union(kinds) => kinds.iter().any(takes_text),
        _ => false,
    }
}
