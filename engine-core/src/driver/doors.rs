//! What the flows of a run share, each with its owner. A flow is handed all of it, and keeps what it needs.

use std::sync::Arc;

use crate::operation::Operation;
use crate::plan::Planner;
use crate::state::{Crypter, Snapshot};

use crate::driver::actions::Moment;
use crate::driver::call_permits::CallPermits;
use crate::driver::calls::providers::Providers;
use crate::driver::components::Components;
use crate::driver::exchange::Exchange;
use crate::driver::flow_states::FlowStates;
use crate::driver::journal::Journal;
use crate::driver::plan_keeping::PlanKeeping;
use crate::driver::planning::Planning;
use crate::driver::policies::Policies;
use crate::driver::program::Functions;
use crate::driver::program::callbacks::Callbacks;
use crate::driver::reports::Reports;
use crate::driver::reports::notices::Notices;
use crate::driver::reports::progress::Counts;
use crate::driver::selection::Selection;
use crate::driver::stop::Stop;
use crate::driver::unresolved::UnresolvedCreates;
use crate::driver::views::Views;
use crate::driver::watched_waits::WatchedWaits;

/// What is handed to a run when it begins.
pub(crate) struct RunStart {
    pub(crate) operation: Arc<Operation>,
    pub(crate) base: Arc<Snapshot>,
    pub(crate) crypter: Option<Crypter>,
    pub(crate) moment: Moment,
    /// Makes random names, never twice the same.
    pub(crate) new_id: Arc<dyn Fn() -> String + Send + Sync>,
}

/// See the module's text.
pub(crate) struct Doors {
    pub(crate) operation: Arc<Operation>,
    /// The state as the run found it.
    pub(crate) base: Arc<Snapshot>,
    /// What decrypts the secrets of the state; `None` for a state in memory.
    pub(crate) crypter: Option<Crypter>,
    pub(crate) exchange: Arc<Exchange>,
    pub(crate) stop: Arc<Stop>,
    pub(crate) selection: Arc<Selection>,
    pub(crate) components: Arc<Components>,
    pub(crate) callbacks: Arc<Callbacks>,
    pub(crate) providers: Arc<Providers>,
    pub(crate) reports: Arc<Reports>,
    pub(crate) notices: Arc<Notices>,
    pub(crate) waits: Arc<WatchedWaits>,
    pub(crate) flow_states: Arc<FlowStates>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) planning: Arc<Planning>,
    pub(crate) plan: Arc<PlanKeeping>,
    pub(crate) call_permits: Arc<CallPermits>,
    pub(crate) functions: Arc<Functions>,
    pub(crate) unresolved: Arc<UnresolvedCreates>,
    pub(crate) policies: Arc<Policies>,
    pub(crate) views: Arc<Views>,
}

impl Doors {
    pub(crate) fn new(given: RunStart) -> Self {
        let RunStart { operation, base, crypter, moment, new_id } = given;
        let exchange = Arc::new(Exchange::new(moment));
        let (stop, selection) = (Arc::<Stop>::default(), Arc::<Selection>::default());
        let callbacks = Arc::<Callbacks>::default();
        let providers = Arc::new(Providers::new(Arc::clone(&exchange), &operation, crypter.clone(), &base));
        let counts = Counts::new(&operation, &base);
        let reports = Arc::new(Reports::new(&operation, &exchange, &stop, &providers, &selection, counts));
        let notices = Arc::new(Notices::new(&operation, &base, &reports));
        let waits = Arc::new(WatchedWaits::new(&operation, &exchange));
        let flow_states = Arc::new(FlowStates::new(&exchange));
        let journal = Arc::new(Journal::new(&operation, &base, Arc::clone(&new_id), &exchange, &reports));
        let planner = Planner::new(Arc::clone(&operation), base.resources.clone(), Box::new(move || new_id()));
        let planning = Arc::new(Planning::new(planner, &journal, &reports));
        let plan = Arc::new(PlanKeeping::new(&operation, &stop, &reports, &planning));
        let parallel = operation.parallel.max(1);
        let call_permits = Arc::new(CallPermits::new(parallel, &exchange, &stop, &reports, &waits, &flow_states));
        let functions = Arc::new(Functions::new(&operation, &exchange, &callbacks, &reports, &planning, &flow_states));
        let unresolved = Arc::new(UnresolvedCreates::new(&operation, &base, &exchange, &notices, &reports, &journal));
        let components = Arc::<Components>::default();
        let views = Arc::new(Views::new(&operation, &base, &reports, &journal, &planning));
        let policies = Policies::new(&operation, &exchange, &stop, &reports, &journal, &planning, &components);
        Self {
            operation,
            base,
            crypter,
            exchange,
            stop,
            selection,
            components,
            callbacks,
            providers,
            reports,
            notices,
            waits,
            flow_states,
            journal,
            planning,
            plan,
            call_permits,
            functions,
            unresolved,
            policies: Arc::new(policies),
            views,
        }
    }
}
