//! The types of objects that are imported by their provider (docs/rules 7.3): a class may give its resources a type of its own,
//! which the place of the provider does not tell.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::operation::{Adoption, ProviderChoice};
use crate::plan::RegistrationError;
use crate::provider::ProviderReference;
use crate::urn::{Urn, UrnSet};

use crate::driver::calls::resolved_provider::ProviderKind;
use crate::driver::registration::Adoptions;

impl Adoptions {
    /// The list with the type of each object; what has none that is certain is refused and left out.
    pub(super) async fn with_types(&self, adoptions: Vec<Adoption>) -> Vec<Adoption> {
        let mut typed = Vec::with_capacity(adoptions.len());
        let mut known: HashMap<String, BTreeSet<String>> = HashMap::new();
        for mut adoption in adoptions {
            if let (true, ProviderChoice::Named(reference)) = (adoption.typed_by_provider, &adoption.provider) {
                let kinds = match known.entry(reference.place()) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => place.insert(self.types_of_provider(reference).await),
                };
                let mut each = kinds.iter();
                match (each.next(), each.next()) {
                    (Some(kind), None) => adoption.kind.clone_from(kind),
                    (None, _) => {}
                    (Some(_), Some(_)) => {
                        let (urn, place) = (&adoption.urn, reference.place());
                        self.reports.complain(&RegistrationError::many_types_of_provider(urn, &place, kinds));
                        continue;
                    }
                }
            }
            typed.push(adoption);
        }
        let renamed = named_anew(typed);
        let mut urns = UrnSet::default();
        let (once, twice): (Vec<_>, Vec<_>) =
            renamed.into_iter().partition(|adoption| urns.insert(adoption.urn.clone()));
        for adoption in twice {
            self.reports.complain(&RegistrationError::listed_twice(&adoption.urn));
        }
        once
    }

    /// The types of the resources that a provider's objects serve: those of the program, else those of the state.
    async fn types_of_provider(&self, reference: &Arc<ProviderReference>) -> BTreeSet<String> {
        // Whatever is wrong with it is told when the object is asked for.
        let Ok(Some(resolved)) = self.providers.named(reference).await else { return BTreeSet::new() };
        let ProviderKind::Live { reference, .. } = resolved.server else { return BTreeSet::new() };
        let is_its = |other: &ProviderReference| other.module == reference.module && other.name == reference.name;
        let in_program = self.providers.types_served(is_its);
        if !in_program.is_empty() {
            return in_program;
        }
        let planner = self.planning.planner();
        let resources = planner.base().iter().filter(|resource| resource.custom && !resource.external);
        resources
            .filter(|resource| self.providers.stored_reference(resource).is_ok_and(|stored| is_its(&stored)))
            .map(|resource| resource.kind.clone())
            .collect()
    }
}

/// The list with URNs that have the types; parents and providers that are on the list themselves are renamed with them.
fn named_anew(mut adoptions: Vec<Adoption>) -> Vec<Adoption> {
    let places: HashMap<Urn, usize> =
        adoptions.iter().enumerate().map(|(place, adoption)| (adoption.urn.clone(), place)).collect();
    let anew: Vec<Urn> = (0..adoptions.len()).map(|place| urn_of(&adoptions, &places, place)).collect();
    let of = |urn: &Urn| places.get(urn).map(|place| anew[*place].clone());
    for (adoption, urn) in adoptions.iter_mut().zip(&anew) {
        adoption.urn = urn.clone();
        if let Some(parent) = &mut adoption.parent
            && let Some(renamed) = of(parent)
        {
            *parent = renamed;
        }
        if let ProviderChoice::OfResource(provider) = &mut adoption.provider
            && let Some(renamed) = of(provider)
        {
            *provider = renamed;
        }
    }
    adoptions
}

fn urn_of(adoptions: &[Adoption], places: &HashMap<Urn, usize>, place: usize) -> Urn {
    let own = &adoptions[place];
    // From the object upwards: each type stands before those below it.
    let (mut types, mut parent, mut seen) = (vec![own.kind.as_str()], own.parent.as_ref(), 0);
    while let Some(urn) = parent {
        match places.get(urn) {
            // Parents that go round in a circle are refused later.
            Some(above) if seen < adoptions.len() => {
                types.push(&adoptions[*above].kind);
                parent = adoptions[*above].parent.as_ref();
                seen += 1;
            }
            _ => {
                types.push(urn.qualified_type());
                break;
            }
        }
    }
    types.reverse();
    let (kind, above) = types.split_last().map_or(("", String::new()), |(kind, above)| (*kind, above.join("$")));
    Urn::new(own.urn.stack(), own.urn.project(), &above, kind, own.urn.name())
}
