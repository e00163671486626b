//! Plugins under the laws of providers and in lifecycles, for the package's `testing` folder: everything but a world is done in
//! Rust.

use std::path::Path;
use std::sync::Arc;

use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Task};
use napi_derive::napi;

use crate::runtime::runtime;

fn refused(error: impl std::fmt::Display) -> napi::Error {
    napi::Error::from_reason(error.to_string())
}

/// A plugin that is judged.
#[napi]
pub struct PluginUnderTest {
    inner: maloko_kit::PluginUnderTest,
}

#[napi]
impl PluginUnderTest {
    /// A plugin by the name of its package, its executable or its folder; empty: of the type's package. `setup` is JSON
    /// (`maloko_kit::PluginSetup`). Nothing is started yet. Throws for what is no plugin or no type.
    #[napi(constructor)]
    pub fn new(directory: String, plugin: String, setup: String) -> napi::Result<Self> {
        let setup = serde_json::from_str(&setup).map_err(refused)?;
        let inner = maloko_cli::plugin_under_test(Path::new(&directory), &plugin, setup).map_err(refused)?;
        Ok(Self { inner })
    }

    /// Starts and configures it. Fails when it is not there, does not come up, or refuses its configuration.
    #[napi(ts_return_type = "Promise<void>")]
    #[must_use]
    pub fn prepare(&self) -> AsyncTask<Work<()>> {
        let inner = self.inner.clone();
        Work::begin(move || runtime()?.block_on(inner.prepare()).map_err(napi::Error::from_reason))
    }

    /// Begins an example of a law (`L5`). `subject` is what is known of the plugin (JSON, `maloko_kit::Subject`). Throws for a
    /// law that it does not know.
    #[napi]
    pub fn trial(&self, law: String, subject: String) -> napi::Result<PluginTrial> {
        let subject = serde_json::from_str(&subject).map_err(refused)?;
        let inner = maloko_kit::PluginTrial::new(&law, subject, &self.inner).map_err(refused)?;
        Ok(PluginTrial { inner: Arc::new(inner) })
    }

    /// Begins a lifecycle of its resources, with an empty stack.
    #[napi]
    #[must_use]
    pub fn life(&self) -> PluginLife {
        PluginLife { inner: Arc::new(maloko_kit::PluginLife::new(&self.inner)) }
    }

    /// Ends its process.
    #[napi(ts_return_type = "Promise<void>")]
    #[must_use]
    pub fn close(&self) -> AsyncTask<Work<()>> {
        let inner = self.inner.clone();
        Work::begin(move || {
            runtime()?.block_on(inner.close());
            Ok(())
        })
    }
}

/// One example of a law for a plugin: it asks for the world alone.
#[napi]
pub struct PluginTrial {
    inner: Arc<maloko_kit::PluginTrial>,
}

#[napi]
impl PluginTrial {
    /// What is to be done next (JSON, `maloko_kit::PluginTrial::next`), after the answer to what was to be done before; at
    /// first, that is `null`. Fails for an answer that is none.
    #[napi(ts_return_type = "Promise<string>")]
    #[must_use]
    pub fn next(&self, answer: String) -> AsyncTask<Work<String>> {
        let inner = Arc::clone(&self.inner);
        Work::begin(move || {
            let answer = serde_json::from_str(&answer).map_err(refused)?;
            Ok(runtime()?.block_on(inner.next(answer)).map_err(refused)?.to_string())
        })
    }
}

/// A lifecycle of a plugin's resources: it does what steps ask for, apart from what they ask of the world.
#[napi]
pub struct PluginLife {
    inner: Arc<maloko_kit::PluginLife>,
}

#[napi]
impl PluginLife {
    /// Does what a step asks for (JSON, `maloko_kit::PluginLife::answer`), and gives the answer to it. Fails for a request that
    /// is none.
    #[napi(ts_return_type = "Promise<string>")]
    #[must_use]
    pub fn answer(&self, request: String) -> AsyncTask<Work<String>> {
        let inner = Arc::clone(&self.inner);
        Work::begin(move || {
            let request = serde_json::from_str(&request).map_err(refused)?;
            Ok(runtime()?.block_on(inner.answer(request)).map_err(refused)?.to_string())
        })
    }

    /// Deletes what is left, and ends the processes that it has started.
    #[napi(ts_return_type = "Promise<void>")]
    #[must_use]
    pub fn close(&self) -> AsyncTask<Work<()>> {
        let inner = Arc::clone(&self.inner);
        Work::begin(move || {
            runtime()?.block_on(inner.close());
            Ok(())
        })
    }
}

/// What is done on a thread of Node's pool, once.
pub struct Work<T>(Option<Box<dyn FnOnce() -> napi::Result<T> + Send>>);

impl<T: Send + ToNapiValue + TypeName + 'static> Work<T> {
    fn begin(work: impl FnOnce() -> napi::Result<T> + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(work))))
    }
}

impl<T: Send + ToNapiValue + TypeName + 'static> Task for Work<T> {
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> napi::Result<T> {
        self.0.take().ok_or_else(|| napi::Error::from_reason("it was done already"))?()
    }

    fn resolve(&mut self, _env: Env, output: T) -> napi::Result<T> {
        Ok(output)
    }
}
