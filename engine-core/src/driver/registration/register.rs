//! A registration, from its goal to its outcome.

use crate::operation::OperationKind;
use crate::plan::Goal;
use crate::served_by::ServedBy;
use crate::urn::Urn;

use crate::driver::answers::RpcError;
use crate::driver::registration::RegistrationFlow;
use crate::driver::registration::outcome::RegistrationOutcome;

impl RegistrationFlow {
    /// In a refresh or destroy the program only brings its live providers: it is answered with what is stored.
    pub(crate) async fn answer_from_state(&self, goal: &Goal) -> Result<(Urn, RegistrationOutcome), RpcError> {
        let (urn, old) = self.planning.planner().locate(goal);
        if let Some(object) = goal.object {
            // A former URN that a resource of its own has by now is served by that one.
            let former =
                old.as_ref().map(|(_, resource)| &resource.urn).filter(|former| !self.providers.serves(former));
            let key = former.unwrap_or(&urn);
            self.providers.register(key, object).await.map_err(|error| self.reports.fail_planning(&urn, &error))?;
        }
        if let Some((_, resource)) = old.as_ref().filter(|_| self.operation.registers_providers && goal.custom) {
            self.providers.configurations.note(resource, &goal.inputs);
        }
        if goal.served_by() == Some(ServedBy::ItsPlugin) && self.operation.registers_providers {
            let mut goal = goal.clone();
            Box::pin(self.settle_package(&mut goal)).await?;
            Box::pin(self.lend_provider(&goal)).await?;
        }
        if self.operation.kind == OperationKind::Import && goal.custom {
            self.selection.want(urn.clone(), goal.inputs.clone());
        }
        Ok((urn, old.map_or(RegistrationOutcome::Unknown, |(_, resource)| RegistrationOutcome::Done(resource))))
    }

    /// Plans a registration, and does what is planned.
    pub(crate) async fn plan_and_act(&self, mut goal: Box<Goal>) -> Result<(Urn, RegistrationOutcome), RpcError> {
        let standing = self.standings.register(&self.planning.planner().urn_of(&goal));
        if goal.served_by().is_some_and(ServedBy::is_plugin) {
            // In a box of its own, which programs of live objects alone need not pay for.
            Box::pin(self.settle_package(&mut goal)).await?;
        }
        if !goal.state_migrations.is_empty() {
            Box::pin(self.migrations.migrate_state(&goal)).await?;
        }
        self.plan_settled(goal, &standing).await
    }
}
