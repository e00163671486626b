//! How each outside call is made.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Weak};

use futures::channel::oneshot;
use futures::future::BoxFuture;
use futures::future::join_all;

use crate::activity::{Activity, ActivityKind, Ongoing};
use crate::assets;
use crate::builtin;
use crate::operation::Operation;
use crate::plugin::PluginQuestion;
use crate::policy::Remediations;
use crate::provider::{ProviderError, ProviderHost};
use crate::urn::Urn;
use crate::value::PropertyMap;
use crate::wire::Callback;

use crate::driver::outside::around::Outside;
use crate::driver::outside::closing::close_all;
use crate::driver::outside_calls::{
    Analyze, AnalyzeStack, AnyOutsideCall, AskPlugin, BuiltIn, Call, CallBack, Close, Compact, Describe, Durable, Find,
    FindNamed, Function, IsByHand, OutsideCall, ReadAssets, Rebuild, Remediate, Reply, Serialize, Sleep, StartPlugin,
    StopPlugin, StopPlugins, outside_calls,
};

/// What outside calls are made with. It keeps no [`Outside`] alive.
struct Means {
    host: Arc<dyn ProviderHost>,
    operation: Arc<Operation>,
    outside: Weak<Outside>,
}

/// How an outside call is made.
trait Perform: OutsideCall {
    /// Can it hold the thread that polls it, because it calls code of the user?
    const RUNS_USER_CODE: bool = false;

    fn perform(self, with: Means) -> impl Future<Output = Self::Outcome> + Send;
}

macro_rules! performed {
    ($($name:ident),*) => {
        impl AnyOutsideCall {
            /// Can it hold the thread that polls it, because it calls code of the user?
            pub(super) fn runs_user_code(&self) -> bool {
                match self {
                    $(Self::$name(_) => $name::RUNS_USER_CODE),*
                }
            }
        }

        impl Outside {
            /// Does what takes time; what this gives keeps no `Outside` alive.
            #[must_use]
            pub fn perform(self: &Arc<Self>, call: AnyOutsideCall) -> BoxFuture<'static, Reply> {
                let (host, operation) = (Arc::clone(&self.host), Arc::clone(&self.operation));
                let with = Means { host, operation, outside: Arc::downgrade(self) };
                match call {
                    $(AnyOutsideCall::$name(call) => Box::pin(async move { Reply::$name(call.perform(with).await) })),*
                }
            }
        }
    };
}
outside_calls!(performed);

impl Perform for Describe {
    const RUNS_USER_CODE: bool = true;

    async fn perform(self, with: Means) -> Self::Outcome {
        with.host.describe(self.0)
    }
}

impl Perform for Call {
    const RUNS_USER_CODE: bool = true;

    async fn perform(self, with: Means) -> Self::Outcome {
        let Self(object, mut call) = self;
        let activity = || Activity::new(ActivityKind::Call, call.method.name(), Some(call.urn.clone()));
        let ongoing = with.operation.activities.begin(activity);
        call.trace = ongoing.as_ref().and_then(Ongoing::trace);
        observed(ongoing, with.host.call(object, call)).await
    }
}

impl Perform for CallBack {
    const RUNS_USER_CODE: bool = true;

    async fn perform(self, with: Means) -> Self::Outcome {
        let Self { label, function: Callback { target, token, .. }, request } = self;
        let _listed = with.outside.upgrade().map(|outside| outside.functions_in_flight.enter(label.clone()));
        let ongoing = with.operation.activities.begin(|| Activity::new(ActivityKind::Callback, label, None));
        if is_of_plugin(&target) {
            observed(ongoing, with.operation.plugins.0.call_back(&target, &token, request)).await
        } else {
            observed(ongoing, with.host.callback(&token, request)).await
        }
    }
}

impl Perform for Find {
    const RUNS_USER_CODE: bool = true;

    async fn perform(self, with: Means) -> Self::Outcome {
        with.host.find(&self.0).await
    }
}

impl Perform for Rebuild {
    const RUNS_USER_CODE: bool = true;

    async fn perform(self, with: Means) -> Self::Outcome {
        with.host.rebuild(&self.0).await
    }
}

impl Perform for FindNamed {
    const RUNS_USER_CODE: bool = true;

    async fn perform(self, with: Means) -> Self::Outcome {
        with.host.named(&self.0).await
    }
}

impl Perform for IsByHand {
    const RUNS_USER_CODE: bool = true;

    async fn perform(self, with: Means) -> Self::Outcome {
        with.host.is_by_hand(&self.0).await.unwrap_or(false)
    }
}

impl Perform for Serialize {
    const RUNS_USER_CODE: bool = true;

    async fn perform(self, with: Means) -> Self::Outcome {
        with.host.serialize(self.0).await
    }
}

impl Perform for BuiltIn {
    const RUNS_USER_CODE: bool = true;

    async fn perform(self, with: Means) -> Self::Outcome {
        builtin::answer(&self.0, self.1, &with.operation.stacks).await
    }
}

impl Perform for Function {
    const RUNS_USER_CODE: bool = true;

    async fn perform(self, with: Means) -> Self::Outcome {
        builtin::call(&self.token, &self.arguments, |_| self.found, &with.operation.stacks).await
    }
}

impl Perform for StartPlugin {
    async fn perform(self, with: Means) -> Self::Outcome {
        let Self(package, provider) = self;
        let activity = || Activity::new(ActivityKind::Plugin, "start", Some(provider.clone()));
        let ongoing = with.operation.activities.begin(activity);
        observed(ongoing, with.operation.plugins.0.start(&package, &provider)).await
    }
}

