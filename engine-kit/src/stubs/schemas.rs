//! The schemas that stubs go by, each read once in a process.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use maloko_core::PropertyMap;
use maloko_core::error::{Error, Result};
use maloko_core::message::suggestions::nearest;
use maloko_core::provider::{CheckFailure, ProviderError, ProviderErrorKind};
use maloko_packages::schema::{Function, Outcome, Package, Resource, read};
use serde_json::{Map, Value as Json};

use crate::json::read_map;

use super::misspelt::misspelt;
use super::typed::{Presence, problems, problems_of_config, problems_of_value, told};

/// The schemas of a stack, by package.
#[derive(Default)]
pub(crate) struct Schemas(BTreeMap<String, Arc<Schema>>);

/// A schema, its members by token.
struct Schema {
    package: Package,
    file: PathBuf,
    resources: HashMap<String, usize>,
    functions: HashMap<String, usize>,
}

/// A file as it was read: when it was written, and how long it was.
type Stamp = (Option<SystemTime>, u64);

/// Schemas by file.
type SchemasByFile = HashMap<PathBuf, (Stamp, Arc<Schema>)>;

/// What was read, so that a thousand tests with a schema of many megabytes read it once.
static KNOWN: LazyLock<Mutex<SchemasByFile>> = LazyLock::new(Mutex::default);

impl Schemas {
    /// Those in files, and in folders with files `*.json`.
    ///
    /// # Errors
    /// Names the file that is missing, is no schema, or is the second one of its package.
    pub(crate) fn read(places: &[PathBuf]) -> Result<Self> {
        let mut found = Self::default();
        for place in places {
            for file in files(place)? {
                let schema = known(&file)?;
                let name = schema.package.name.clone();
                if let Some(other) = found.0.get(&name).filter(|other| other.file != schema.file) {
                    let (one, two) = (other.file.display(), schema.file.display());
                    return Err(wrong(format!(
                        "two schemas are of the package '{name}': {one} and {two}; leave one out"
                    )));
                }
                found.0.insert(name, schema);
            }
        }
        Ok(found)
    }

    /// The schema of the package that a token names.
    fn of(&self, token: &str) -> Option<&Schema> {
        let package = token.split(':').next().unwrap_or_default();
        self.0.get(package).map(|schema| &**schema)
    }

    /// Looks whether what a test says of packages is about something that there is.
    ///
    /// # Errors
    /// Names the token that its schema does not have.
    pub(crate) fn allow(&self, tokens: impl IntoIterator<Item = impl AsRef<str>>) -> Result<()> {
        for token in tokens {
            let token = token.as_ref();
            if let Some(schema) = self.of(token)
                && schema.resource(token).is_none()
                && schema.function(token).is_none()
            {
                return Err(wrong(format!("a stub is for '{token}': {}", schema.lacks(token))));
            }
        }
        Ok(())
    }

    /// What is wrong with the inputs of a resource or component; nothing where its package has no schema here.
    pub(super) fn inputs(&self, kind: &str, inputs: &PropertyMap) -> Vec<CheckFailure> {
        let Some(schema) = self.of(kind) else { return Vec::new() };
        match schema.resource(kind) {
            Some(resource) => problems(&schema.package, &resource.inputs, inputs, Presence::Required),
            None => vec![schema.unknown(kind)],
        }
    }

    /// What is wrong with the arguments of a function or method.
    pub(super) fn arguments(&self, token: &str, arguments: &PropertyMap) -> Vec<CheckFailure> {
        let Some(schema) = self.of(token) else { return Vec::new() };
        let Some(function) = schema.function(token) else { return vec![schema.unknown(token)] };
        let declared = function.inputs.as_deref().unwrap_or_default();
        problems(&schema.package, declared, arguments, Presence::Required)
    }

    /// What is wrong with the configuration of a package's provider.
    pub(super) fn configuration(&self, package: &str, inputs: &PropertyMap) -> Vec<CheckFailure> {
        self.0.get(package).map(|schema| problems_of_config(&schema.package, inputs)).unwrap_or_default()
    }

    /// Looks at the outputs that a stub returned: they need not be complete.
    ///
    /// # Errors
    /// Names the outputs that the resource does not have, or that are of another type.
    pub(super) fn outputs(&self, kind: &str, outputs: &PropertyMap) -> std::result::Result<(), ProviderError> {
        let found = self.of(kind).and_then(|schema| Some((schema, schema.resource(kind)?)));
        let found = found.map(|(it, resource)| problems(&it.package, &resource.outputs, outputs, Presence::Partial));
        let mut found = found.unwrap_or_default();
        for problem in found.iter_mut().filter(|it| it.property == "id") {
            "it is the id, which is given beside the outputs: CreateResult(id, outs), or { id, outs }"
                .clone_into(&mut problem.reason);
        }
        returned(kind, &found)
    }

