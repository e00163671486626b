//! What the planner knows of a run: the old resources, what was registered, replaced and deleted so far.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::autonaming::{NamingConfig, StackFacts};
use crate::hash::{FixedSet, map_for};
use crate::operation::Operation;
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::{Urn, UrnMap, UrnSet};

use super::refusals::registration::RegistrationError;
use super::step::Step;
use super::targets::{Leftovers, Targets, matches_any};

/// What later registrations need to know of an earlier one.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlierRegistration {
    pub(super) protect: bool,
    pub(super) retain_on_delete: bool,
    pub(super) deleted_with: Option<Urn>,
    pub(super) provider: String,
    /// Of a component: the provider resources for its children, by package.
    pub(super) providers: BTreeMap<String, String>,
    /// The URN of its old state, where that is another one.
    pub(super) formerly: Option<Urn>,
    /// What its state will refer to; kept only in runs that select resources.
    pub(super) needs: Vec<Urn>,
}

/// Options that children take from their parent when they do not say themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InheritedOptions {
    /// Protection.
    pub protect: bool,
    /// Forget instead of deleting.
    pub retain_on_delete: bool,
    /// What implies the deletion.
    pub deleted_with: Option<Urn>,
}

/// Where the resources of a URN stand: nearly always it is one.
pub(super) type Numbers = SmallVec<[ResourceNumber; 1]>;

/// The decisions of one run.
pub struct Planner {
    pub(super) operation: Arc<Operation>,
    pub(super) base: Vec<Arc<ResourceState>>,
    pub(super) by_urn: UrnMap<Numbers>,
    pub(super) handled: FixedSet<ResourceNumber>,
    pub(super) deleted_first: FixedSet<ResourceNumber>,
    /// Resources of objects that this run found, beside those that it began with.
    taken_in: UrnMap<(ResourceNumber, Arc<ResourceState>)>,
    /// Resources that are no targets and stay as they were.
    pub(super) carried: FixedSet<ResourceNumber>,
    pub(super) registered: UrnMap<EarlierRegistration>,
    pub(super) claimed: UrnMap<Urn>,
    pub(super) replaced: UrnSet,
    pub(super) targets: Targets,
    /// How names are made; an error is told to those who need one.
    pub(super) naming: Result<NamingConfig, String>,
    /// By package: the reference to the engine's own provider resource.
    pub(super) default_providers: HashMap<String, String>,
    pub(super) new_id: Box<dyn Fn() -> String + Send + Sync>,
}

impl Planner {
    /// A planner for a run that begins with these resources. `new_id` makes ids of provider resources (random UUIDs).
    #[must_use]
    pub fn new(
        operation: Arc<Operation>,
        base: Vec<Arc<ResourceState>>,
        new_id: Box<dyn Fn() -> String + Send + Sync>,
    ) -> Self {
        let mut by_urn: UrnMap<Numbers> = map_for(base.len());
        for (number, resource) in (0..).zip(&base) {
            by_urn.entry(resource.urn.clone()).or_default().push(number);
        }
        let facts = StackFacts {
            organization: &operation.organization,
            project: &operation.project,
            stack: &operation.stack,
            config: &operation.config,
        };
        Self {
            naming: NamingConfig::read(&facts),
            targets: Targets::new(&operation),
            registered: map_for(base.len()),
            operation,
            base,
            by_urn,
            handled: FixedSet::default(),
            deleted_first: FixedSet::default(),
            taken_in: UrnMap::default(),
            carried: FixedSet::default(),
            claimed: UrnMap::default(),
            replaced: UrnSet::default(),
            default_providers: HashMap::new(),
            new_id,
        }
    }

    /// The resource that a URN stands for, among the resources that the run began with; resources that wait for
    /// deletion do not count.
    #[must_use]
    pub fn old_state(&self, urn: &Urn) -> Option<(ResourceNumber, Arc<ResourceState>)> {
        if let Some((number, resource)) = self.taken_in.get(urn) {
            return Some((*number, Arc::clone(resource)));
        }
        let numbers = self.by_urn.get(urn)?;
        numbers.iter().find_map(|number| {
            let resource = self.base.get(*number as usize)?;
            (!resource.delete).then(|| (*number, Arc::clone(resource)))
        })
    }

    /// The resources that the run began with.
    #[must_use]
    pub fn base(&self) -> &[Arc<ResourceState>] {
        &self.base
    }

    /// Goes on from another resource: a refresh found that its object is not as it was stored, or a migration rewrote
    /// it.
    pub fn renew(&mut self, number: ResourceNumber, resource: Arc<ResourceState>) {
        let Some(place) = self.base.get_mut(number as usize) else { return };
        let former = std::mem::replace(place, resource);
        if former.urn != place.urn {
            let urn = place.urn.clone();
            if let Some(numbers) = self.by_urn.get_mut(&former.urn) {
                numbers.retain(|other| *other != number);
            }
            self.by_urn.entry(urn).or_default().push(number);
        }
    }

    /// Goes on without a resource: a refresh found that its object is gone.
    pub fn forget(&mut self, number: ResourceNumber) {
        self.handled.insert(number);
        if let Some(resource) = self.base.get(number as usize)
            && let Some(numbers) = self.by_urn.get_mut(&resource.urn)
        {
            numbers.retain(|other| *other != number);
        }
    }

