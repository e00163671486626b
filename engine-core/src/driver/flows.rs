//! The flows of a run, each made of those below it.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::driver::actions::{Request, Response};
use crate::driver::calls::provider_plugins::ProviderPlugins;
use crate::driver::deletion::Deletion;
use crate::driver::doors::Doors;
use crate::driver::ending::finish::Finish;
use crate::driver::ending::selected_texts::SelectedTexts;
use crate::driver::recovery::Recovery;
use crate::driver::refresh::read_objects::Refresh;
use crate::driver::refresh_first::RefreshFirst;
use crate::driver::registration::claim::Claims;
use crate::driver::registration::component_code::ComponentCodes;
use crate::driver::registration::provider_classes::ProviderClasses;
use crate::driver::registration::read::ReadRequests;
use crate::driver::registration::{Adoptions, RegistrationFlow};
use crate::driver::requests::construct::Construction;
use crate::driver::requests::exists::ObjectLookups;
use crate::driver::requests::methods::Requests;
use crate::driver::requests::serialize::Serialization;
use crate::driver::requests::{FunctionCalls, ResourceRequests};
use crate::driver::steps::late_answers::LateAnswers;
use crate::driver::steps::{JournalledCalls, Outcomes, Steps};

/// See the module's text.
pub(crate) struct Flows {
    pub(crate) doors: Doors,
    pub(crate) late_answers: Arc<LateAnswers>,
    pub(crate) selected: SelectedTexts,
    pub(crate) finish: Arc<Finish>,
    requests: Requests,
    serialization: Serialization,
}

impl Flows {
    pub(crate) fn new(doors: Doors) -> Self {
        let d = &doors;
        let provider_plugins = Arc::new(ProviderPlugins::new(&d.exchange, &d.providers));
        let outcomes = Arc::new(Outcomes::new(d));
        let late_answers = Arc::new(LateAnswers::new(d, &outcomes));
        let calls = Arc::new(JournalledCalls::new(d, &late_answers));
        let steps = Arc::new(Steps::new(d, &outcomes, &calls));
        let recovery = Arc::new(Recovery::new(d, &outcomes, &steps));
        let refresh = Arc::new(Refresh::new(d, &outcomes, &recovery));
        let deletion = Arc::new(Deletion::new(d, &steps, &provider_plugins));
        let classes = Arc::new(ProviderClasses::new(d));
        let claims = Arc::new(Claims::new(d));
        let component_codes = Arc::new(ComponentCodes::new(d));
        let registration = Arc::new(RegistrationFlow::new(
            d,
            &steps,
            &recovery,
            &provider_plugins,
            &classes,
            &claims,
            &component_codes,
        ));
        let adoptions = Arc::new(Adoptions::new(d, &outcomes, &steps, &claims, &registration));
        let reads = Arc::new(ReadRequests::new(d, &outcomes, &steps, &component_codes, &registration));
        let refresh_first = Arc::new(RefreshFirst::new(d, &recovery, &refresh, &registration));
        let construction = Arc::new(Construction::new(d, &registration, &refresh_first));
        let registrations =
            Arc::new(ResourceRequests::new(d, &component_codes, &registration, &refresh_first, &construction));
        let function_calls = Arc::new(FunctionCalls::new(d, &provider_plugins, &registration));
        let object_lookups = Arc::new(ObjectLookups::new(d, &provider_plugins, &registration));
        let selected = SelectedTexts::new(d);
        let finish = Arc::new(Finish::new(d, &recovery, &refresh, &deletion, &classes, &adoptions, &refresh_first));
        let requests =
            Requests::new(d, &reads, &refresh_first, &registrations, &function_calls, &object_lookups, &finish);
        let serialization = Serialization::new(d);
        Self { doors, late_answers, selected, finish, requests, serialization }
    }

    /// Answers a request of the host.
    pub(crate) fn answer(self: Arc<Self>, request: Request) -> BoxFuture<'static, Option<Response>> {
        match request {
            Request::Rpc { method, request } => {
                Box::pin(async move { Some(Response::Rpc(self.requests.rpc(&method, &request).await)) })
            }
            Request::AllReported => Box::pin(async move {
                self.doors.reports.all_reported().await;
                Some(Response::AllReported)
            }),
            Request::Finish(program) => {
                Box::pin(async move { Some(Response::Finish(Box::new(self.finish.finish(program).await))) })
            }
            Request::Serialize(mut snapshot) => Box::pin(async move {
                let missing = self.serialization.serialize_providers(&mut snapshot).await;
                Some(Response::Serialize(Box::new((snapshot, missing))))
            }),
        }
    }
}
