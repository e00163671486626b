//! Deleting what is no longer wanted, group by group (docs/rules 5).

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures::future::join_all;

use crate::event::{Event, IMPLIED, Op};
use crate::hash::FixedSet;
use crate::operation::OperationKind;
use crate::plan::{Leftovers, RegistrationError, Step};
use crate::resource_state::ResourceState;
use crate::schedule::{Level, deletion_levels};
use crate::state::ResourceNumber;
use crate::urn::{Urn, UrnMap, UrnSet};

use crate::driver::deletion::Deletion;
use crate::driver::deletion::exclude_protected::exclude_protected;
use crate::driver::deletion::needs::keep_what_it_needs;
use crate::driver::exchange::WatchedWait;
use crate::driver::steps::delete::deletion_op;

impl Deletion {
    /// Deletes every resource that the program no longer has, and those that wait for their deletion.
    pub(crate) async fn delete_leftovers(&self) {
        self.planning.end();
        let leftovers = {
            let ledger = self.journal.ledger();
            self.planning.planner().leftovers(|number| ledger.get(number))
        };
        let mut condemned = match leftovers {
            Ok(condemned) => condemned,
            Err(refused) => {
                for refusal in refused {
                    self.reports.refuse(&refusal);
                }
                return;
            }
        };
        if self.operation.kind == OperationKind::Update && self.refuse_guarded(&condemned) {
            return;
        }
        if self.operation.exclude_protected {
            let spared = exclude_protected(&mut condemned, |resource| self.steps.is_protected(resource));
            *self.spared.borrow_mut() = spared;
        }
        self.tell_of_what_stays(&condemned);
        self.spare_what_failures_need(&mut condemned);
        self.spare_providers_in_use(&mut condemned);
        self.provider_plugins.start_plugins_of(condemned.values());
        self.expect(&condemned);
        let mut kept = FixedSet::default();
        // What a protected resource needs is known to stay before anything goes.
        for number in
            condemned.iter().filter(|(_, resource)| self.steps.is_protected(resource)).map(|(number, _)| *number)
        {
            keep_what_it_needs(number, &condemned, &mut kept);
        }
        let levels = deletion_levels(&condemned);
        let mut waiting = self.wait_for_their_turn(&levels);
        for level in levels {
            if self.stop.is_halted() {
                return;
            }
            for (number, _) in &level {
                waiting.remove(number);
            }
            let level: Vec<_> = level.into_iter().filter(|(number, _)| !kept.contains(number)).collect();
            let going = self.going(&condemned, &kept);
            for failed in self.delete_level(level, &going).await {
                keep_what_it_needs(failed, &condemned, &mut kept);
            }
        }
    }

    /// What an update deletes comes to what the program registers. Of a destroy it is in the state, and an old object belongs to a
    /// replacement that is counted.
    fn expect(&self, condemned: &Leftovers) {
        if self.operation.kind == OperationKind::Update {
            let steps = condemned
                .values()
                .filter(|resource| deletion_op(resource).counted("").is_some() && !resource.urn.is_default_provider());
            self.reports.counts.expect(steps.count());
        }
    }

