//! Property values to and from Python objects, without a detour over JSON.

use std::fmt::Write as _;

use maloko_core::PropertyMap;
use maloko_core::value::{
    Archive, ArchiveSource, Asset, AssetSource, MAX_DEPTH, NO_BYTES_FOR_PROVIDERS, SIGNATURE_KEY, UNKNOWN_TEXTS, Value,
    from_marked, refuse_marked,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyNone, PySequence, PyString, PyTuple, PyType};

/// Not every whole number beyond this has a double of its own.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

/// The SDK's classes that values are made of, looked up once.
struct SdkTypes {
    unknown: Py<PyType>,
    output: Py<PyType>,
    asset: Py<PyType>,
    archive: Py<PyType>,
    /// `maloko._providers.assets.make`
    make_asset: Py<PyAny>,
    /// `maloko._sdk.outputs.resolved`
    resolved: Py<PyAny>,
}

fn sdk_types(py: Python<'_>) -> PyResult<&SdkTypes> {
    static TYPES: PyOnceLock<SdkTypes> = PyOnceLock::new();
    TYPES.get_or_try_init(py, || {
        let pulumi = py.import("pulumi")?;
        let class = |name: &str| -> PyResult<Py<PyType>> { Ok(pulumi.getattr(name)?.cast_into::<PyType>()?.unbind()) };
        Ok(SdkTypes {
            unknown: py.import("pulumi.output")?.getattr("Unknown")?.cast_into::<PyType>()?.unbind(),
            output: class("Output")?,
            asset: class("Asset")?,
            archive: class("Archive")?,
            make_asset: py.import("maloko._providers.assets")?.getattr("make")?.unbind(),
            resolved: py.import("maloko._sdk.outputs")?.getattr("resolved")?.unbind(),
        })
    })
}

/// How values are handed to provider methods.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Whole numbers arrive as `int` (the project's `maloko:integers`) and not as Pulumi delivers them.
    pub(crate) integers: bool,
}

/// Properties as a new `dict` that belongs to the callee. Members that are null are left out, at every depth, as the
/// SDK does.
pub(crate) fn properties_to_python<'py>(
    py: Python<'py>,
    properties: &PropertyMap,
    style: Style,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in properties {
        if !matches!(value, Value::Null) {
            dict.set_item(key, to_python(py, value, style)?)?;
        }
    }
    Ok(dict)
}

fn to_python<'py>(py: Python<'py>, value: &Value, style: Style) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => PyNone::get(py).to_owned().into_any(),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(number) => number_to_python(py, *number, style)?,
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Bytes(_) => return Err(PyRuntimeError::new_err(NO_BYTES_FOR_PROVIDERS)),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item, style)?)?;
            }
            list.into_any()
        }
        Value::Object(members) => properties_to_python(py, members, style)?.into_any(),
        Value::Secret(inner) => to_python(py, inner, style)?,
        Value::Unknown => sdk_types(py)?.unknown.bind(py).call0()?,
        Value::Output(output) => match &output.value {
            Some(value) => to_python(py, value, style)?,
            None => sdk_types(py)?.unknown.bind(py).call0()?,
        },
        // A component is known by its URN, a custom resource by its id (docs/rules 2.7).
        Value::Resource(reference) => match reference.id.as_deref() {
            Some("") => sdk_types(py)?.unknown.bind(py).call0()?,
            Some(id) => PyString::new(py, id).into_any(),
            None => PyString::new(py, reference.urn.as_str()).into_any(),
        },
        Value::Asset(asset) => asset_to_python(py, asset)?,
        Value::Archive(archive) => archive_to_python(py, archive, style)?,
        Value::Sealed(_) => return Err(PyRuntimeError::new_err("a secret of the state was not decrypted")),
    })
}

fn number_to_python(py: Python<'_>, number: f64, style: Style) -> PyResult<Bound<'_, PyAny>> {
    if style.integers && number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER {
        return PyFloat::new(py, number).call_method0("__int__");
    }
    Ok(PyFloat::new(py, number).into_any())
}

/// The SDK's object for an asset, with its hash.
fn asset_to_python<'py>(py: Python<'py>, asset: &Asset) -> PyResult<Bound<'py, PyAny>> {
    let (kind, content) = match &asset.source {
        AssetSource::Text(text) => ("asset.text", Some(text)),
        AssetSource::Path(path) => ("asset.path", Some(path)),
        AssetSource::Uri(uri) => ("asset.uri", Some(uri)),
        AssetSource::Elided => ("asset", None),
    };
    sdk_types(py)?.make_asset.bind(py).call1((kind, content, &asset.hash))
}

