//! The program's process of `--isolated`, which a command line starts for itself.

use std::io::Write;
use std::sync::Arc;

use async_trait::async_trait;
use maloko_core::provider::{HostError, ProviderHost};
use maloko_core::{ProgramEnd, ProgramEngine};
use maloko_isolated::{ErrorWords, Program, Start, serve};
use serde_json::json;

use super::isolated::started;
use crate::context::Context;
use crate::failure::{Failure, Result, code};
use crate::language_host::{ErrorText, LanguageHost, ResourceClass};
use crate::terminal::signals;

/// Serves the command line that started this process, until its run is over.
pub(crate) async fn serve_program(context: &Context) -> Result<()> {
    let program = ByLanguageHost(Arc::clone(&context.language_host));
    serve(Arc::new(program)).await.map_err(Failure::new)
}

struct ByLanguageHost(Arc<dyn LanguageHost>);

#[async_trait]
impl Program for ByLanguageHost {
    fn host(&self) -> Arc<dyn ProviderHost> {
        self.0.host()
    }

    async fn run(&self, engine: Arc<dyn ProgramEngine>, start: Start) -> ProgramEnd {
        if start.attach_only {
            self.0.attach(engine, started(start)).await;
            return ProgramEnd::default();
        }
        self.0.run_program(engine, started(start)).await
    }

    async fn resource_classes(&self) -> String {
        let classes = self.0.resource_classes().await;
        serde_json::Value::from(classes.iter().map(as_json).collect::<Vec<_>>()).to_string()
    }

    fn interrupted(&self, signal: i32) {
        self.0.interrupted(signal);
    }

    fn words_of(&self, error: &HostError) -> Option<ErrorWords> {
        let ErrorText { kind, message, traceback } = self.0.describe_error(error)?;
        Some(ErrorWords { kind, message, traceback })
    }

    fn leave(&self, broken: Option<&str>) {
        if let Some(broken) = broken {
            // The engine's process reads it, and tells it with the end of this one.
            drop(writeln!(
                std::io::stderr(),
                "the program's process left its run, because {broken}: the program, or what it has loaded, closed a descriptor that is \
                 not its own"
            ));
        }
        signals::leave(code::FAILURE);
    }
}

/// As a binding tells of a class.
fn as_json(class: &ResourceClass) -> serde_json::Value {
    let parameters: Vec<_> =
        class.parameters.iter().map(|it| json!({ "name": it.name, "required": it.required })).collect();
    json!({
        "module": class.module,
        "name": class.name,
        "kind": class.kind,
        "providerModule": class.provider_module,
        "providerName": class.provider_name,
        "takesProvider": class.takes_provider,
        "parameters": parameters,
    })
}
