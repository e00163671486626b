//! What a run wants to have done outside of it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use futures::channel::oneshot;
use futures::future::BoxFuture;

use crate::activity::{Activity, ActivityKind, Ongoing};
use crate::assets;
use crate::builtin;
use crate::plugin::PluginQuestion;
use crate::provider::ProviderError;
use crate::value::PropertyMap;
use crate::wire::Callback;

use crate::driver::actions::{Outcome, Work};
use crate::driver::outside::around::Outside;
use crate::driver::outside::closing::close_all;

impl Work {
    /// Can it hold the thread that polls it, because it calls code of the user?
    pub(in crate::driver) fn runs_user_code(&self) -> bool {
        !matches!(
            self,
            Work::Wait(_)
                | Work::Durable { .. }
                | Work::Fold(_)
                | Work::ReadAssets(_)
                | Work::Close(..)
                | Work::StartPlugin(..)
                | Work::AskPlugin(..)
                | Work::StopPlugin(_)
                | Work::StopPlugins
        )
    }
}

impl Outside {
    /// Does what takes time; what this gives keeps no `Outside` alive.
    #[must_use]
    pub fn perform(self: &Arc<Self>, work: Work) -> BoxFuture<'static, Outcome> {
        let (host, outside) = (Arc::clone(&self.host), Arc::downgrade(self));
        match work {
            Work::Describe(object) => Box::pin(async move { Outcome::Described(host.describe(object)) }),
            Work::Call(object, mut call) => {
                let activities = self.operation.activities.clone();
                Box::pin(async move {
                    let activity = || Activity::new(ActivityKind::Call, call.method.name(), Some(call.urn.clone()));
                    let ongoing = activities.begin(activity);
                    call.trace = ongoing.as_ref().and_then(Ongoing::trace);
                    let answer = host.call(object, call).await;
                    end(ongoing, answer.as_ref().err());
                    Outcome::Answered(answer)
                })
            }
            Work::CallBack { label, function: Callback { target, token }, request } => {
                let (plugins, activities) = (Arc::clone(&self.operation.plugins.0), self.operation.activities.clone());
                Box::pin(async move {
                    let ongoing = activities.begin(|| Activity::new(ActivityKind::Callback, label, None));
                    let answer = if is_of_plugin(&target) {
                        plugins.call_back(&target, &token, request).await
                    } else {
                        host.callback(&token, request).await
                    };
                    end(ongoing, answer.as_ref().err());
                    Outcome::CalledBack(answer)
                })
            }
            Work::Find(reference) => Box::pin(async move { Outcome::Object(host.find(&reference).await) }),
            Work::Rebuild(reference) => Box::pin(async move { Outcome::Object(host.rebuild(&reference).await) }),
            Work::Named(reference) => Box::pin(async move { Outcome::Object(host.named(&reference).await) }),
            Work::IsByHand(reference) => {
                Box::pin(async move { Outcome::ByHand(host.is_by_hand(&reference).await.unwrap_or(false)) })
            }
            Work::Serialize(object) => Box::pin(async move { Outcome::Serialized(host.serialize(object).await) }),
            Work::BuiltIn(kind, method) => {
                let stacks = self.operation.stacks.clone();
                Box::pin(async move { Outcome::Answered(builtin::answer(&kind, method, &stacks).await) })
            }
            Work::Function { token, arguments, found } => {
                let stacks = self.operation.stacks.clone();
                Box::pin(async move { Outcome::Returned(builtin::call(&token, &arguments, |_| found, &stacks).await) })
            }
            Work::StartPlugin(package, provider) => {
                let (plugins, activities) = (Arc::clone(&self.operation.plugins.0), self.operation.activities.clone());
                Box::pin(async move {
                    let activity = || Activity::new(ActivityKind::Plugin, "start", Some(provider.clone()));
                    let ongoing = activities.begin(activity);
                    let started = plugins.start(&package, &provider).await.map(Some);
                    end(ongoing, started.as_ref().err());
                    Outcome::Object(started)
                })
            }
            Work::AskPlugin(plugin, question) => {
                let (plugins, activities) = (Arc::clone(&self.operation.plugins.0), self.operation.activities.clone());
                Box::pin(async move {
                    let ongoing = activities.begin(|| of_question(&question));
                    let answer = plugins.ask(plugin, *question).await;
                    end(ongoing, answer.as_ref().err());
                    Outcome::PluginAnswered(answer)
                })
            }
            Work::StopPlugin(plugin) => {
                let plugins = Arc::clone(&self.operation.plugins.0);
                Box::pin(async move {
                    plugins.stop(plugin).await;
                    Outcome::PluginStopped
                })
            }
            Work::StopPlugins => {
                let plugins = Arc::clone(&self.operation.plugins.0);
                Box::pin(async move {
                    plugins.stop_all().await;
                    Outcome::PluginStopped
                })
            }
            Work::ReadAssets(properties) => {
                let directory: Arc<Path> = self.operation.program_directory.clone().into();
                Box::pin(async move { Outcome::AssetsRead(read_assets(properties, directory).await) })
            }
            Work::Wait(time) => Box::pin(async move {
                host.wait(time).await;
                Outcome::Waited
            }),
            Work::Durable { durability, ongoing } => Box::pin(async move {
                let written = durability.await;
                end(ongoing, None);
                Outcome::Written(written)
            }),
            Work::Fold(snapshot) => Box::pin(async move {
                // The one who asks for it keeps it.
                let Some(outside) = outside.upgrade() else { return Outcome::Folded(Ok(false)) };
                Outcome::Folded(outside.session.fold(snapshot).await)
            }),
            Work::Close(closable, limit) => {
                Box::pin(async move { Outcome::Closed(close_all(&host, closable, limit).await) })
            }
        }
    }
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