/// The SDK's object for an archive, with its hash.
fn archive_to_python<'py>(py: Python<'py>, archive: &Archive, style: Style) -> PyResult<Bound<'py, PyAny>> {
    let make = sdk_types(py)?.make_asset.bind(py);
    match &archive.source {
        ArchiveSource::Assets(assets) => {
            make.call1(("archive.assets", properties_to_python(py, assets, style)?, &archive.hash))
        }
        ArchiveSource::Path(path) => make.call1(("archive.path", path, &archive.hash)),
        ArchiveSource::Uri(uri) => make.call1(("archive.uri", uri, &archive.hash)),
        ArchiveSource::Elided => make.call1(("archive", PyNone::get(py), &archive.hash)),
    }
}

/// What a provider method returned cannot be kept; the text names the place and says what to do.
#[derive(Debug)]
pub(crate) struct ReturnedValueError(pub(crate) String);

impl From<PyErr> for ReturnedValueError {
    fn from(error: PyErr) -> Self {
        ReturnedValueError(format!("could not be read: {error}"))
    }
}

/// Reads values that a provider method returned.
pub(crate) struct Reader<'a> {
    /// Are unknown values allowed (in what `check` returns)?
    pub(crate) unknowns: bool,
    /// Things that were kept with a reservation, each with its place.
    pub(crate) warnings: &'a mut Vec<String>,
    /// The expression that leads to the value being read, such as `outs["tags"][3]`.
    path: String,
    /// The containers that are being read, to see a cycle.
    open: Vec<*mut pyo3::ffi::PyObject>,
}

impl<'a> Reader<'a> {
    /// A reader that calls the value as a whole `name` (`outs`, `inputs`).
    pub(crate) fn new(name: &str, unknowns: bool, warnings: &'a mut Vec<String>) -> Self {
        Self { unknowns, warnings, path: name.to_owned(), open: Vec::new() }
    }

    /// Reads a mapping of properties. Members that are `None` at the top level are left out, as the SDK does.
    pub(crate) fn properties(&mut self, object: &Bound<'_, PyAny>) -> Result<PropertyMap, ReturnedValueError> {
        if object.is_none() {
            return Ok(PropertyMap::new());
        }
        if !is_mapping(object) {
            return Err(self.refused(object, "properties must be a dict"));
        }
        let mut properties = self.unmarked(object)?;
        properties.retain(|_, value| !matches!(value, Value::Null));
        Ok(properties)
    }

    /// Those properties that can be kept, where not all can.
    pub(crate) fn usable(&mut self, object: &Bound<'_, PyAny>) -> PropertyMap {
        let mut members = Vec::new();
        // Marked as a whole, what is in it may be the secret that was meant.
        if let Ok(dict) = object.cast::<PyDict>()
            && !dict.contains(SIGNATURE_KEY).unwrap_or(true)
        {
            for (key, value) in dict {
                let (path, open) = (self.path.len(), self.open.len());
                match self.member(&key, &value) {
                    Ok((_, Value::Null)) => {}
                    Ok(member) => members.push(member),
                    Err(_) => {
                        // A refusal leaves the reader where it was found.
                        self.path.truncate(path);
                        self.open.truncate(open);
                    }
                }
            }
        }
        PropertyMap::from_iter(members)
    }

    fn value(&mut self, object: &Bound<'_, PyAny>) -> Result<Value, ReturnedValueError> {
        if let Ok(text) = object.cast::<PyString>() {
            return self.text(text);
        }
        if object.is_none() {
            return Ok(Value::Null);
        }
        if let Ok(value) = object.cast::<PyBool>() {
            return Ok(Value::Bool(value.is_true()));
        }
        if let Ok(number) = object.cast::<PyFloat>() {
            return Ok(self.number(number.value()));
        }
        if object.cast::<PyInt>().is_ok() {
            return self.integer(object);
        }
        if is_mapping(object) {
            let members = self.mapping(object)?;
            return from_marked(members)
                .map_err(|reason| ReturnedValueError(format!("{} {reason}", short(&self.path))));
        }
        if object.cast::<PyList>().is_ok() || object.cast::<PyTuple>().is_ok() {
            return self.sequence(object);
        }
        self.other(object)
    }

