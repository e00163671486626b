//! The live provider objects of a Python process, as the engine asks for them.

use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_cli::Language;
use maloko_core::event::Severity;
use maloko_core::message::Code;
use maloko_core::provider::{
    self, Answer, CheckFailure, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind,
    ProviderHost, ProviderReference, SerializedProvider, Spawner, Transience,
};
use maloko_core::{ProgramEngine, PropertyMap};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::answer::{
    CallFailure, Cause, CheckAnswer, CreateAnswer, DiffAnswer, EmptyAnswer, PartialCallFailure, ReadAnswer,
    RejectedInput, SerializedObject, UnusableAnswer, UpdateAnswer,
};
use crate::callback::call_python;
use crate::convert::{Reader, ReturnedValueError, Style, properties_to_python};
use crate::description::PythonDescription;
use crate::error::{host_error, internal_error};
use crate::pool::Pool;
use crate::runtime::{current_context, leave_event_loop, lock};

/// The [`ProviderHost`] of a Python process, or of one run in it.
pub(crate) struct PythonHost {
    /// `maloko._run.host.Host`: the registry of live objects and the functions that call them.
    bridge: Py<PyAny>,
    pool: Arc<Pool>,
    engine: Mutex<Option<Weak<dyn ProgramEngine>>>,
    style: OnceLock<Style>,
}

impl PythonHost {
    /// A host over a `maloko._run.host.Host`.
    pub(crate) fn new(py: Python<'_>, bridge: Py<PyAny>) -> PyResult<Arc<Self>> {
        let pool = Pool::new(bridge.getattr(py, "start_worker")?);
        Ok(Arc::new(Self { bridge, pool, engine: Mutex::default(), style: OnceLock::new() }))
    }

    /// Tells the host which engine it serves.
    pub(crate) fn bind(&self, engine: &Arc<dyn ProgramEngine>) {
        *lock(&self.engine) = Some(Arc::downgrade(engine));
    }

    fn engine(&self) -> Option<Arc<dyn ProgramEngine>> {
        lock(&self.engine).as_ref().and_then(Weak::upgrade)
    }

    /// The threads on which provider methods run.
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// The `maloko._run.host.Host`.
    pub(crate) fn bridge(&self) -> &Py<PyAny> {
        &self.bridge
    }

    fn style(&self) -> Style {
        *self.style.get_or_init(|| {
            let engine = self.engine();
            let setting = engine.as_ref().and_then(|engine| engine.operation().config.get("maloko:integers"));
            Style { integers: setting.is_some_and(|value| value.value == "true") }
        })
    }

    fn warn(&self, urn: &str, method: &str, warnings: &[String]) {
        if let Some(engine) = self.engine() {
            for warning in warnings {
                engine.log(urn, Severity::Warning, &format!("{method} returned a value to look at: {warning}"), false);
            }
        }
    }

    fn arguments<'py>(&self, py: Python<'py>, method: &Method) -> PyResult<Bound<'py, PyTuple>> {
        let style = self.style();
        let bag = |properties| properties_to_python(py, properties, style);
        match method {
            Method::Configure { config, project } => (bag(config)?, project).into_pyobject(py),
            Method::Check { olds, news } => (bag(olds)?, bag(news)?).into_pyobject(py),
            Method::Close => Ok(PyTuple::empty(py)),
            Method::Diff { id, olds, news } | Method::Update { id, olds, news, .. } => {
                (id, bag(olds)?, bag(news)?).into_pyobject(py)
            }
            Method::Create { inputs, .. } => (bag(inputs)?,).into_pyobject(py),
            Method::Find { key, inputs, .. } => (key, bag(inputs)?).into_pyobject(py),
            Method::Read { id, props, .. } | Method::Delete { id, props, .. } => (id, bag(props)?).into_pyobject(py),
        }
    }

    fn read_answer(&self, urn: &str, method: &Method, answer: &Bound<'_, PyAny>) -> Result<Answer, ProviderError> {
        let mut warnings = Vec::new();
        let read = decode(method, answer, &mut warnings);
        self.warn(urn, method.name(), &warnings);
        read.unwrap_or_else(|refused| {
            Err(ProviderError::new(ProviderErrorKind::BadReturn, not_kept(method.name(), &refused)))
        })
    }
}