    /// Goes on with the resource of an object that was found, beside the resources that the run began with.
    pub fn take_in(&mut self, number: ResourceNumber, resource: Arc<ResourceState>) {
        self.taken_in.insert(resource.urn.clone(), (number, resource));
    }

    /// Was the resource dealt with by this run?
    #[must_use]
    pub fn is_handled(&self, number: ResourceNumber) -> bool {
        self.handled.contains(&number)
    }

    /// Was a resource of that URN registered or read in this run?
    #[must_use]
    pub fn is_seen(&self, urn: &Urn) -> bool {
        self.registered.contains_key(urn)
    }

    /// The resources that were registered or read in this run.
    pub fn all_seen(&self) -> impl Iterator<Item = &Urn> {
        self.registered.keys()
    }

    /// Ends a registration because of a refusal; a preview only notes it, so that all of them are seen at once
    /// (docs/rules 3.5, 6).
    pub(super) fn object(
        &self,
        guarded: Result<(), RegistrationError>,
        complaints: &mut Vec<RegistrationError>,
    ) -> Result<(), RegistrationError> {
        match guarded {
            Err(refusal) if self.operation.dry_run => {
                complaints.push(refusal);
                Ok(())
            }
            other => other,
        }
    }

    /// The URN of the resource that a registration of this run went on from, where that is another one.
    #[must_use]
    pub fn formerly(&self, urn: &Urn) -> Option<&Urn> {
        self.registered.get(urn)?.formerly.as_ref()
    }

    /// Takes back what was planned for a registration, because it is left out after all, or because it failed before
    /// these steps.
    pub fn take_back(&mut self, urn: &Urn, steps: &[Step]) {
        self.replaced.remove(urn);
        for step in steps.iter().filter(|step| step.keep_until_replaced) {
            if let Some((number, _)) = &step.old {
                self.deleted_first.remove(number);
                self.replaced.remove(&step.urn);
            }
        }
    }

    /// Was the resource left out, because it is new and no target?
    #[must_use]
    pub fn is_left_out(&self, urn: &Urn) -> bool {
        self.targets.skipped.contains(urn)
    }

    /// The options that children of a resource of this run take over; `None` when it was not registered.
    #[must_use]
    pub fn inherited(&self, parent: &Urn) -> Option<InheritedOptions> {
        self.registered.get(parent).map(|earlier| InheritedOptions {
            protect: earlier.protect,
            retain_on_delete: earlier.retain_on_delete,
            deleted_with: earlier.deleted_with.clone(),
        })
    }

    /// Does the run replace the resource, because it is asked to or because the resource is marked?
    pub(super) fn is_forced(&self, urn: &Urn, old: &ResourceState) -> Option<&'static str> {
        if old.taint {
            return Some("taint");
        }
        matches_any(&self.operation.replace, urn).then_some("")
    }

    /// The resources that the program no longer has, with those that wait for their deletion, in state order; or why
    /// they may not be deleted. `current` is the resource of a number as it is now.
    pub fn leftovers<'a>(
        &self,
        current: impl Fn(ResourceNumber) -> Option<&'a Arc<ResourceState>>,
    ) -> Result<Leftovers, Vec<RegistrationError>> {
        let numbers = 0..ResourceNumber::try_from(self.base.len()).unwrap_or(ResourceNumber::MAX);
        let needed = self.needed_by_carried();
        let taken_in = self.taken_in.values().map(|(number, _)| *number);
        let leftovers = numbers
            .chain(taken_in.filter(|number| *number as usize >= self.base.len()))
            .filter_map(|number| current(number).map(|resource| (number, Arc::clone(resource))))
            .filter(|(number, resource)| {
                resource.delete || resource.pending_replacement || !self.handled.contains(number)
            })
            .filter(|(_, resource)| resource.delete || !needed.contains(&resource.urn))
            .filter(|(_, resource)| !resource.view_of.as_ref().is_some_and(|owner| self.is_known(owner)))
            .collect();
        self.targets.deletable(leftovers, &self.base)
    }

    /// Goes on with a resource as it is, without a registration of its own.
    pub fn pass_over(&mut self, number: ResourceNumber) {
        self.handled.insert(number);
    }

    /// Is there a resource of that URN, or one that this run gave another one? Its views go with it, and not by themselves.
    fn is_known(&self, urn: &Urn) -> bool {
        self.registered.contains_key(urn) || self.claimed.contains_key(urn) || self.by_urn.contains_key(urn)
    }

    /// What a carried resource refers to is carried along with it, and so is what that refers to, as far as the program
    /// does not have it (docs/rules 4.7).
    fn needed_by_carried(&self) -> UrnSet {
        let mut needed = UrnSet::default();
        let mut open: Vec<ResourceNumber> = self.carried.iter().copied().collect();
        open.sort_unstable();
        while let Some(number) = open.pop() {
            for urn in self.base.get(number as usize).into_iter().flat_map(|resource| resource.references()) {
                let old = self.old_state(&urn).filter(|(number, _)| !self.handled.contains(number));
                if needed.insert(urn) {
                    open.extend(old.map(|(number, _)| number));
                }
            }
        }
        needed
    }

    /// May a refresh touch the resource? Resources are to be asked about in state order.
    pub fn selects(&mut self, resource: &ResourceState) -> bool {
        self.targets.selects(resource)
    }
}
