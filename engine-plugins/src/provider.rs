//! One plugin that runs: its beginning, what it understands, how it is called, and its end.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prost::Message;
use tonic::{Code, Status};

use maloko_core::plugin::{PackageRequest, PluginAnswer};
use maloko_core::property_diff::{DiffKind, PropertyDiff};
use maloko_core::provider::{CheckFailure, DiffAnswer, ExtensionParameter, ProviderError, ProviderErrorKind};
use maloko_core::urn::Urn;
use maloko_core::wire::provider as wire;
use maloko_core::wire::provider::parameterize_request::Parameters;
use maloko_rpc::Client;
use maloko_rpc::child::Child;

use crate::answers::Features;
use crate::failures::{no_provider, provider_error};
use crate::views::{OpenToken, ViewTokens};

/// How long a plugin may take to answer `Cancel`.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

/// What a plugin cannot do that refuses a parameter.
const MAKES_PACKAGE: &str = "cannot make a package of its parameter";

/// What a plugin that has no handshake is taken to understand until it was configured.
const BEFORE_CONFIGURE: Features =
    Features { secrets: false, resources: false, preview: true, autonaming: false, outputs: false, bytes: false };

/// See the module's text.
pub(crate) struct RunningPlugin {
    client: Client,
    /// `None` for one that somebody else started.
    process: Option<Child>,
    features: Mutex<Features>,
    /// Where it tells of views.
    status_address: String,
    views: ViewTokens,
    has_handshake: bool,
    /// The package that it serves.
    pub(crate) package: String,
    /// The version that it says it has; empty when it does not say.
    pub(crate) version: String,
}

/// The answer to a call, or the error that it failed with.
pub(crate) type CallResult<T> = Result<T, ProviderError>;

impl RunningPlugin {
    /// Greets a plugin that has told its port, and has it make the package if that is made of a parameter.
    pub(crate) async fn greet(
        client: Client,
        process: Option<Child>,
        engine_address: &str,
        views: ViewTokens,
        package: &PackageRequest,
    ) -> CallResult<Self> {
        let folder = process.as_ref().map(|process| process.program.clone());
        let folder = folder.as_deref().and_then(|program| std::path::Path::new(program).parent());
        let folder = folder.map(|folder| folder.display().to_string());
        let mut plugin = Self {
            client,
            process,
            features: Mutex::new(BEFORE_CONFIGURE),
            status_address: engine_address.to_owned(),
            views,
            has_handshake: false,
            package: package.name.clone(),
            version: String::new(),
        };
        let greeting = wire::HandshakeRequest {
            engine_address: engine_address.to_owned(),
            root_directory: folder.clone(),
            program_directory: folder,
            configure_with_urn: true,
            supports_views: true,
            supports_refresh_before_update: true,
            invoke_with_preview: true,
            accepts_byte_string: true,
            sends_old_outputs_to_check: true,
        };
        match plugin.client.call::<_, wire::HandshakeResponse>("Handshake", &greeting).await {
            Ok(answer) => {
                plugin.has_handshake = true;
                plugin.set_features(Features {
                    secrets: answer.accept_secrets,
                    resources: answer.accept_resources,
                    preview: true,
                    autonaming: answer.supports_autonaming_configuration,
                    outputs: answer.accept_outputs,
                    bytes: answer.accepts_byte_string,
                });
            }
            Err(status) if status.code() == Code::Unimplemented => {}
            Err(status) => return Err(plugin.refused("does not take the engine's handshake", &status)),
        }
        if plugin.process.is_none() {
            let asked = wire::AttachRequest { address: engine_address.to_owned() };
            let attached = if_known(plugin.client.call::<_, ()>("Attach", &asked).await);
            attached.map_err(|status| plugin.refused("cannot be attached to", &status))?;
        }
        let info = if_known(plugin.client.call::<_, wire::PluginInfo>("GetPluginInfo", &()).await);
        let info = info.map_err(|status| plugin.refused("does not say its version", &status))?;
        plugin.version = info.map(|info| info.version).unwrap_or_default();
        if let Some(parameter) = &package.parameter {
            let value = wire::parameterize_request::Value {
                name: package.name.clone(),
                version: package.version.clone(),
                value: parameter.value.clone(),
            };
            let made = plugin.parameterize(Parameters::Value(value), MAKES_PACKAGE).await?;
            if made.name != package.name {
                return Err(no_provider(format!(
                    "the plugin of the package '{}' made the package '{}' of the parameter, and '{}' was asked for",
                    parameter.plugin, made.name, package.name
                )));
            }
        }
        Ok(plugin)
    }

    /// `what` says what it cannot do where it refuses.
    async fn parameterize(&self, parameter: Parameters, what: &str) -> CallResult<wire::ParameterizeResponse> {
        let asked = wire::ParameterizeRequest { parameters: Some(parameter) };
        let made = self.client.call("Parameterize", &asked).await;
        made.map_err(|status| self.refused(what, &status))
    }

    /// Has it serve a package that extends its own, beside that.
    pub(crate) async fn extend(
        &self,
        ExtensionParameter { name, version, value }: ExtensionParameter,
    ) -> CallResult<PluginAnswer> {
        let what = format!("cannot be extended by the package '{name}'");
        let value = wire::parameterize_request::Value { name: name.clone(), version, value };
        let made = self.parameterize(Parameters::Value(value), &what).await?;
        if made.name != name {
            return Err(no_provider(format!(
                "the plugin of the package '{}' {what}: it made the package '{}' of that",
                self.package, made.name
            )));
        }
        Ok(PluginAnswer::Extended)
    }