/// Reads what `maloko._providers.calls` made of a method's result: one of the classes of `answer.rs`.
fn decode(
    method: &Method,
    answer: &Bound<'_, PyAny>,
    warnings: &mut Vec<String>,
) -> Result<Result<Answer, ProviderError>, ReturnedValueError> {
    let py = answer.py();
    if let Ok(failed) = answer.cast::<CallFailure>() {
        return Ok(Err(failure(failed.get(), py)));
    }
    if let Ok(partial) = answer.cast::<PartialCallFailure>() {
        return Ok(Err(failed_in_part(method.name(), partial.get(), py, warnings)));
    }
    if let Ok(unusable) = answer.cast::<UnusableAnswer>() {
        return Ok(Err(not_usable(unusable.get())));
    }
    Ok(Ok(match method {
        Method::Configure { .. } => expect::<EmptyAnswer>(answer).map(|_| Answer::Configured)?,
        Method::Delete { .. } => expect::<EmptyAnswer>(answer).map(|_| Answer::Deleted)?,
        Method::Close => expect::<EmptyAnswer>(answer).map(|_| Answer::Closed)?,
        Method::Check { .. } => {
            let CheckAnswer { inputs, failures } = expect(answer)?;
            Answer::Checked {
                inputs: Reader::new("inputs", true, warnings).properties(inputs.bind(py))?,
                failures: failures.iter().map(|it| it.get().into()).collect(),
            }
        }
        Method::Diff { .. } => {
            let DiffAnswer { changes, replaces, stables, delete_before_replace } = expect(answer)?;
            Answer::Diffed(provider::DiffAnswer {
                changes: *changes,
                replaces: replaces.clone(),
                stables: stables.clone(),
                delete_before_replace: *delete_before_replace,
                detailed: None,
            })
        }
        Method::Create { .. } => {
            let CreateAnswer { id, outs } = expect(answer)?;
            match outputs(method.name(), id, outs.bind(py), warnings) {
                Ok(outputs) => Answer::Created { id: id.clone(), outputs, read_first: false },
                Err(error) => return Ok(Err(error)),
            }
        }
        Method::Update { .. } => {
            match outputs(method.name(), "", expect::<UpdateAnswer>(answer)?.outs.bind(py), warnings) {
                Ok(outputs) => Answer::Updated { outputs, read_first: false },
                Err(error) => return Ok(Err(error)),
            }
        }
        Method::Read { .. } | Method::Find { .. } => {
            let ReadAnswer { id, outs, inputs } = expect(answer)?;
            let mut bag = |name, bag: &Option<Py<PyAny>>| {
                bag.as_ref().map(|bag| Reader::new(name, false, warnings).properties(bag.bind(py))).transpose()
            };
            Answer::Read {
                id: id.clone(),
                outputs: bag("outs", outs)?,
                inputs: bag("inputs", inputs)?,
                read_first: false,
            }
        }
    }))
}

/// The answer as the class that the method has.
fn expect<'a, Kind>(answer: &'a Bound<'_, PyAny>) -> Result<&'a Kind, ReturnedValueError>
where
    Kind: PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Sync,
{
    let of_kind = answer.cast::<Kind>().map_err(PyErr::from)?;
    Ok(of_kind.get())
}

impl From<&RejectedInput> for CheckFailure {
    fn from(RejectedInput { name, reason }: &RejectedInput) -> Self {
        Self { property: name.clone(), reason: reason.clone() }
    }
}