    fn text(&self, text: &Bound<'_, PyString>) -> Result<Value, ReturnedValueError> {
        let Ok(text) = text.to_str() else {
            return Err(ReturnedValueError(format!(
                "{} is a text with half a surrogate pair, which no file can hold",
                self.path
            )));
        };
        if UNKNOWN_TEXTS.contains(&text) {
            return if self.unknowns { Ok(Value::Unknown) } else { Err(self.unknown()) };
        }
        Ok(Value::String(text.to_owned()))
    }

    fn number(&mut self, number: f64) -> Value {
        if !number.is_finite() {
            self.warnings
                .push(format!("{} is {number}, which JSON cannot hold; it is kept as Pulumi marks it", self.path));
        }
        Value::Number(number)
    }

    fn integer(&mut self, object: &Bound<'_, PyAny>) -> Result<Value, ReturnedValueError> {
        let Ok(number) = object.extract::<f64>() else {
            return Err(ReturnedValueError(format!(
                "{} is a whole number too large for a double; return it as a text",
                self.path
            )));
        };
        // The host compares whole numbers with doubles exactly; a comparison of the user's own that fails proves nothing.
        if number.abs() >= MAX_SAFE_INTEGER && !object.eq(number).unwrap_or_default() {
            self.warnings.push(format!(
                "{} is a whole number beyond 2**53 and loses its last digits; return it as a text",
                self.path
            ));
        }
        Ok(Value::Number(number))
    }

