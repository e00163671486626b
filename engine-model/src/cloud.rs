//! The simulated cloud and its providers: what really exists, and how each provider method behaves. The engine's host
//! and the model each have one; after every step they must be equal.

use std::collections::BTreeMap;

use maloko_core::provider::{Answer, CheckFailure, DiffAnswer, Method, ProviderError, ProviderErrorKind};
use maloko_core::{PropertyMap, Value};

use crate::program::{Drift, Fault, FaultKind, Lifecycle};
use crate::provider_kind::{CheckMode, DiffMode, ProviderKind, ReadMode};

/// What a service does for those whose `create` is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// Nothing: each `create` makes an object.
    #[default]
    Plain,
    /// It knows the operation key, and gives the object that was made under it.
    Keys,
    /// Its objects can be looked for by the operation key: the provider has `find`.
    Finds,
}

/// An object of the cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The name of the resource that it was made for.
    pub name: String,
    /// Its properties, as last set.
    pub properties: PropertyMap,
    /// How often it was set; an output.
    pub version: u32,
    /// The configuration of the plugin that set it last; empty for dynamic providers.
    pub set_by: String,
}

/// Everything that exists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// Living objects by id.
    pub objects: BTreeMap<String, Object>,
    /// What it does for those whose `create` is repeated.
    pub service: Service,
    made: u32,
    /// The objects that were made under an operation key, where the service keeps them.
    keys: BTreeMap<String, String>,
}

/// What a call does with the cloud, and answers.
pub type Outcome = Result<Answer, ProviderError>;

/// The providers of a lifecycle with the faults of one step.
#[derive(Clone, Debug, Default)]
pub struct Providers {
    kinds: BTreeMap<String, ProviderKind>,
    faults: BTreeMap<(String, String), FaultKind>,
}

impl Providers {
    /// The providers in a step with these faults.
    #[must_use]
    pub fn new(lifecycle: &Lifecycle, faults: &[Fault]) -> Self {
        let faults = faults.iter().map(|fault| ((fault.resource.clone(), fault.method.clone()), fault.kind)).collect();
        Self { kinds: lifecycle.providers.clone(), faults }
    }

    /// How the provider of a resource behaves.
    #[must_use]
    pub fn kind(&self, name: &str) -> ProviderKind {
        self.kinds.get(name).copied().unwrap_or_default()
    }

    /// The fault of a method, if it has one in this step.
    #[must_use]
    pub fn fault(&self, name: &str, method: &str) -> Option<FaultKind> {
        self.faults.get(&(name.to_owned(), method.to_owned())).copied()
    }
}

/// Outputs of an object: its properties, its id as `out`, its version as `ver`.
fn outputs(id: &str, object: &Object) -> PropertyMap {
    let mut outputs = object.properties.clone();
    outputs.insert("out".to_owned(), Value::String(format!("out-{id}")));
    outputs.insert("ver".to_owned(), Value::String(format!("v{}", object.version)));
    outputs
}

/// Keys that an object's outputs have beside its properties.
fn computed(key: &str) -> bool {
    key == "out" || key == "ver"
}

fn raised(name: &str, method: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Raised, format!("{method} of {name} refused"))
}

fn died(name: &str, method: &str) -> ProviderError {
    ProviderError::new(ProviderErrorKind::Died, format!("the plugin ended in {method} of {name}"))
}

/// What a plugin foresees of an object: what the engine could not know by itself is unknown.
fn foreseen(id: Option<&String>, inputs: &PropertyMap) -> PropertyMap {
    let mut outputs = inputs.clone();
    outputs.insert("out".to_owned(), id.map_or(Value::Unknown, |id| Value::String(format!("out-{id}"))));
    outputs.insert("ver".to_owned(), Value::Unknown);
    outputs
}

/// What a provider resource's plugin answers where it is asked to check or compare configurations.
pub fn ask_provider(providers: &Providers, name: &str, method: &Method) -> Outcome {
    let fault = providers.fault(name, method.name());
    match (fault, method) {
        (Some(FaultKind::Dies | FaultKind::AnswerLost), _) => Err(died(name, method.name())),
        (Some(FaultKind::Raises), _) => Err(raised(name, method.name())),
        (fault, Method::Check { olds, news }) => Ok(check(providers.kind(name), fault, olds, news)),
        (_, Method::Diff { olds, news, .. }) => Ok(Answer::Diffed(diff(providers.kind(name), olds, news))),
        (_, other) => Err(raised(name, other.name())),
    }
}