fn not_usable(UnusableAnswer { message, returned, id }: &UnusableAnswer) -> ProviderError {
    let kind = match returned {
        Some(returned) => ProviderErrorKind::Unreadable { returned: returned.clone(), id: id.clone() },
        None => ProviderErrorKind::BadReturn,
    };
    ProviderError::new(kind, message.clone())
}

fn failed_in_part(
    method: &str,
    partial: &PartialCallFailure,
    py: Python<'_>,
    warnings: &mut Vec<String>,
) -> ProviderError {
    let mut reasons = partial.reasons.clone();
    let properties = outputs(method, &partial.id, partial.outs.bind(py), warnings).unwrap_or_else(|unusable| {
        reasons.push(unusable.message.into());
        match unusable.kind {
            ProviderErrorKind::UnusableOutputs { properties, .. } => properties,
            _ => PropertyMap::new(),
        }
    });
    let kind = ProviderErrorKind::NotInitialized {
        id: partial.id.clone(),
        properties,
        reasons,
        inputs: None,
        read_first: false,
    };
    ProviderError { kind, ..failure(partial.failure.get(), py) }
}

/// The outputs of a create or update. Where not all of them can be kept, the object that was made must not be lost.
fn outputs(
    method: &str,
    id: &str,
    outs: &Bound<'_, PyAny>,
    warnings: &mut Vec<String>,
) -> Result<PropertyMap, ProviderError> {
    let read = Reader::new("outs", false, warnings).properties(outs);
    read.map_err(|refused| {
        let properties = Reader::new("outs", false, &mut Vec::new()).usable(outs);
        ProviderError::new(
            ProviderErrorKind::UnusableOutputs { id: id.to_owned(), properties },
            not_kept(method, &refused),
        )
    })
}

fn not_kept(method: &str, ReturnedValueError(reason): &ReturnedValueError) -> String {
    format!("{method} returned a value that cannot be kept: {reason}")
}

/// The engine's error for an exception.
fn failure(failed: &CallFailure, py: Python<'_>) -> ProviderError {
    ProviderError {
        kind: match failed.cause {
            Cause::Raised => ProviderErrorKind::Raised,
            Cause::Refused | Cause::Unloadable => ProviderErrorKind::NoProvider,
            Cause::Interrupted => ProviderErrorKind::Interrupted,
        },
        message: failed.message.clone().into(),
        traceback: failed.traceback.clone(),
        source: Some(host_error(failed.error.clone_ref(py))),
        transience: failed.transient.then(|| {
            // None where it is more than a clock can count.
            let retry_after = failed.retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            Box::new(Transience { retry_after })
        }),
    }
}

/// The engine's error for an answer that has to be an exception, as it is nothing else.
fn must_be_failure(answer: &Bound<'_, PyAny>) -> ProviderError {
    match answer.cast::<CallFailure>() {
        Ok(failed) => failure(failed.get(), answer.py()),
        Err(error) => internal_error(answer.py(), &error.into()),
    }
}

impl PythonHost {
    /// Asks the package for the object of a reference, which may load modules of the program.
    async fn look_up(
        &self,
        reference: &ProviderReference,
        method: &'static str,
    ) -> Result<Option<ObjectId>, ProviderError> {
        leave_event_loop().await;
        call_python(
            |py, _completion| {
                self.pool.keep_one_idle(py)?;
                let arguments = (
                    &reference.language,
                    &reference.module,
                    &reference.name,
                    reference.attributes.as_deref(),
                    reference.incomplete.as_deref(),
                );
                self.bridge.bind(py).call_method1(method, arguments).map(|answer| Some(answer.unbind()))
            },
            |py, answer| {
                if let Ok(failed) = answer.cast::<CallFailure>() {
                    return Err(failure(failed.get(), py));
                }
                answer.extract().map_err(|error: PyErr| internal_error(py, &error))
            },
        )
        .await
    }
}