    fn mapping(&mut self, object: &Bound<'_, PyAny>) -> Result<PropertyMap, ReturnedValueError> {
        self.enter(object)?;
        let mut members = Vec::new();
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            members.reserve_exact(dict.len());
            for (key, value) in dict {
                members.push(self.member(&key, &value)?);
            }
        } else {
            for item in object.cast::<PyMapping>().map_err(PyErr::from)?.items()?.iter() {
                let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
                members.push(self.member(&key, &value)?);
            }
        }
        self.open.pop();
        Ok(PropertyMap::from_iter(members))
    }

    /// The members of what must not be a special value.
    fn unmarked(&mut self, object: &Bound<'_, PyAny>) -> Result<PropertyMap, ReturnedValueError> {
        let members = self.mapping(object)?;
        refuse_marked(&members).map_err(|reason| ReturnedValueError(format!("{} {reason}", short(&self.path))))?;
        Ok(members)
    }

    fn member(
        &mut self,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> Result<(String, Value), ReturnedValueError> {
        let Some(key) = key.cast::<PyString>().ok().and_then(|key| key.to_str().ok()) else {
            return Err(ReturnedValueError(format!("{} has the key {}; keys must be texts", self.path, shown(key))));
        };
        let length = self.path.len();
        let _ = write!(self.path, "[{key:?}]");
        let value = self.value(value)?;
        self.path.truncate(length);
        Ok((key.to_owned(), value))
    }

    fn sequence(&mut self, object: &Bound<'_, PyAny>) -> Result<Value, ReturnedValueError> {
        self.enter(object)?;
        let mut items = Vec::new();
        for (index, item) in object.try_iter()?.enumerate() {
            let length = self.path.len();
            let _ = write!(self.path, "[{index}]");
            items.push(self.value(&item?)?);
            self.path.truncate(length);
        }
        self.open.pop();
        Ok(Value::Array(items))
    }

    fn enter(&mut self, object: &Bound<'_, PyAny>) -> Result<(), ReturnedValueError> {
        if self.open.contains(&object.as_ptr()) {
            return Err(ReturnedValueError(format!("{} contains itself; a value must not have a cycle", self.path)));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(ReturnedValueError(format!("{} is nested deeper than {MAX_DEPTH} levels", short(&self.path))));
        }
        self.open.push(object.as_ptr());
        Ok(())
    }

    /// Everything that is not plain data: SDK objects, objects that look like lists, and what must be refused.
    fn other(&mut self, object: &Bound<'_, PyAny>) -> Result<Value, ReturnedValueError> {
        let py = object.py();
        let types = sdk_types(py)?;
        if object.is_instance(types.unknown.bind(py))? {
            return if self.unknowns { Ok(Value::Unknown) } else { Err(self.unknown()) };
        }
        if object.is_instance(types.asset.bind(py))? {
            return Self::asset(object);
        }
        if object.is_instance(types.archive.bind(py))? {
            return self.archive(object);
        }
        if object.is_instance(types.output.bind(py))? {
            return self.output(object);
        }
        let advice = match object.get_type().name()?.to_str()? {
            "bytes" | "bytearray" | "memoryview" => "decode it, or encode it as base64",
            "set" | "frozenset" => "return a sorted list",
            "Decimal" | "Fraction" => "return a float, or a text",
            "datetime" | "date" | "time" => "return its isoformat()",
            "coroutine" => "it was never awaited",
            _ if object.cast::<PySequence>().is_ok() => return self.sequence(object),
            _ => "return texts, numbers, booleans, None, lists and dicts",
        };
        Err(self.refused(object, advice))
    }

    /// An `Output`: its value, marked where it is a secret.
    fn output(&mut self, object: &Bound<'_, PyAny>) -> Result<Value, ReturnedValueError> {
        let resolved = sdk_types(object.py())?.resolved.bind(object.py()).call1((object,));
        let answer =
            resolved.map_err(|error| ReturnedValueError(format!("{} is an Output that failed: {error}", self.path)))?;
        let Some((known, secret, value)): Option<(bool, bool, Bound<'_, PyAny>)> = answer.extract()? else {
            return Err(self.refused(
                object,
                "it is not resolved yet: return plain values, or secrets that the method itself has made with \
                 pulumi.Output.secret(value)",
            ));
        };
        if !known {
            return if self.unknowns { Ok(Value::Unknown) } else { Err(self.unknown()) };
        }
        let value = self.value(&value)?;
        Ok(if secret { Value::secret(value) } else { value })
    }

    fn asset(object: &Bound<'_, PyAny>) -> Result<Value, ReturnedValueError> {
        let source = match text_attribute(object, &["text", "path", "uri"])? {
            Some(("text", text)) => AssetSource::Text(text),
            Some(("path", path)) => AssetSource::Path(path),
            Some((_, uri)) => AssetSource::Uri(uri),
            None => AssetSource::Elided,
        };
        Ok(Value::from(Asset { hash: hash_of(object)?, source }))
    }

    fn archive(&mut self, object: &Bound<'_, PyAny>) -> Result<Value, ReturnedValueError> {
        let source = match text_attribute(object, &["path", "uri"])? {
            Some(("path", path)) => ArchiveSource::Path(path),
            Some((_, uri)) => ArchiveSource::Uri(uri),
            None => match object.getattr_opt("assets")? {
                Some(assets) => ArchiveSource::Assets(self.unmarked(&assets)?),
                None => ArchiveSource::Elided,
            },
        };
        Ok(Value::from(Archive { hash: hash_of(object)?, source }))
    }

    fn unknown(&self) -> ReturnedValueError {
        ReturnedValueError(format!("{} is an unknown value; only check may return those", self.path))
    }

    fn refused(&self, object: &Bound<'_, PyAny>, advice: &str) -> ReturnedValueError {
        let name = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
        let article = if name.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" };
        ReturnedValueError(format!("{} is {article} {name}; {advice}", self.path))
    }
}

fn is_mapping(object: &Bound<'_, PyAny>) -> bool {
    object.cast_exact::<PyDict>().is_ok() || object.cast::<PyMapping>().is_ok()
}

fn text_attribute(
    object: &Bound<'_, PyAny>,
    names: &[&'static str],
) -> Result<Option<(&'static str, String)>, ReturnedValueError> {
    for name in names {
        if let Some(value) = object.getattr_opt(*name)? {
            return Ok(Some((name, value.extract()?)));
        }
    }
    Ok(None)
}

fn hash_of(object: &Bound<'_, PyAny>) -> Result<String, ReturnedValueError> {
    // The SDK's objects know no hash; the engine computes it.
    Ok(object.getattr_opt("hash")?.and_then(|hash| hash.extract().ok()).unwrap_or_default())
}

fn shown(object: &Bound<'_, PyAny>) -> String {
    object.repr().map_or_else(|_| "that cannot be shown".to_owned(), |text| short(&text.to_string()))
}

fn short(text: &str) -> String {
    if text.chars().count() <= 120 { text.to_owned() } else { text.chars().take(119).chain(['…']).collect() }
}