/// Why a provider resource's plugin does not come up, if it does not.
pub fn start(providers: &Providers, name: &str) -> Result<(), ProviderError> {
    match providers.fault(name, "start") {
        Some(_) => {
            Err(ProviderError::new(ProviderErrorKind::NoProvider, format!("the plugin of {name} does not start")))
        }
        None => Ok(()),
    }
}

/// Why a plugin refuses its configuration, if it does.
pub fn configure(providers: &Providers, name: &str) -> Result<(), ProviderError> {
    providers.fault(name, "configure").map_or(Ok(()), |_| Err(raised(name, "configure")))
}

impl Cloud {
    /// An empty one.
    #[must_use]
    pub fn of(service: Service) -> Self {
        Self { service, ..Self::default() }
    }

    /// Changes an object behind the engine's back. `id` is the one that the state names.
    pub fn drift(&mut self, drift: &Drift, id: &str) {
        if drift.gone {
            self.objects.remove(id);
        } else if let Some(object) = self.objects.get_mut(id) {
            object.properties.insert("a".to_owned(), Value::from("drifted"));
        }
    }

    /// The id that was given last.
    #[must_use]
    pub fn newest(&self) -> Option<String> {
        (self.made > 0).then(|| format!("o{}", self.made))
    }

    /// Serves a call of a method of a dynamic provider.
    pub fn call(&mut self, providers: &Providers, name: &str, method: &Method) -> Outcome {
        self.serve(providers.kind(name), providers.fault(name, method.name()), name, method, "")
    }

    /// Serves a call of a plugin that has this configuration.
    pub fn call_plugin(
        &mut self,
        providers: &Providers,
        (name, configuration): (&str, &str),
        method: &Method,
        preview: bool,
    ) -> Outcome {
        let kind = providers.kind(name);
        let fault = providers.fault(name, method.name());
        match (method, fault) {
            (Method::Create { inputs, .. }, _) if preview => Ok(Answer::created("", foreseen(None, inputs))),
            (Method::Update { id, news, .. }, _) if preview => {
                Ok(Answer::Updated { outputs: foreseen(Some(id), news), read_first: false })
            }
            (_, Some(FaultKind::Dies)) => Err(died(name, method.name())),
            (_, Some(FaultKind::AnswerLost)) => {
                let _lost = self.serve(kind, None, name, method, configuration);
                Err(died(name, method.name()))
            }
            (Method::Read { id, props, .. }, None) if kind.read == ReadMode::Absent => {
                Ok(Answer::Read { id: id.clone(), outputs: Some(props.clone()), inputs: None, read_first: false })
            }
            _ => self.serve(kind, fault, name, method, configuration),
        }
    }

    fn serve(
        &mut self,
        kind: ProviderKind,
        fault: Option<FaultKind>,
        name: &str,
        method: &Method,
        configuration: &str,
    ) -> Outcome {
        if fault == Some(FaultKind::Raises) {
            return Err(raised(name, method.name()));
        }
        match method {
            Method::Configure { .. } => Ok(Answer::Configured),
            Method::Close => Ok(Answer::Closed),
            Method::Check { olds, news } => Ok(check(kind, fault, olds, news)),
            Method::Diff { olds, news, .. } => Ok(Answer::Diffed(diff(kind, olds, news))),
            Method::Create { inputs, key, .. } => self.create((name, configuration), fault, inputs, key),
            // Asked of providers that have the method, which is where the service keeps the keys.
            Method::Find { key, .. } => Ok(self.read(kind, self.keys.get(key).map_or("", String::as_str))),
            Method::Update { id, news, .. } => self.update((name, configuration), fault, id, news),
            Method::Read { id, .. } => match (fault, self.objects.get(id)) {
                (Some(_), Some(object)) => Err(not_initialized(id.clone(), outputs(id, object))),
                _ => Ok(self.read(kind, id)),
            },
            Method::Delete { id, .. } => {
                self.objects.remove(id);
                Ok(Answer::Deleted)
            }
        }
    }