    /// Has it make a package of what a user wrote behind its name; gives the schema of that, as JSON.
    pub(crate) async fn schema_of_arguments(&self, arguments: &[String]) -> CallResult<Vec<u8>> {
        let args = wire::parameterize_request::Args { args: arguments.to_vec() };
        let made = self.parameterize(Parameters::Args(args), MAKES_PACKAGE).await?;
        self.schema_of(made.name, made.version).await
    }

    /// The schema of its package, as JSON.
    pub(crate) async fn schema(&self, package: &PackageRequest) -> CallResult<Vec<u8>> {
        match &package.parameter {
            Some(_) => self.schema_of(package.name.clone(), package.version.clone()).await,
            None => self.schema_of(String::new(), String::new()).await,
        }
    }

    async fn schema_of(&self, name: String, version: String) -> CallResult<Vec<u8>> {
        let asked = wire::SchemaRequest { version: 0, subpackage_name: name, subpackage_version: version };
        let answer = self.client.call::<_, wire::SchemaResponse>("GetSchema", &asked).await;
        answer.map(|answer| answer.schema).map_err(|status| self.refused("does not give its schema", &status))
    }

    fn refused(&self, what: &str, status: &Status) -> ProviderError {
        no_provider(format!(
            "the plugin of the package '{}' {what}: {}{}",
            self.package,
            status.message(),
            self.last_words()
        ))
    }

    pub(crate) fn features(&self) -> Features {
        *self.features.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where it tells of the views of a resource, and what names the call there.
    pub(crate) fn status_of(&self, owner: &Urn) -> (String, OpenToken) {
        (self.status_address.clone(), self.views.open(owner))
    }

    fn set_features(&self, features: Features) {
        *self.features.lock().unwrap_or_else(PoisonError::into_inner) = features;
    }

    /// Takes what a plugin that has no handshake says that it understands, once it is configured.
    pub(crate) fn learn_features(&self, features: Features) {
        if !self.has_handshake {
            self.set_features(features);
        }
    }

    fn last_words(&self) -> String {
        self.process.as_ref().map(Child::last_words).unwrap_or_default()
    }

    pub(crate) async fn rpc<Asked: Message, Answered: Message + Default>(
        &self,
        method: &'static str,
        asked: &Asked,
        acts: bool,
    ) -> CallResult<Answered> {
        self.client.call(method, asked).await.map_err(|status| provider_error(&status, acts, || self.last_words()))
    }

    /// Calls a method that changes nothing and that a plugin need not have; `None` where this one does not have it.
    pub(crate) async fn rpc_if_known<Asked: Message, Answered: Message + Default>(
        &self,
        method: &'static str,
        asked: &Asked,
    ) -> CallResult<Option<Answered>> {
        let answer = if_known(self.client.call(method, asked).await);
        answer.map_err(|status| provider_error(&status, false, || self.last_words()))
    }

    /// Asks the plugin to end what it does; it may not know how.
    pub(crate) async fn cancel(&self) {
        drop(tokio::time::timeout(CANCEL_LIMIT, self.client.call::<_, ()>("Cancel", &())).await);
    }

    /// Ends the plugin, unless somebody else started it.
    pub(crate) async fn end(&self) {
        self.cancel().await;
        if let Some(process) = &self.process {
            process.end().await;
        }
    }
}

/// The answer to a call; `None` where the plugin does not have the method.
fn if_known<T>(answer: Result<T, Status>) -> Result<Option<T>, Status> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(status) if status.code() == Code::Unimplemented => Ok(None),
        Err(status) => Err(status),
    }
}

pub(crate) fn bad_return(what: &'static str) -> impl Fn(String) -> ProviderError {
    move |reason| {
        ProviderError::new(ProviderErrorKind::Raised, format!("{what} returned a value that cannot be used: {reason}"))
    }
}

pub(crate) fn failures(failures: Vec<wire::CheckFailure>) -> Vec<CheckFailure> {
    failures.into_iter().map(|it| CheckFailure { property: it.property, reason: it.reason }).collect()
}

pub(crate) fn diff_answer(answer: wire::DiffResponse) -> DiffAnswer {
    use wire::PropertyDiffKind as Kind;
    let changes = match answer.changes() {
        wire::DiffChanges::Unknown => None,
        wire::DiffChanges::None => Some(false),
        wire::DiffChanges::Some => Some(true),
    };
    let detailed = answer.has_detailed_diff.then(|| {
        let entries = answer.detailed_diff.iter().map(|(path, diff)| {
            let kind = match diff.kind() {
                Kind::Add => DiffKind::Add,
                Kind::AddReplace => DiffKind::AddReplace,
                Kind::Delete => DiffKind::Delete,
                Kind::DeleteReplace => DiffKind::DeleteReplace,
                Kind::Update => DiffKind::Update,
                Kind::UpdateReplace => DiffKind::UpdateReplace,
            };
            (path.clone(), PropertyDiff { kind, input_diff: diff.input_diff })
        });
        entries.collect()
    });
    DiffAnswer {
        changes,
        replaces: answer.replaces,
        stables: answer.stables,
        delete_before_replace: Some(answer.delete_before_replace),
        detailed,
    }
}