#[async_trait]
impl ProviderHost for PythonHost {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        Python::attach(|py| {
            let describe = || self.bridge.bind(py).call_method1("describe", (object,))?.extract::<PythonDescription>();
            describe().map(ProviderDescription::from).map_err(|error| internal_error(py, &error))
        })
    }

    async fn find(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Python::attach(|py| {
            let arguments = (&reference.language, &reference.module, &reference.name, reference.attributes.as_deref());
            let find = || self.bridge.bind(py).call_method1("find", arguments)?.extract();
            find().map_err(|error: PyErr| internal_error(py, &error))
        })
    }

    async fn rebuild(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.look_up(reference, "rebuild").await
    }

    async fn named(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.look_up(reference, "named").await
    }

    async fn is_by_hand(&self, reference: &ProviderReference) -> Result<bool, ProviderError> {
        Python::attach(|py| {
            let arguments = (&reference.language, &reference.module, &reference.name);
            let ask = || self.bridge.bind(py).call_method1("is_by_hand", arguments)?.extract();
            ask().map_err(|error: PyErr| internal_error(py, &error))
        })
    }

    async fn serialize(&self, object: ObjectId) -> Result<SerializedProvider, ProviderError> {
        leave_event_loop().await;
        call_python(
            |py, _completion| {
                self.pool.keep_one_idle(py)?;
                self.bridge.bind(py).call_method1("serialize", (object,)).map(|it| Some(it.unbind()))
            },
            |_py, answer| match answer.cast::<SerializedObject>() {
                Ok(it) => Ok(SerializedProvider { text: it.get().text.clone(), secret: it.get().secret }),
                Err(_) => Err(must_be_failure(answer)),
            },
        )
        .await
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        leave_event_loop().await;
        let urn = call.urn.as_str();
        let method = call.method.name();
        let context = current_context();
        call_python(
            |py, completion| {
                self.pool.keep_one_idle(py)?;
                let arguments = self.arguments(py, &call.method)?;
                let context = context.as_ref().map(|context| context.bind(py));
                let key = if let Method::Create { key, .. } = &call.method { key.as_str() } else { "" };
                let trace = call.trace.as_ref().map(|trace| (&*trace.parent, trace.state.as_deref()));
                let object = (object, call.configuration);
                let given = (object, call.number, urn, method, arguments, context, completion, key, trace);
                let answer = self.bridge.bind(py).call_method1("call", given);
                match answer {
                    Ok(answer) if answer.is_none() => Ok(None),
                    Ok(answer) => Ok(Some(answer.unbind())),
                    // Nothing is known of what was done before this could get out: the method may have been called.
                    Err(error) => {
                        let text =
                            format!("what became of {method} is not known, because maloko's own code failed: {error}");
                        let unusable = UnusableAnswer { message: text, returned: None, id: String::new() };
                        Ok(Some(Py::new(py, unusable)?.into_any()))
                    }
                }
            },
            |_py, answer| self.read_answer(urn, &call.method, answer),
        )
        .await
    }

    async fn callback(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        call_python(
            |py, completion| {
                let request = PyBytes::new(py, &request);
                self.bridge.bind(py).call_method1("callback", (token, request, completion))?;
                Ok(None)
            },
            |_py, answer| match answer.cast::<PyBytes>() {
                Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
                Err(_) => Err(must_be_failure(answer)),
            },
        )
        .await
    }

    fn cancel(&self, calls: &[u64]) {
        // An interpreter that shuts down has no calls left.
        let _ = Python::try_attach(|py| {
            if let Err(error) = self.bridge.bind(py).call_method1("cancel", (calls.to_vec(),)) {
                error.write_unraisable(py, None);
            }
        });
    }

    fn code(&self, code: Code) -> String {
        Language::Python.code(code).to_owned()
    }

    fn spawner_here(&self) -> Option<Spawner> {
        let (pool, context) = (Arc::clone(&self.pool), current_context());
        Some(Box::new(move |task| pool.spawn_in(context.clone(), task)))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.pool.spawn(task);
    }
}