    /// The waits of the resources whose objects are deleted, but for those that go first.
    fn wait_for_their_turn(&self, levels: &[Level]) -> BTreeMap<ResourceNumber, WatchedWait<'_>> {
        let later = levels.iter().skip(1).flatten();
        later
            .filter(|(_, resource)| {
                resource.custom && !resource.urn.is_default_provider() && !self.steps.is_protected(resource)
            })
            .filter_map(|(number, resource)| Some((*number, self.waits.wait_for_deletions(&resource.urn)?)))
            .collect()
    }

    /// Tells of the resources that a selection leaves as they are, and that the program did not register: they are the
    /// same.
    fn tell_of_what_stays(&self, condemned: &Leftovers) {
        let is_everything = self.operation.targets.is_empty() && self.operation.excludes.is_empty();
        if is_everything && !self.operation.exclude_protected {
            return;
        }
        let staying: Vec<(ResourceNumber, Arc<ResourceState>)> = {
            let planner = self.planning.planner();
            let untouched = |number: &ResourceNumber| !planner.is_handled(*number) && !condemned.contains_key(number);
            let known = planner.base().iter().zip(0..).map(|(_, number)| number).filter(untouched);
            let resource = |number| Some((number, self.journal.numbered(number)?));
            known
                .filter_map(resource)
                .filter(|(_, resource)| !resource.delete && !resource.pending_replacement)
                .collect()
        };
        for (number, resource) in staying {
            let step = Step::new(
                Op::Same,
                &resource.urn.clone(),
                Some((number, Arc::clone(&resource))),
                Some(Arc::clone(&resource)),
            );
            self.reports.emit(Event::StepStarted(step.metadata(Some(Arc::clone(&resource)))));
            self.reports.count(Op::Same, &step.urn);
            self.reports.emit(Event::StepDone(step.metadata(Some(resource))));
        }
    }

    /// The resources whose objects go, and take along those that are `deletedWith` them. An object that this run found
    /// alive goes with an owner that it found alive; only an old object of an earlier run may have had an owner of that time.
    fn going(&self, condemned: &Leftovers, kept: &FixedSet<ResourceNumber>) -> DepartingResources {
        let planner = self.planning.planner();
        let base = planner.base();
        let mut going = DepartingResources::default();
        for (number, resource) in condemned {
            if resource.pending_replacement || kept.contains(number) || self.steps.is_protected(resource) {
                continue;
            }
            if base.get(*number as usize).is_some_and(|old| old.delete) {
                going.old_objects.insert(*number);
            } else {
                going.living.insert(resource.urn.clone());
            }
            going.all.insert(resource.urn.clone());
        }
        going
    }

    /// Refuses the deletions if one of them is of a resource that the host has taken under its guard.
    fn refuse_guarded(&self, condemned: &Leftovers) -> bool {
        let guarded = self.selection.take_guarded();
        let mut refused = false;
        for resource in condemned.values().filter(|resource| !resource.delete) {
            if let Some(reason) = guarded.get(&resource.urn) {
                self.reports.refuse(&RegistrationError::on(&resource.urn, reason.clone()));
                refused = true;
            }
        }
        refused
    }

    /// With continue-on-error: nothing goes that a failed resource depends on.
    fn spare_what_failures_need(&self, condemned: &mut Leftovers) {
        let mut needed: Vec<Urn> = {
            let (failed, planner) = (self.selection.failed(), self.planning.planner());
            // A resource whose update failed still goes by its former URN.
            let former = failed.iter().filter_map(|urn| planner.formerly(urn));
            former.chain(&*failed).cloned().collect()
        };
        if needed.is_empty() {
            return;
        }
        needed.sort();
        let mut seen: UrnSet = UrnSet::default();
        let resources: UrnMap<Arc<ResourceState>> =
            self.journal.resources().into_iter().map(|(_, resource)| (resource.urn.clone(), resource)).collect();
        while let Some(urn) = needed.pop() {
            if seen.insert(urn.clone())
                && let Some(resource) = resources.get(&urn)
            {
                needed.extend(resource.references());
            }
        }
        condemned.retain(|_, resource| resource.delete || !seen.contains(&resource.urn));
    }

    /// A provider that was replaced stays for as long as a resource names it that stays: what was not selected, or
    /// whose update failed. Other resources name their references by URN alone, which the new one has, too. What it
    /// refers to stays with it.
    fn spare_providers_in_use(&self, condemned: &mut Leftovers) {
        let none = !condemned.values().any(|resource| resource.urn.provider_package().is_some());
        if none {
            return;
        }
        let staying: Vec<Arc<ResourceState>> = {
            let ledger = self.journal.ledger();
            let resources = ledger.resources().filter(|(number, _)| !condemned.contains_key(number));
            resources
                .filter(|(_, resource)| !resource.pending_replacement)
                .map(|(_, resource)| Arc::clone(resource))
                .collect()
        };
        let used: HashSet<&str> = staying.iter().map(|resource| resource.provider.as_str()).collect();
        // The last provider of a package lends its environment; no resource names it for that.
        let is_last = |resource: &ResourceState| {
            let package = resource.urn.provider_package();
            !staying.iter().any(|other| other.urn.provider_package() == package)
        };
        let is_used = |resource: &ResourceState| {
            resource.urn.provider_package().is_some()
                && (used.contains(resource.as_provider_reference().as_str())
                    || staying.iter().any(|other| resource.lends_environment_to(other)) && is_last(resource))
        };
        let numbers: Vec<ResourceNumber> =
            condemned.iter().filter(|(_, resource)| is_used(resource)).map(|(number, _)| *number).collect();
        let mut spared: FixedSet<ResourceNumber> = numbers.iter().copied().collect();
        for number in numbers {
            keep_what_it_needs(number, condemned, &mut spared);
        }
        condemned.retain(|number, _| !spared.contains(number));
    }

    /// Deletes the resources of a level side by side; gives the numbers of those that were not deleted.
    async fn delete_level(
        &self,
        level: Vec<(ResourceNumber, Arc<ResourceState>)>,
        going: &DepartingResources,
    ) -> Vec<ResourceNumber> {
        let mut failed = Vec::new();
        let mut running = Vec::new();
        let side_by_side = self.operation.parallel > 1 && level.len() > 1 && !self.operation.dry_run;
        for (number, resource) in level {
            let implied = resource.deleted_with.as_ref().is_some_and(|owner| going.takes_along(number, owner));
            let step = deletion_step(number, resource, implied);
            let calls = step.op == Op::Delete || step.op == Op::DeleteReplaced;
            if !(side_by_side && calls) {
                if !matches!(self.steps.delete_one(step).await, Ok(true)) {
                    failed.push(number);
                }
                continue;
            }
            running.push(async move { (number, matches!(self.steps.delete_one(step).await, Ok(true))) });
        }
        failed.extend(join_all(running).await.into_iter().filter(|(_, deleted)| !deleted).map(|(number, _)| number));
        failed
    }
}

/// The owners that go in one level of deletions or a later one.
#[derive(Default)]
struct DepartingResources {
    all: UrnSet,
    living: UrnSet,
    /// The resources that were old objects before this run.
    old_objects: FixedSet<ResourceNumber>,
}

impl DepartingResources {
    /// Is the object gone with its owner?
    fn takes_along(&self, number: ResourceNumber, owner: &Urn) -> bool {
        let owners = if self.old_objects.contains(&number) { &self.all } else { &self.living };
        owners.contains(owner)
    }
}

fn deletion_step(number: ResourceNumber, resource: Arc<ResourceState>, implied: bool) -> Step {
    let (op, urn) = (deletion_op(&resource), resource.urn.clone());
    Step { note: if implied { IMPLIED } else { "" }, ..Step::new(op, &urn, Some((number, resource)), None) }
}