impl Perform for AskPlugin {
    async fn perform(self, with: Means) -> Self::Outcome {
        let Self(plugin, question) = self;
        let ongoing = with.operation.activities.begin(|| of_question(&question));
        observed(ongoing, with.operation.plugins.0.ask(plugin, *question)).await
    }
}

impl Perform for StopPlugin {
    async fn perform(self, with: Means) -> Self::Outcome {
        with.operation.plugins.0.stop(self.0).await;
    }
}

impl Perform for StopPlugins {
    async fn perform(self, with: Means) -> Self::Outcome {
        with.operation.plugins.0.stop_all().await;
    }
}

impl Perform for Remediate {
    async fn perform(self, with: Means) -> Self::Outcome {
        let Self(pack, resource) = self;
        let Some(packs) = &with.operation.policies.0 else { return Ok(Remediations::default()) };
        let ongoing = with.operation.activities.begin(|| of_policies("policies: remediate", Some(&resource.urn)));
        let remediated = packs.remediate(pack, resource).await;
        end(ongoing, None);
        remediated
    }
}

impl Perform for Analyze {
    async fn perform(self, with: Means) -> Self::Outcome {
        let Self(asked, resource) = self;
        let Some(packs) = &with.operation.policies.0 else { return Vec::new() };
        let ongoing = with.operation.activities.begin(|| of_policies("policies: analyze", Some(&resource.urn)));
        let analyzed = asked.into_iter().map(async |pack| (pack, packs.analyze(pack, Arc::clone(&resource)).await));
        let analyzed = join_all(analyzed).await;
        end(ongoing, None);
        analyzed
    }
}

impl Perform for AnalyzeStack {
    async fn perform(self, with: Means) -> Self::Outcome {
        let Self(asked, resources) = self;
        let Some(packs) = &with.operation.policies.0 else { return Vec::new() };
        let ongoing = with.operation.activities.begin(|| of_policies("policies: analyze the stack", None));
        let analyzed =
            asked.into_iter().map(async |pack| (pack, packs.analyze_stack(pack, Arc::clone(&resources)).await));
        let analyzed = join_all(analyzed).await;
        end(ongoing, None);
        analyzed
    }
}

/// What policy packs do, as those see it who watch activities.
fn of_policies(name: &'static str, urn: Option<&Urn>) -> Activity {
    Activity::new(ActivityKind::Plugin, name, urn.cloned())
}

impl Perform for ReadAssets {
    async fn perform(self, with: Means) -> Self::Outcome {
        read_assets(self.0, with.operation.program_directory.clone().into()).await
    }
}

impl Perform for Sleep {
    async fn perform(self, with: Means) -> Self::Outcome {
        with.host.wait(self.0).await;
    }
}

impl Perform for Durable {
    async fn perform(self, _: Means) -> Self::Outcome {
        let written = self.durability.await;
        end(self.ongoing, None);
        written
    }
}

impl Perform for Compact {
    async fn perform(self, with: Means) -> Self::Outcome {
        // The one who asks for it keeps it.
        let Some(outside) = with.outside.upgrade() else { return Ok(false) };
        outside.session.compact(self.0).await
    }
}

impl Perform for Close {
    async fn perform(self, with: Means) -> Self::Outcome {
        close_all(&with.host, self.0, self.1).await
    }
}

/// Does something until whose end an activity goes on.
async fn observed<T>(
    ongoing: Option<Ongoing>,
    work: impl Future<Output = Result<T, ProviderError>>,
) -> Result<T, ProviderError> {
    let outcome = work.await;
    end(ongoing, outcome.as_ref().err());
    outcome
}

fn end(ongoing: Option<Ongoing>, error: Option<&ProviderError>) {
    if let Some(ongoing) = ongoing {
        ongoing.end(error);
    }
}

/// What a plugin is asked, as those see it who watch activities.
fn of_question(question: &PluginQuestion) -> Activity {
    let (name, urn) = match question {
        PluginQuestion::CheckConfig { urn, .. } => ("check its configuration".into(), Some(urn.clone())),
        PluginQuestion::DiffConfig { urn, .. } => ("compare its configuration".into(), Some(urn.clone())),
        PluginQuestion::Configure { urn, .. } => ("configure".into(), Some(urn.clone())),
        PluginQuestion::Extend(extension) => (Cow::Owned(format!("extend it by {}", extension.name)), None),
        PluginQuestion::Invoke { token, .. } => (Cow::Owned(token.clone()), None),
        PluginQuestion::Construct { request, .. } => (Cow::Owned(format!("make {}", request.name)), None),
        PluginQuestion::Call { request, .. } => (Cow::Owned(request.tok.clone()), None),
    };
    Activity::new(ActivityKind::Plugin, name, urn)
}

/// Does a plugin serve the functions of this target? The SDKs give the program's own none that has a port.
fn is_of_plugin(target: &str) -> bool {
    target.contains(':')
}

/// Puts hashes into the assets of the properties. Files and addresses are read on a thread of their own: the one that
/// asks may be that of the program's event loop.
async fn read_assets(mut properties: PropertyMap, directory: Arc<Path>) -> Result<PropertyMap, String> {
    let (sender, receiver) = oneshot::channel();
    let read = move || {
        let outcome = assets::complete(&mut properties, &directory).map(|()| properties);
        // Nobody waits any more when the run was cut off.
        drop(sender.send(outcome));
    };
    #[expect(clippy::disallowed_methods, reason = "the files are the program's own, and large")]
    let begun = std::thread::Builder::new().name("maloko-assets".to_owned()).spawn(read);
    begun.map_err(|error| format!("no thread can be started to read its assets: {error}"))?;
    receiver.await.map_err(|_| "the reading of its assets was cut off".to_owned())?
}
