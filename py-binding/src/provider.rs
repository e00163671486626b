//! The live provider objects of a Python process, as the engine asks for them.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_cli::Language;
use maloko_core::event::Severity;
use maloko_core::message::Code;
use maloko_core::provider::{
    Answer, CheckFailure, DiffAnswer, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError,
    ProviderErrorKind, ProviderHost, ProviderReference, SerializedProvider,
};
use maloko_core::{Engine, PropertyMap};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::callback::call_python;
use crate::convert::{Reader, Refused, Style, properties_to_python};
use crate::described::Described;
use crate::error::{host_error, internal_error};
use crate::runtime::{Pool, current_context, leave_event_loop, lock};

/// The [`ProviderHost`] of a Python process, or of one run in it.
pub(crate) struct PythonHost {
    /// `maloko._run.host.Host`: the registry of live objects and the functions that call them.
    bridge: Py<PyAny>,
    pool: Arc<Pool>,
    engine: Mutex<Weak<Engine>>,
    style: OnceLock<Style>,
}

impl PythonHost {
    /// A host over a `maloko._run.host.Host`.
    pub(crate) fn new(py: Python<'_>, bridge: Py<PyAny>) -> PyResult<Arc<Self>> {
        let pool = Pool::new(bridge.getattr(py, "start_worker")?);
        Ok(Arc::new(Self { bridge, pool, engine: Mutex::default(), style: OnceLock::new() }))
    }

    /// Tells the host which engine it serves.
    pub(crate) fn bind(&self, engine: &Arc<Engine>) {
        *lock(&self.engine) = Arc::downgrade(engine);
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
            let engine = lock(&self.engine).upgrade();
            let setting = engine.as_ref().and_then(|engine| engine.operation().config.get("maloko:integers"));
            Style { integers: setting.is_some_and(|value| value.value == "true") }
        })
    }

    fn warn(&self, urn: &str, method: &str, warnings: &[String]) {
        if let Some(engine) = lock(&self.engine).upgrade() {
            for warning in warnings {
                engine.log(urn, Severity::Warning, &format!("{method} returned a value to look at: {warning}"), false);
            }
        }
    }

    fn arguments<'py>(&self, py: Python<'py>, method: &Method) -> PyResult<Bound<'py, PyTuple>> {
        let style = self.style();
        let bag = |properties| properties_to_python(py, properties, style);
        match method {
            Method::Configure { config, project } => {
                let values = PyDict::new(py);
                for (key, value) in config.iter() {
                    values.set_item(key, value)?;
                }
                (values, project).into_pyobject(py)
            }
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

    fn read_answer(&self, urn: &str, method: &str, answer: &Bound<'_, PyAny>) -> Result<Answer, ProviderError> {
        let mut warnings = Vec::new();
        let read = decode(method, answer, &mut warnings);
        self.warn(urn, method, &warnings);
        read.unwrap_or_else(|refused| Err(ProviderError::new(ProviderErrorKind::BadReturn, not_kept(method, &refused))))
    }
}

