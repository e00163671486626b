//! What has to be deleted before a resource that is deleted before its replacement is made (docs/rules 4.2).

use std::sync::Arc;

use crate::provider::PluginArguments;
use crate::provider::{DiffAnswer, Method};
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::{Urn, UrnSet};
use crate::value::{PropertyMap, Value};

use crate::plan::diff_result::{DiffInputs, judge};
use crate::plan::planner::Planner;
use crate::plan::registration::question::Question;
use crate::plan::secrecy::shown_to;

/// The search for dependents that must go first: it walks the resources in state order and asks of each candidate what
/// its provider would say if the values that it takes from condemned resources were unknown.
#[derive(Debug)]
pub(super) struct Cascade {
    condemned: UrnSet,
    deletions: Vec<(ResourceNumber, Arc<ResourceState>)>,
    next: ResourceNumber,
    asked: Option<(ResourceNumber, Arc<ResourceState>, PropertyMap)>,
}

impl Cascade {
    pub(super) fn new(root: ResourceNumber, resource: &ResourceState) -> Self {
        Self {
            condemned: UrnSet::from_iter([resource.urn.clone()]),
            deletions: Vec::new(),
            next: root + 1,
            asked: None,
        }
    }

    /// Takes the answer to the last question.
    pub(super) fn answer(&mut self, answer: &DiffAnswer) {
        let Some((number, resource, what_if)) = self.asked.take() else { return };
        let diff_result = judge(
            answer,
            &DiffInputs {
                old_inputs: &resource.inputs,
                new_inputs: &what_if,
                ignore_changes: &resource.ignore_changes,
                replace_on_changes: &resource.replace_on_changes,
                has_init_errors: false,
                renewed: false,
            },
        );
        if diff_result.replace {
            self.condemn(number, resource);
        }
    }

    fn condemn(&mut self, number: ResourceNumber, resource: Arc<ResourceState>) {
        self.condemned.insert(resource.urn.clone());
        self.deletions.push((number, resource));
    }

    /// The next question, or `None` when all is known. Resources that this run has dealt with are not candidates.
    pub(super) fn next_question(&mut self, planner: &Planner) -> Option<Question> {
        loop {
            let number = self.next;
            let resource = Arc::clone(planner.base().get(number as usize)?);
            self.next += 1;
            if planner.is_handled(number)
                || !resource.custom
                || resource.external
                || resource.urn.provider_package().is_some()
            {
                continue;
            }
            let follows = |urn: &Urn| self.condemned.contains(urn);
            let provider_goes = resource.provider_parts().is_some_and(|(urn, _)| follows(&urn));
            if provider_goes
                || resource.deleted_with.as_ref().is_some_and(follows)
                || resource.replace_with.iter().any(follows)
            {
                self.condemn(number, resource);
                continue;
            }
            let affected: Vec<&String> = resource
                .property_dependencies
                .iter()
                .filter(|(_, urns)| urns.iter().any(follows))
                .map(|(key, _)| key)
                .filter(|key| resource.inputs.contains_key(*key))
                .collect();
            if affected.is_empty() || resource.delete {
                continue;
            }
            let mut what_if = (*resource.inputs).clone();
            for key in affected {
                what_if.insert(key.clone(), Value::Unknown);
            }
            let shown = |properties: &PropertyMap| shown_to(Some(resource.served_by()), properties);
            let method = Method::Diff {
                id: resource.id.clone(),
                olds: shown(&resource.outputs_or_empty()),
                news: shown(&what_if),
            };
            let for_plugin = resource.served_by().is_plugin().then(|| {
                Box::new(PluginArguments {
                    old_inputs: Some(Arc::clone(&resource.inputs)),
                    ignore_changes: resource.ignore_changes.clone(),
                    ..PluginArguments::default()
                })
            });
            let question =
                Question { about: Some(Arc::clone(&resource)), for_plugin, ..Question::own(&resource.urn, method) };
            self.asked = Some((number, resource, what_if));
            return Some(question);
        }
    }

    /// What is to be deleted, dependents before what they depend on.
    pub(super) fn into_deletions(self) -> impl Iterator<Item = (ResourceNumber, Arc<ResourceState>)> {
        self.deletions.into_iter().rev()
    }
}
