//! Names of objects that the program leaves to the engine (docs/rules 13.6).

use crate::autonaming::Autonaming;
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::value::{PropertyMap, Value};

use crate::plan::planner::Planner;
use crate::plan::refusals::registration::RegistrationError;
use crate::plan::registration::progress::Registration;

impl Registration {
    /// Does the program name the object, and as it is named already? Then two of them cannot be there at a time.
    pub(super) fn keeps_explicit_name(&self, old: &ResourceState) -> bool {
        let Some(Autonaming { property, .. }) = &self.autonaming else { return false };
        let name = self.goal.inputs.get(property).map(Value::plain);
        name.is_some_and(|name| name != Value::Null && old.inputs.get(property).map(Value::plain) == Some(name))
    }
}

impl Planner {
    /// Fills in the name of the object, where the provider wants that and the program gives none: the one that it has,
    /// or a new one when there is no old object or it is replaced (`old` is `None`). A plugin fills it in itself, and is
    /// told what the configuration says of it.
    pub(super) fn fill_name(
        &self,
        registration: &mut Registration,
        inputs: &mut PropertyMap,
        old: Option<&ResourceState>,
    ) -> Result<(), RegistrationError> {
        if registration.goal.code.is_some() {
            // The SDK's server takes no names.
            return Ok(());
        }
        if registration.goal.served_by() == Some(ServedBy::Plugin) {
            return self.propose_name(registration);
        }
        let Some(autonaming) = registration.autonaming.as_ref().filter(|naming| !naming.is_explicit(inputs)) else {
            return Ok(());
        };
        let kept = old.and_then(|old| autonaming.kept(&old.inputs)).cloned();
        let (name, fixed) = if let Some(kept) = kept {
            (kept, false)
        } else {
            let refused = |reason: String| RegistrationError::on(&registration.urn, reason);
            let config = self.naming.as_ref().map_err(|reason| refused(reason.clone()))?;
            let made = autonaming.make(&registration.urn, config, &self.operation.seed).map_err(refused)?;
            (Value::String(made.name), !made.random)
        };
        inputs.insert(autonaming.property.clone(), name);
        registration.fixed_name = fixed;
        Ok(())
    }

    fn propose_name(&self, registration: &mut Registration) -> Result<(), RegistrationError> {
        let config = self.naming.as_ref();
        let config = config.map_err(|reason| RegistrationError::on(&registration.urn, reason.clone()))?;
        let proposal = config.proposal(&registration.urn, &self.operation.seed);
        // Which property is the name is not known here: what has a fixed name is deleted before it is replaced.
        registration.fixed_name = proposal.as_ref().is_some_and(|(_, random)| !random);
        registration.proposed_name = proposal.map(|(proposal, _)| proposal);
        Ok(())
    }
}