/// Reads what `maloko._providers.calls` made of a method's result: a tuple that begins with its kind.
fn decode(
    method: &str,
    answer: &Bound<'_, PyAny>,
    warnings: &mut Vec<String>,
) -> Result<Result<Answer, ProviderError>, Refused> {
    let answer = answer.cast::<PyTuple>().map_err(PyErr::from)?;
    let item = |index: usize| answer.get_item(index);
    let kind: String = item(0)?.extract()?;
    Ok(Ok(match kind.as_str() {
        "configured" => Answer::Configured,
        "checked" => Answer::Checked {
            inputs: Reader::new("inputs", true, warnings).properties(&item(1)?)?,
            failures: item(2)?
                .extract::<Vec<(String, String)>>()?
                .into_iter()
                .map(|(property, reason)| CheckFailure { property, reason })
                .collect(),
        },
        "diffed" => Answer::Diffed(DiffAnswer {
            changes: item(1)?.extract()?,
            replaces: item(2)?.extract()?,
            stables: item(3)?.extract()?,
            delete_before_replace: item(4)?.extract()?,
        }),
        "created" => {
            let id: String = item(1)?.extract()?;
            match outputs(method, &id, &item(2)?, warnings) {
                Ok(outputs) => Answer::Created { id, outputs },
                Err(error) => return Ok(Err(error)),
            }
        }
        "read" => Answer::Read {
            id: item(1)?.extract()?,
            outputs: optional(&item(2)?, |outs| Reader::new("outs", false, warnings).properties(outs))?,
            inputs: optional(&item(3)?, |inputs| Reader::new("inputs", false, warnings).properties(inputs))?,
        },
        "updated" => match outputs(method, "", &item(1)?, warnings) {
            Ok(outputs) => Answer::Updated { outputs },
            Err(error) => return Ok(Err(error)),
        },
        "deleted" => Answer::Deleted,
        "closed" => Answer::Closed,
        "bad" => return Ok(Err(ProviderError::new(ProviderErrorKind::BadReturn, item(1)?.extract::<String>()?))),
        "unreadable" => {
            let kind = ProviderErrorKind::Unreadable { returned: item(2)?.extract()?, id: item(3)?.extract()? };
            return Ok(Err(ProviderError::new(kind, item(1)?.extract::<String>()?)));
        }
        "raised" => return Ok(Err(raised(answer)?)),
        // Nothing was called: this run can have no object of its own.
        "refused" => {
            return Ok(Err(ProviderError { kind: ProviderErrorKind::NoProvider, ..raised(answer)? }));
        }
        "interrupted" => {
            return Ok(Err(ProviderError { kind: ProviderErrorKind::Interrupted, ..raised(answer)? }));
        }
        "partial" => {
            let mut error = raised(answer)?;
            let id: String = item(4)?.extract()?;
            let mut reasons: Vec<String> = item(6)?.extract()?;
            let properties = outputs(method, &id, &item(5)?, warnings).unwrap_or_else(|unusable| {
                reasons.push(unusable.message.into());
                match unusable.kind {
                    ProviderErrorKind::UnusableOutputs { properties, .. } => properties,
                    _ => PropertyMap::new(),
                }
            });
            error.kind = ProviderErrorKind::NotInitialized { id, properties, reasons };
            return Ok(Err(error));
        }
        other => return Err(Refused(format!("the answer '{other}' to {method} is not one of ours"))),
    }))
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

fn not_kept(method: &str, Refused(reason): &Refused) -> String {
    format!("{method} returned a value that cannot be kept: {reason}")
}

fn optional<T>(
    object: &Bound<'_, PyAny>,
    read: impl FnOnce(&Bound<'_, PyAny>) -> Result<T, Refused>,
) -> Result<Option<T>, Refused> {
    if object.is_none() { Ok(None) } else { read(object).map(Some) }
}

/// The error in `(kind, message, traceback, exception, ...)`.
fn raised(answer: &Bound<'_, PyTuple>) -> PyResult<ProviderError> {
    Ok(ProviderError {
        kind: ProviderErrorKind::Raised,
        message: answer.get_item(1)?.extract::<String>()?.into(),
        traceback: answer.get_item(2)?.extract()?,
        source: Some(host_error(answer.get_item(3)?.unbind())),
    })
}

/// Why an object was not found or made again: a factory raised, or the module could not be loaded.
fn not_rebuilt(answer: &Bound<'_, PyTuple>) -> PyResult<ProviderError> {
    let mut error = raised(answer)?;
    if answer.get_item(0)?.extract::<String>()? == "unloadable" {
        error.kind = ProviderErrorKind::NoProvider;
    }
    Ok(error)
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
                if answer.is_instance_of::<PyTuple>() {
                    let answer = answer.cast::<PyTuple>().map_err(|error| internal_error(py, &error.into()))?;
                    return Err(not_rebuilt(answer).unwrap_or_else(|error| internal_error(py, &error)));
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
            let describe = || self.bridge.bind(py).call_method1("describe", (object,))?.extract::<Described>();
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
            |py, answer| {
                if let Ok((text, secret)) = answer.extract::<(String, bool)>() {
                    return Ok(SerializedProvider { text, secret });
                }
                let answer = answer.cast::<PyTuple>().map_err(|error| internal_error(py, &error.into()))?;
                Err(raised(answer).unwrap_or_else(|error| internal_error(py, &error)))
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
                let answer = self
                    .bridge
                    .bind(py)
                    .call_method1("call", (object, call.number, urn, method, arguments, context, completion, key));
                match answer {
                    Ok(answer) if answer.is_none() => Ok(None),
                    Ok(answer) => Ok(Some(answer.unbind())),
                    // Nothing is known of what was done before this could get out: the method may have been called.
                    Err(error) => {
                        let text =
                            format!("what became of {method} is not known, because maloko's own code failed: {error}");
                        Ok(Some(("bad", text).into_pyobject(py)?.into_any().unbind()))
                    }
                }
            },
            |_py, answer| self.read_answer(urn, method, answer),
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
            |py, answer| {
                if let Ok(bytes) = answer.cast::<PyBytes>() {
                    return Ok(bytes.as_bytes().to_vec());
                }
                let answer = answer.cast::<PyTuple>().map_err(|error| internal_error(py, &error.into()))?;
                Err(raised(answer).unwrap_or_else(|error| internal_error(py, &error)))
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

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.pool.spawn(task);
    }
}