    /// Looks at what the stub of a function returned.
    ///
    /// # Errors
    /// Names the members that its result does not have, or that are of another type.
    pub(super) fn result(&self, token: &str, result: &PropertyMap) -> std::result::Result<(), ProviderError> {
        let found = self.of(token).and_then(|schema| Some((&schema.package, schema.function(token)?)));
        let found = found.map(|(package, function)| match &function.result {
            Some(Outcome::Object { properties, .. }) => problems(package, properties, result, Presence::Partial),
            // A value by itself travels as the only member of an object, whatever its name.
            Some(Outcome::Value { kind, .. }) if result.len() == 1 => {
                result.values().flat_map(|value| problems_of_value(package, kind, value)).collect()
            }
            Some(Outcome::Value { .. }) | None => Vec::new(),
        });
        returned(token, &found.unwrap_or_default())
    }
}

impl Schema {
    fn new(package: Package, file: PathBuf) -> Self {
        let resources = package.resources.iter().enumerate().map(|(at, it)| (it.token.text.clone(), at)).collect();
        let functions = package.functions.iter().enumerate().map(|(at, it)| (it.token.text.clone(), at)).collect();
        Self { package, file, resources, functions }
    }

    fn resource(&self, token: &str) -> Option<&Resource> {
        self.resources.get(token).map(|at| &self.package.resources[*at])
    }

    fn function(&self, token: &str) -> Option<&Function> {
        self.functions.get(token).map(|at| &self.package.functions[*at])
    }

    fn unknown(&self, token: &str) -> CheckFailure {
        CheckFailure { property: String::new(), reason: self.lacks(token) }
    }

    /// The end of a message about a token that is not there.
    fn lacks(&self, token: &str) -> String {
        let known = self.resources.keys().chain(self.functions.keys()).map(String::as_str);
        let near = nearest(token, known).map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
        format!("the schema of '{}' has no such resource or function{near}", self.package.name)
    }
}

/// What the schema of a plugin has against examples of a resource's inputs: `inputs[0].siz: ...`. Nothing, where it lists no
/// resources.
///
/// # Errors
/// In words: it is no schema, or has no such resource.
pub fn problems_of_examples(
    schema: &str,
    kind: &str,
    examples: &[Map<String, Json>],
) -> std::result::Result<Vec<String>, String> {
    let package = read(schema).map_err(|fault| fault.to_string())?;
    let schema = Schema::new(package, PathBuf::new());
    if schema.resources.is_empty() {
        return Ok(Vec::new());
    }
    let resource = schema.resource(kind).ok_or_else(|| schema.lacks(kind))?;
    let of_example = |(number, example): (usize, &Map<String, Json>)| {
        let found = problems(&schema.package, &resource.inputs, &read_map(example), Presence::Required);
        let told = found.into_iter().map(move |it| format!("inputs[{number}].{}: {}", it.property, it.reason));
        told.collect::<Vec<_>>()
    };
    Ok(examples.iter().enumerate().flat_map(of_example).collect())
}

fn returned(token: &str, problems: &[CheckFailure]) -> std::result::Result<(), ProviderError> {
    if problems.is_empty() {
        return Ok(());
    }
    let text = format!("the stub of '{token}' returned what does not fit: {}", told(problems));
    Err(ProviderError::new(ProviderErrorKind::BadReturn, text))
}

fn files(place: &Path) -> Result<Vec<PathBuf>> {
    if !place.is_dir() {
        return Ok(vec![place.to_owned()]);
    }
    let listed = std::fs::read_dir(place).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let listed: Vec<PathBuf> = listed.map_err(|error| unread(place, &error))?;
    let mut files: Vec<PathBuf> =
        listed.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "json")).collect();
    files.sort();
    if files.is_empty() {
        return Err(wrong(format!("there is no schema in {}: no file there ends in .json", place.display())));
    }
    Ok(files)
}

fn known(file: &Path) -> Result<Arc<Schema>> {
    let stamp = std::fs::metadata(file).map(|found| (found.modified().ok(), found.len()));
    let stamp = stamp.map_err(|error| unread(file, &error))?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, schema)) = known.get(file).filter(|(seen, _)| *seen == stamp) {
        return Ok(Arc::clone(schema));
    }
    let text = std::fs::read_to_string(file).map_err(|error| unread(file, &error))?;
    let package = read(&text).map_err(|fault| wrong(format!("{}: {fault}", file.display())))?;
    // A member that nobody reads would let everything pass.
    if let Some(fault) = misspelt(&text) {
        return Err(wrong(format!("{}: {fault}", file.display())));
    }
    let schema = Arc::new(Schema::new(package, file.to_owned()));
    known.insert(file.to_owned(), (stamp, Arc::clone(&schema)));
    Ok(schema)
}

fn unread(place: &Path, error: &std::io::Error) -> Error {
    wrong(format!(
        "the schema {} cannot be read: {error}; `maloko package get-schema NAME` prints one of a plugin",
        place.display()
    ))
}

fn wrong(text: String) -> Error {
    Error::Configuration(text.into())
}
