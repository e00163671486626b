//! State migrations: functions of the program that rewrite a resource's prior state, and that of all below it, before
//! anything is planned with it. They run in previews too, where what they do is kept nowhere.

use std::sync::Arc;

use crate::event::Severity;
use crate::plan::{Goal, RegistrationError, Subtree, migrate};
use crate::resource_state::ResourceState;
use crate::state::Crypter;
use crate::state::{Change, ResourceNumber, recognise_migrated, resources_from_json, resources_to_json};
use crate::urn::Urn;
use crate::wire::{Callback, StateMigrationRequest, StateMigrationResponse};

use crate::driver::answers::RpcError;
use crate::driver::doors::Doors;
use crate::driver::journal::Journal;
use crate::driver::planning::Planning;
use crate::driver::program::Functions;
use crate::driver::reports::Reports;

/// Runs the program's state migrations.
pub(crate) struct StateMigrations {
    crypter: Option<Crypter>,
    reports: Arc<Reports>,
    functions: Arc<Functions>,
    planning: Arc<Planning>,
    journal: Arc<Journal>,
}

impl StateMigrations {
    pub(crate) fn new(doors: &Doors) -> Self {
        Self {
            crypter: doors.crypter.clone(),
            reports: Arc::clone(&doors.reports),
            functions: Arc::clone(&doors.functions),
            planning: Arc::clone(&doors.planning),
            journal: Arc::clone(&doors.journal),
        }
    }

    /// Runs the migrations of a registration over the state that it goes on from.
    pub(super) async fn migrate_state(&self, goal: &Goal) -> Result<(), RpcError> {
        // Nobody plans with resources that are about to change.
        let _exclusive = self.planning.alone().await;
        self.reports.go_on()?;
        let urn = self.planning.planner().locate(goal).0;
        for function in &goal.state_migrations {
            let given = self.planning.planner().subtree(goal);
            if given.is_empty() {
                break;
            }
            self.run_migration(&urn, function, given).await?;
        }
        Ok(())
    }

    async fn run_migration(&self, urn: &Urn, function: &Callback, given: Subtree) -> Result<(), RpcError> {
        let refused = |reason: &str| self.reports.refuse(&RegistrationError::migration(urn, reason));
        let resources: Vec<&ResourceState> = given.iter().map(|(_, resource)| &**resource).collect();
        let old_state =
            resources_to_json(&resources, self.crypter.as_ref()).map_err(|error| refused(&error.to_string()))?;
        let question = StateMigrationRequest { urn: urn.to_string(), old_state };
        let label = format!("a state migration of '{}'", urn.name());
        let answer: StateMigrationResponse = self
            .functions
            .call_back(&label, function, &question)
            .await
            .map_err(|error| self.reports.fail_planning(urn, &error))?;
        if answer.new_state.is_empty() {
            return Ok(());
        }
        // Both as they come out of JSON: only then is what was left alone the same.
        let before = resources_from_json(&question.old_state).map_err(|reason| refused(&reason))?;
        let before: Subtree =
            given.iter().zip(before).map(|((number, _), resource)| (*number, Arc::new(resource))).collect();
        let returned = resources_from_json(&answer.new_state).map_err(|reason| refused(&reason))?;
        let migration = migrate(&before, returned, answer.successors).map_err(|reason| refused(&reason))?;
        let changes: Vec<Change> = {
            let followers = self.planning.planner().followers(&migration);
            let mut changes: Vec<Change> =
                migration.removed.iter().map(|number| self.planning.vanish(*number)).collect();
            let set = migration.set.into_iter().chain(followers);
            let was_code = |number| given.iter().any(|(known, resource)| *known == number && resource.code().is_some());
            changes.extend(set.map(|(number, mut resource)| {
                if was_code(number) {
                    recognise_migrated(&mut resource);
                }
                give_back_extension(&given, &mut resource);
                self.planning.renew(number, Arc::new(resource))
            }));
            changes
        };
        if changes.is_empty() {
            return Ok(());
        }
        let count = changes.len();
        self.journal.record(changes).await.map_err(|error| self.reports.fail_planning(urn, &error))?;
        self.reports.diagnose(Some(urn), Severity::Info, format!("{label} changed {count} resources of the state"));
        Ok(())
    }
}

/// JSON has a reference to what extends a resource's package: what that stands for is in the resources that were given.
fn give_back_extension(given: &[(ResourceNumber, Arc<ResourceState>)], resource: &mut ResourceState) {
    let Some(reference) = resource.extension.as_ref().map(|extension| extension.reference()) else { return };
    let mut known = given.iter().filter_map(|(_, given)| given.extension.as_ref());
    if let Some(known) = known.find(|known| known.reference() == reference) {
        resource.extension = Some(Arc::clone(known));
    }
}
