//! SDKs that a language's own host makes.

use std::sync::Arc;

use async_trait::async_trait;
use maloko_core::plugin::PluginHost;
use maloko_core::wire::language as wire;
use maloko_rpc::child::{Listener, Stream};
use maloko_rpc::{Answers, Call, ENGINE, LOADER, schema_request};
use prost::Message;
use tonic::Status;

use super::ForeignProgram;
use super::host::{CalledBack, CommandService, Host, served};
use crate::settings::PluginSettings;

/// The severity of errors among what a host says.
const ERROR: i32 = 1;

/// The schema of a package.
#[derive(Clone, Debug)]
pub struct SchemaText {
    /// The package's name.
    pub package: String,
    /// The schema, as JSON.
    pub text: String,
}

/// Has the host make the SDK in the generator's folder; gives its warnings.
pub(super) async fn generate(
    generator: &ForeignProgram,
    package: SchemaText,
    plugins: Arc<dyn PluginHost>,
    settings: &PluginSettings,
) -> Result<Vec<String>, String> {
    let listener: Listener = Arc::new(|_: Stream, _: &str| ());
    let service = Service { own: package.clone(), plugins, command: CommandService(Arc::clone(&listener)) };
    let called_back = CalledBack::ByCommand(served(&[ENGINE, LOADER], Arc::new(service)).await?);
    let loader_target = called_back.address();
    let host = Host::start(generator, settings, called_back, listener).await?;
    let request = wire::GeneratePackageRequest {
        directory: generator.directory.display().to_string(),
        schema: package.text,
        loader_target,
        local: true,
    };
    let made = host.generate(&request).await;
    host.end().await;
    let (errors, warnings): (Vec<_>, Vec<_>) = made?.diagnostics.into_iter().partition(|it| it.severity == ERROR);
    let told = |diagnostics: Vec<wire::Diagnostic>| {
        let each = diagnostics.into_iter().map(|it| match it.detail.as_str() {
            "" => it.summary,
            detail => format!("{}: {detail}", it.summary),
        });
        each.collect::<Vec<_>>()
    };
    if errors.is_empty() { Ok(told(warnings)) } else { Err(told(errors).join("\n")) }
}

/// What a host calls back: it says something, or asks for a schema.
struct Service {
    own: SchemaText,
    plugins: Arc<dyn PluginHost>,
    command: CommandService,
}

#[async_trait]
impl Answers for Service {
    async fn answer(&self, call: Call) -> Result<Vec<u8>, Status> {
        if call.service != LOADER || call.method != "GetSchema" {
            return self.command.answer(call).await;
        }
        let asked = schema_request(&call.request)?;
        let schema = if asked.name == self.own.package {
            self.own.text.clone().into_bytes()
        } else {
            let schema = self.plugins.schema(&asked).await;
            schema.map_err(|error| Status::unknown(error.message.to_string()))?.to_vec()
        };
        Ok(wire::GetSchemaResponse { schema }.encode_to_vec())
    }
}
