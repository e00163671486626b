//! A registration, and before it that of the default provider which it needs (docs/rules 1.4, 2 and 3).

use std::collections::BTreeSet;

use maloko_core::provider::{Answer, Method};
use maloko_core::{PropertyMap, Value};

use crate::program::Resource;
use crate::rules::Rule;
use crate::sdk::{self, ResolvedResource};

use super::expected_diff::ExpectedDiff;
use super::packages::{default_provider, keep_version};
use super::paths::{differences, put_back};
use super::targets::names;
use super::wanted_resource::WantedResource;
use super::{EarlierRegistration, Halt, Model, Record, UNKNOWN_ID};

impl Model<'_> {
    /// Registers a resource; gives what the program learns of it.
    pub(crate) fn register(&mut self, resource: &Resource) -> Result<ResolvedResource, Halt> {
        let provider = self.provider_of(resource)?;
        self.read_doubted(resource)?;
        let wanted = self.wanted(resource, provider)?;
        let mut known = self.settle(wanted)?;
        if resource.is_provider {
            known.id = if known.unknown { UNKNOWN_ID.to_owned() } else { self.id_of_provider(&known.urn) };
        }
        Ok(known)
    }

    /// The reference to the provider resource of a resource that a plugin serves: settled before all else of it.
    pub(crate) fn provider_of(&mut self, resource: &Resource) -> Result<String, Halt> {
        let Some(package) = resource.package.clone().filter(|_| resource.is_of_plugin()) else {
            return Ok(String::new());
        };
        let named = sdk::provider(resource, &self.before.step.program, &self.known);
        if !named.is_empty() {
            self.counts.hit(Rule::ProviderNamed);
            return Ok(named);
        }
        let (parent, _) = self.place(resource);
        if let Some(known) = self.registered.get(&parent).and_then(|earlier| earlier.providers.get(&package)).cloned() {
            self.counts.hit(Rule::ProviderOfParent);
            return Ok(known);
        }
        self.counts.hit(Rule::ProviderDefault);
        let key = (package.clone(), resource.version.clone());
        if let Some(reference) = self.default_providers.get(&key) {
            return Ok(reference.clone());
        }
        let own = |(key, text): (&String, &String)| {
            let (of, key) = key.split_once(':')?;
            (of == package).then(|| (key.to_owned(), text.clone()))
        };
        let provider = default_provider(&package, key.1.as_ref(), self.before.step.config.iter().filter_map(own));
        let known = self.register(&provider)?;
        let reference = format!("{}::{}", known.urn, known.id);
        self.default_providers.insert(key, reference.clone());
        Ok(reference)
    }

    fn settle(&mut self, mut wanted: WantedResource<'_>) -> Result<ResolvedResource, Halt> {
        let resource = wanted.resource;
        if !self.targeted(&wanted)? {
            return Ok(self.untouched(&wanted));
        }
        if wanted.record.provider_urn().is_some_and(|urn| self.failures.contains(urn)) {
            // There is nobody who could be asked.
            self.counts.hit(Rule::FailureSkipsByProvider);
            return Ok(self.skip(&wanted));
        }
        self.start_provider(resource)?;
        if resource.component {
            return Ok(self.component(wanted));
        }
        let old = wanted.old.map(|index| self.slots[index].clone());
        let recreating = old.as_ref().is_some_and(|slot| slot.deleted_first);
        let external = old.as_ref().is_some_and(|slot| slot.record.external);
        let tainted = old.as_ref().is_some_and(|slot| slot.record.taint);
        let forced = old.is_some()
            && !external
            && !recreating
            && (tainted || names(&self.before.step.replace, &wanted.record.urn));
        let afresh = old.is_none() || recreating || external || forced;
        let (olds, news) = match &old {
            Some(slot) if !afresh => {
                let news = put_back(&slot.record.inputs, &wanted.inputs, &resource.ignore_changes);
                (slot.record.inputs.clone(), news)
            }
            _ => (PropertyMap::new(), wanted.inputs.clone()),
        };
        wanted.record.inputs = self.check(&wanted.record, olds, news)?;
        let Some(slot) = old else { return self.create(wanted) };
        let old = slot.record;
        if recreating {
            self.counts.hit(Rule::Recreating);
            return self.recreate(wanted);
        }
        if external {
            self.counts.hit(Rule::FromExternal);
            return self.create_first(&wanted);
        }
        let triggered = matches!((&old.trigger, &wanted.record.trigger), (Some(before), Some(now)) if before != now);
        if forced && !triggered {
            self.counts.hit(if tainted { Rule::Tainted } else { Rule::Forced });
            self.guard(&old, &wanted)?;
            return self.replace(wanted, None);
        }
        let implied = if triggered {
            Some(Rule::Trigger)
        } else if wanted.record.replace_with.iter().any(|urn| self.replaced.contains(urn)) {
            Some(Rule::ReplaceWith)
        } else if wanted.record.deleted_with.as_ref().is_some_and(|urn| self.replaced.contains(urn)) {
            Some(Rule::DeletedWithReplaced)
        } else {
            None
        };
        let expected = match implied {
            Some(rule) => {
                self.counts.hit(rule);
                ExpectedDiff { changed: true, replace: true, ..ExpectedDiff::default() }
            }
            None if self.moves_to_another_provider(&old, &wanted)? => {
                ExpectedDiff { changed: true, replace: true, ..ExpectedDiff::default() }
            }
            None => self.ask_diff(&old, &wanted)?,
        };
        if expected.replace {
            self.guard(&old, &wanted)?;
            wanted.record.inputs = self.check(&wanted.record, PropertyMap::new(), wanted.inputs.clone())?;
            return self.replace(wanted, expected.delete_first);
        }
        if expected.changed { self.change(wanted, &old, expected) } else { Ok(self.keep(wanted, &old)) }
    }

    /// Identity, inherited options and inputs.
    fn wanted<'r>(&mut self, resource: &'r Resource, provider: String) -> Result<WantedResource<'r>, Halt> {
        let (parent, urn) = self.free_place(resource)?;
        let (old, formerly) = self.find_old(&urn, &parent, resource)?;
        let above = self.registered.get(&parent).cloned().unwrap_or_default();
        for (inherited, rule) in [
            (resource.protect.is_none() && above.protect, Rule::ProtectInherited),
            (resource.retain.is_none() && above.retain, Rule::RetainInherited),
            (resource.deleted_with.is_none() && above.deleted_with.is_some(), Rule::DeletedWithInherited),
        ] {
            if inherited {
                self.counts.hit(rule);
            }
        }
        let mut inputs = sdk::inputs(resource, &self.known, self.before.dry_run);
        if inputs.values().any(Value::contains_unknown) && self.before.dry_run {
            self.counts.hit(Rule::PreviewUnknown);
        }
        let (dependencies, by_property) = sdk::dependencies(resource, &inputs, &self.known);
        keep_version(resource, &mut inputs);
        let urn_of = |name: &String| self.known.get(name).map(|known| known.urn.clone());
        let record = Record {
            urn: urn.clone(),
            custom: !resource.component,
            provider,
            inputs: inputs.clone(),
            parent: Some(parent).filter(|parent| !parent.is_empty()),
            protect: resource.protect.unwrap_or(above.protect),
            retain: resource.retain.unwrap_or(above.retain),
            dependencies,
            by_property,
            deleted_with: resource.deleted_with.as_ref().and_then(urn_of).or(above.deleted_with),
            replace_with: resource.replace_with.iter().filter_map(urn_of).collect(),
            ignore_changes: resource.ignore_changes.clone(),
            replace_on_changes: resource.replace_on_changes.clone(),
            trigger: resource.trigger.as_ref().map(|text| crate::show::value(&Value::String(text.clone()))),
            ..Record::default()
        };
        let mut providers = sdk::children_use(resource, &self.before.step.program, &self.known);
        if resource.component {
            for (package, reference) in above.providers {
                providers.entry(package).or_insert(reference);
            }
        }
        let (protect, retain, deleted_with) = (record.protect, record.retain, record.deleted_with.clone());
        let earlier = EarlierRegistration { protect, retain, deleted_with, formerly, providers };
        self.registered.insert(urn, earlier);
        if let Some(slot) = old {
            self.slots[slot].handled = true;
        }
        let skipped = record.references().any(|urn| self.failures.contains(urn));
        Ok(WantedResource { resource, inputs, record, old, skipped })
    }

    /// Is it a target? An error when it needs what was left out.
    fn targeted(&mut self, wanted: &WantedResource<'_>) -> Result<bool, Halt> {
        let urn = &wanted.record.urn;
        if self.selects(urn, wanted.record.references()) {
            if wanted.record.references().any(|other| self.skipped.contains(other)) {
                if !self.before.dry_run {
                    self.counts.hit(Rule::TargetSkippedNeeded);
                    return Err(Halt);
                }
                self.counts.hit(Rule::TargetSkippedPreview);
                self.failed = true;
            }
            // Who depends on a failure is skipped, so its state stays where it is.
            if !wanted.skipped && self.closes_circle(wanted) {
                self.counts.hit(Rule::TargetCircle);
                if !self.before.dry_run {
                    return Err(Halt);
                }
                self.failed = true;
            }
            return Ok(true);
        }
        if wanted.old.is_none() {
            self.counts.hit(Rule::TargetSkippedCreate);
            self.skipped.insert(urn.clone());
        } else {
            self.counts.hit(Rule::Untargeted);
        }
        Ok(false)
    }

    /// Does something that it comes to depend on still depend on it, because that is no target?
    fn closes_circle(&self, wanted: &WantedResource<'_>) -> bool {
        let step = self.before.step;
        if step.targets.is_empty() && step.excludes.is_empty() {
            return false;
        }
        let former = wanted.old.map(|slot| self.slots[slot].record.urn.clone());
        let mut open: Vec<String> = wanted.record.references().map(str::to_owned).collect();
        let mut known: BTreeSet<String> = BTreeSet::new();
        while let Some(urn) = open.pop() {
            if urn == wanted.record.urn || Some(&urn) == former.as_ref() {
                return true;
            }
            if known.insert(urn.clone()) {
                let state = self.resources().find(|record| record.urn == urn && !record.delete);
                open.extend(state.into_iter().flat_map(Record::references).map(str::to_owned));
            }
        }
        false
    }

    /// What is no target stays as it was; a new one is not there, and unknown.
    fn untouched(&mut self, wanted: &WantedResource<'_>) -> ResolvedResource {
        let urn = wanted.record.urn.clone();
        if wanted.skipped {
            self.failures.insert(urn.clone());
            return ResolvedResource { urn, unknown: true, ..ResolvedResource::default() };
        }
        self.step("same", &urn, None);
        let Some(slot) = wanted.old else {
            return ResolvedResource { urn, unknown: true, ..ResolvedResource::default() };
        };
        let outputs = if wanted.record.custom { self.slots[slot].record.outputs.clone() } else { PropertyMap::new() };
        self.slots[slot].carried = true;
        let record = Record { urn: urn.clone(), ..self.slots[slot].record.clone() };
        self.put(slot, record);
        ResolvedResource { urn, outputs, ..ResolvedResource::default() }
    }

    fn component(&mut self, wanted: WantedResource<'_>) -> ResolvedResource {
        let urn = wanted.record.urn.clone();
        if wanted.skipped {
            return self.skip(&wanted);
        }
        let mut record = wanted.record;
        match wanted.old {
            None => {
                self.counts.hit(Rule::StepCreate);
                self.step("create", &urn, None);
                self.append(record);
            }
            Some(slot) => {
                let old = self.slots[slot].record.clone();
                let news = put_back(&old.inputs, &wanted.inputs, &wanted.resource.ignore_changes);
                let equal = differences(&old.inputs, &news).is_empty();
                self.counts.hit(if equal { Rule::ComponentSame } else { Rule::ComponentUpdate });
                self.step(if equal { "same" } else { "update" }, &urn, None);
                record.inputs = news;
                record.outputs = old.outputs;
                self.put(slot, record);
            }
        }
        ResolvedResource { urn, ..ResolvedResource::default() }
    }

    fn check(&mut self, record: &Record, olds: PropertyMap, mut news: PropertyMap) -> Result<PropertyMap, Halt> {
        if !self.before.dry_run {
            // Only what depends on a failure is unknown in a real run; its provider does not see it.
            news.retain(|_, value| !value.contains_unknown());
        }
        let answer = if Self::is_provider_of_plugin(&record.urn) {
            self.check_provider(&record.urn, &olds, &news)
        } else {
            self.call(record, &Method::Check { olds, news }, None)
        };
        match answer {
            Ok(Answer::Checked { inputs, failures }) if failures.is_empty() => Ok(inputs),
            Ok(_) => {
                self.counts.hit(Rule::CheckRefuses);
                Err(Halt)
            }
            Err(_) => {
                if self.before.step.continue_on_error {
                    self.counts.hit(Rule::PlanningFailureStops);
                }
                Err(Halt)
            }
        }
    }
}
