//! What a call of a provider's method came to, in the types that Python makes and this side reads.
//!
//! Each is a class of the native module, so that its members have names and types on both sides of the border, and the
//! `.pyi` is written from them.

use pyo3::prelude::*;

/// `check` answered.
#[pyclass(frozen, get_all, module = "maloko._maloko")]
pub(crate) struct CheckAnswer {
    /// What the resource is made of; `None` where there are failures only.
    pub(crate) inputs: Py<PyAny>,
    /// What is wrong with the inputs: the property and the reason of each.
    pub(crate) failures: Vec<Py<RejectedInput>>,
}

#[pymethods]
impl CheckAnswer {
    #[new]
    #[pyo3(signature = (inputs: "object", failures: "list[RejectedInput]"))]
    fn new(inputs: Py<PyAny>, failures: Vec<Py<RejectedInput>>) -> Self {
        Self { inputs, failures }
    }
}

/// One input that `check` does not accept.
#[pyclass(frozen, get_all, module = "maloko._maloko")]
pub(crate) struct RejectedInput {
    /// The property's name; empty where it is about all of them.
    pub(crate) name: String,
    /// What is wrong with it.
    pub(crate) reason: String,
}

#[pymethods]
impl RejectedInput {
    #[new]
    fn new(name: String, reason: String) -> Self {
        Self { name, reason }
    }
}

/// `diff` answered.
#[pyclass(frozen, get_all, module = "maloko._maloko")]
pub(crate) struct DiffAnswer {
    /// Is anything to be done? `None`: the engine is to compare.
    pub(crate) changes: Option<bool>,
    /// The properties whose change replaces the object.
    pub(crate) replaces: Vec<String>,
    /// The outputs that stay as they are.
    pub(crate) stables: Vec<String>,
    /// Is the old object to go before the new one is made?
    pub(crate) delete_before_replace: Option<bool>,
}

#[pymethods]
impl DiffAnswer {
    #[new]
    fn new(
        changes: Option<bool>,
        replaces: Vec<String>,
        stables: Vec<String>,
        delete_before_replace: Option<bool>,
    ) -> Self {
        Self { changes, replaces, stables, delete_before_replace }
    }
}

/// `create` answered.
#[pyclass(frozen, get_all, module = "maloko._maloko")]
pub(crate) struct CreateAnswer {
    /// The object's id.
    pub(crate) id: String,
    /// Its outputs, as the method returned them.
    pub(crate) outs: Py<PyAny>,
}

#[pymethods]
impl CreateAnswer {
    #[new]
    #[pyo3(signature = (id: "str", outs: "object"))]
    fn new(id: String, outs: Py<PyAny>) -> Self {
        Self { id, outs }
    }
}

/// `read` or `find` answered.
#[pyclass(frozen, get_all, module = "maloko._maloko")]
pub(crate) struct ReadAnswer {
    /// The object's id; empty where there is no object.
    pub(crate) id: String,
    /// Its outputs, as the method returned them.
    pub(crate) outs: Option<Py<PyAny>>,
    /// Its inputs, where the method says them.
    pub(crate) inputs: Option<Py<PyAny>>,
}

#[pymethods]
impl ReadAnswer {
    #[new]
    #[pyo3(signature = (id: "str", outs: "object | None", inputs: "object | None"))]
    fn new(id: String, outs: Option<Py<PyAny>>, inputs: Option<Py<PyAny>>) -> Self {
        Self { id, outs, inputs }
    }
}

/// `update` answered.
#[pyclass(frozen, get_all, module = "maloko._maloko")]
pub(crate) struct UpdateAnswer {
    /// The object's outputs, as the method returned them.
    pub(crate) outs: Py<PyAny>,
}

#[pymethods]
impl UpdateAnswer {
    #[new]
    #[pyo3(signature = (outs: "object"))]
    fn new(outs: Py<PyAny>) -> Self {
        Self { outs }
    }
}

/// `configure`, `delete` or `close` came to its end.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct EmptyAnswer;

#[pymethods]
impl EmptyAnswer {
    #[new]
    fn new() -> Self {
        Self
    }
}

/// An object as the SDK itself would have stored it.
#[pyclass(frozen, get_all, module = "maloko._maloko")]
pub(crate) struct SerializedObject {
    /// The text.
    pub(crate) text: String,
    /// Is it to be a secret?
    pub(crate) secret: bool,
}

#[pymethods]
impl SerializedObject {
    #[new]
    fn new(text: String, secret: bool) -> Self {
        Self { text, secret }
    }
}

/// A method returned what cannot be used.
#[pyclass(frozen, get_all, module = "maloko._maloko")]
pub(crate) struct UnusableAnswer {
    /// What is wrong with it.
    pub(crate) message: String,
    /// For a `create`, whose object is there all the same: what it returned.
    pub(crate) returned: Option<String>,
    /// For a `create`: the id that seems to be in what it returned; empty when there is none.
    pub(crate) id: String,
}

#[pymethods]
impl UnusableAnswer {
    #[new]
    #[pyo3(signature = (message: "str", returned: "str | None" = None, id: "str" = String::new()))]
    fn new(message: String, returned: Option<String>, id: String) -> Self {
        Self { message, returned, id }
    }
}

/// Why there is no answer but an exception.
#[pyclass(frozen, eq, from_py_object, module = "maloko._maloko")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// User code raised it.
    Raised,
    /// Nothing was called: the run can have no object of its own.
    Refused,
    /// The module of the provider could not be loaded.
    Unloadable,
    /// The call was cancelled, and ended by that.
    Interrupted,
}

/// A call, or a look for an object, ended with an exception.
#[pyclass(frozen, get_all, module = "maloko._maloko")]
pub(crate) struct CallFailure {
    /// Why.
    pub(crate) cause: Cause,
    /// What it says.
    pub(crate) message: String,
    /// Its traceback, without our own frames.
    pub(crate) traceback: String,
    /// The exception.
    pub(crate) error: Py<PyAny>,
    /// May it pass, as the provider says?
    pub(crate) transient: bool,
    /// After so many seconds, where that is known.
    pub(crate) retry_after: Option<f64>,
}

#[pymethods]
impl CallFailure {
    #[new]
    #[pyo3(signature = (
        cause: "Cause", message: "str", traceback: "str", error: "BaseException", transient: "bool" = false, retry_after: "float | None" = None
    ))]
    fn new(
        cause: Cause,
        message: String,
        traceback: String,
        error: Py<PyAny>,
        transient: bool,
        retry_after: Option<f64>,
    ) -> Self {
        Self { cause, message, traceback, error, transient, retry_after }
    }
}

/// A call raised `PartialFailure`: the object is there, and not as it should be.
#[pyclass(frozen, get_all, module = "maloko._maloko")]
pub(crate) struct PartialCallFailure {
    /// How it failed.
    pub(crate) failure: Py<CallFailure>,
    /// The object's id.
    pub(crate) id: String,
    /// Its outputs so far.
    pub(crate) outs: Py<PyAny>,
    /// What is left to do, in words.
    pub(crate) reasons: Vec<String>,
}

#[pymethods]
impl PartialCallFailure {
    #[new]
    #[pyo3(signature = (failure: "CallFailure", id: "str", outs: "object", reasons: "list[str]"))]
    fn new(failure: Py<CallFailure>, id: String, outs: Py<PyAny>, reasons: Vec<String>) -> Self {
        Self { failure, id, outs, reasons }
    }
}