    fn create(
        &mut self,
        (name, configuration): (&str, &str),
        fault: Option<FaultKind>,
        inputs: &PropertyMap,
        key: &str,
    ) -> Outcome {
        // A plugin is told no operation key.
        let known = self
            .keys
            .get(key)
            .filter(|_| configuration.is_empty())
            .filter(|id| self.service == Service::Keys && self.objects.contains_key(*id));
        let id = known.cloned().unwrap_or_else(|| {
            self.made += 1;
            format!("o{}", self.made)
        });
        let object =
            Object { name: name.to_owned(), properties: inputs.clone(), version: 1, set_by: configuration.to_owned() };
        let outputs = outputs(&id, &object);
        self.objects.insert(id.clone(), object);
        if self.service != Service::Plain && configuration.is_empty() {
            self.keys.insert(key.to_owned(), id.clone());
        }
        match fault {
            Some(FaultKind::NoId) => Ok(Answer::created("", outputs)),
            Some(_) => Err(not_initialized(id, outputs)),
            None => Ok(Answer::created(id, outputs)),
        }
    }

    fn update(
        &mut self,
        (name, configuration): (&str, &str),
        fault: Option<FaultKind>,
        id: &str,
        news: &PropertyMap,
    ) -> Outcome {
        let Some(object) = self.objects.get_mut(id) else { return Err(raised(name, "update")) };
        object.properties = news.clone();
        object.version += 1;
        configuration.clone_into(&mut object.set_by);
        let outputs = outputs(id, object);
        if fault.is_some() {
            Err(not_initialized(String::new(), outputs))
        } else {
            Ok(Answer::Updated { outputs, read_first: false })
        }
    }

    fn read(&self, kind: ProviderKind, id: &str) -> Answer {
        let Some(object) = self.objects.get(id) else {
            return Answer::Read { id: String::new(), outputs: None, inputs: None, read_first: false };
        };
        let inputs = (kind.read == ReadMode::Inputs).then(|| object.properties.clone());
        Answer::Read { id: id.to_owned(), outputs: Some(outputs(id, object)), inputs, read_first: false }
    }
}

fn not_initialized(id: String, properties: PropertyMap) -> ProviderError {
    let kind = ProviderErrorKind::NotInitialized {
        id,
        properties,
        reasons: vec!["no power".to_owned()],
        inputs: None,
        read_first: false,
    };
    ProviderError::new(kind, "it did not start")
}

fn check(kind: ProviderKind, fault: Option<FaultKind>, olds: &PropertyMap, news: &PropertyMap) -> Answer {
    let mut inputs = news.clone();
    match kind.check {
        CheckMode::Echo | CheckMode::Absent => {}
        CheckMode::Defaults => {
            inputs.entry("size".to_owned()).or_insert(Value::Number(1.0));
        }
        CheckMode::Keeps => {
            let kept = olds.get("auto").cloned();
            let chosen = kept.unwrap_or_else(|| news.get("a").cloned().unwrap_or_else(|| Value::from("auto")));
            inputs.insert("auto".to_owned(), chosen);
        }
    }
    let failures = match fault {
        Some(_) => vec![CheckFailure { property: "a".to_owned(), reason: "not today".to_owned() }],
        None => Vec::new(),
    };
    Answer::Checked { inputs, failures }
}

fn diff(kind: ProviderKind, olds: &PropertyMap, news: &PropertyMap) -> DiffAnswer {
    let gone = olds.keys().filter(|key| !computed(key) && !news.contains_key(*key));
    let different: Vec<String> =
        news.keys().filter(|key| olds.get(*key) != news.get(*key)).chain(gone).cloned().collect();
    let zone: Vec<String> = different.iter().filter(|key| *key == "zone" || *key == "from").cloned().collect();
    let whatever = || vec!["zone".to_owned()];
    let (changes, replaces) = match kind.diff {
        DiffMode::Exact => (Some(!different.is_empty()), zone),
        DiffMode::Ask => (None, zone),
        DiffMode::AskReplacing => (None, whatever()),
        DiffMode::Always => (Some(true), Vec::new()),
        DiffMode::AlwaysReplacing => (Some(true), whatever()),
        DiffMode::Never => (Some(false), Vec::new()),
        DiffMode::NeverReplacing => (Some(false), whatever()),
        DiffMode::Absent => (None, Vec::new()),
    };
    let stables = if kind.stable { vec!["out".to_owned()] } else { Vec::new() };
    DiffAnswer { changes, replaces, stables, delete_before_replace: kind.delete_first, detailed: None }
}
