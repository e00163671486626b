//! Reports about provider classes, once per class and run: code that differs from the code which last changed a resource,
//! and provider objects that a later run cannot find again.

use std::sync::Arc;

use crate::event::{Op, Severity};
use crate::message;
use crate::message::Command;
use crate::operation::CODE_CHANGES;
use crate::operation::Operation;
use crate::plan::{CodeChange, Registration, Step, changed_classes, kept_revision};
use crate::provider::StoredProvider;
use crate::urn::Urn;

use crate::driver::calls::component_code::ComponentCode;
use crate::driver::calls::providers::Providers;
use crate::driver::calls::resolved_provider::{ProviderKind, ResolvedProvider};
use crate::driver::doors::Doors;
use crate::driver::exchange::Exchange;
use crate::driver::outside_calls::IsByHand;
use crate::driver::registration::noticed_classes::{ClassNotices, Classes, Unfindable, class_name};
use crate::driver::reports::Reports;

/// What is noticed of provider classes: whether their code has changed, and whether it can be found again.
pub(crate) struct ProviderClasses {
    operation: Arc<Operation>,
    exchange: Arc<Exchange>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    classes: Classes,
}

impl ProviderClasses {
    pub(crate) fn new(doors: &Doors) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            exchange: Arc::clone(&doors.exchange),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            classes: Classes::default(),
        }
    }

    /// Compares the provider that serves a registration with the one that made or last changed the resource.
    pub(super) fn compare_code(&self, registration: &mut Registration, resolved: &ResolvedProvider) {
        let Some((_, old)) = &registration.old else { return };
        if old.external || !old.custom {
            return;
        }
        if resolved.code.as_ref().is_some_and(ComponentCode::has_changed) {
            registration.code_change = CodeChange::Code;
        }
        let ProviderKind::Live { reference, .. } = &resolved.server else { return };
        // Another tool's resource says nothing of this.
        let Ok(stored) = self.providers.stored_reference(old) else { return };
        let kept = self.providers.with_revision(reference, kept_revision(&stored, reference));
        // A ciphertext of the same reference stays: then all of the resource's state may stay as it was read. What stood there in
        // plain text becomes a reference, which is written encrypted.
        registration.kept_provider = Some(match &old.stored_provider {
            sealed @ StoredProvider::Sealed(_) if *kept == *stored => sealed.clone(),
            _ => StoredProvider::Reference(kept),
        });
        let change = CodeChange::between(&stored, reference);
        registration.code_change = change;
    }

    /// Notes what the comparison of the provider's code came to, now that it is known what becomes of the resource.
    pub(super) fn note_code_change(&self, registration: &Registration, resolved: &ResolvedProvider, steps: &[Step]) {
        let ProviderKind::Live { reference, .. } = &resolved.server else { return };
        if !registration.is_targeted() {
            return;
        }
        // What changes for another reason is none that stays as it is.
        let told = self.operation.update_changed_providers || steps.iter().all(|step| step.op == Op::Same);
        match registration.code_change {
            CodeChange::Source if told => {
                let stored = registration.old.as_ref().map(|(_, old)| self.providers.stored_reference(old));
                let stored = stored.and_then(Result::ok);
                let classes = stored.map_or_else(|| vec![None], |stored| changed_classes(&stored, reference));
                self.classes.note_changed(reference, classes);
            }
            CodeChange::None | CodeChange::Source | CodeChange::Code => {}
            CodeChange::Risen { from, to } | CodeChange::Fallen { from, to } => {
                self.classes.note(reference, |class| *class.versions.entry((from, to)).or_default() += 1);
            }
        }
    }

    /// Notes that an object was made by a provider which could not be found again from the state.
    pub(super) fn note_unfindable(&self, urn: &Urn, resolved: &ResolvedProvider) {
        let ProviderKind::Live { reference, .. } = &resolved.server else { return };
        if reference.is_complete() {
            return;
        }
        self.classes.note(reference, |class| {
            let (reference, first) = (Arc::clone(reference), urn.clone());
            class.unfindable.get_or_insert(Unfindable { reference, first, resources: 0 }).resources += 1;
        });
    }

    /// Tells what was noticed: of changed code once, of the rest once for each class.
    pub(crate) async fn tell_of_classes(&self) {
        let ClassNotices { classes, changed } = std::mem::take(&mut *self.classes.lock());
        if !changed.is_empty() && self.operation.tells_of_changed_code().unwrap_or(true) && !self.operation.previewed {
            let changed: Vec<_> =
                changed.iter().map(|(name, count)| format!("{name} ({})", resources(*count))).collect();
            let consequence = if self.operation.update_changed_providers {
                "They are updated".into()
            } else {
                message![
                    "They stay as they are; `--update-changed-providers` updates them, and ",
                    Command::new("config set").value(CODE_CHANGES).with("ignore"),
                    " hides this message"
                ]
            };
            let changed = changed.join(", ");
            let message = message![format!("provider code changed since the last update: {changed}. "), consequence];
            self.reports.diagnose(None, Severity::Info, message);
        }
        let mut unfindable = Vec::new();
        for (place, class) in classes {
            let name = class_name(&class.name);
            let option = if class.language == "nodejs" { "providerVersion" } else { "provider_version" };
            for ((from, to), count) in class.versions {
                let resources = resources(count);
                if from < to {
                    let message = format!("{option} rose from {from} to {to}: {name} ({resources}). They are updated");
                    self.reports.diagnose(None, Severity::Info, message);
                } else {
                    let message = format!(
                        "{option} fell from {from} to {to}: {name} ({resources}). They are not updated. If the code of \
                         version {from} was taken back on purpose, raise {option} above {from}"
                    );
                    self.reports.diagnose(None, Severity::Warning, message);
                }
            }
            if let Some(found) = class.unfindable {
                // If the host does not answer, warn: a needless warning is better than a resource that nobody can delete.
                if !self.exchange.ask(IsByHand(Arc::clone(&found.reference))).await {
                    unfindable.push((place, name.to_owned(), found));
                }
            }
        }
        // A run tells what its preview has noticed, too.
        if !self.operation.precedes_run {
            self.tell_of_unfindable(&unfindable);
        }
    }

    fn tell_of_unfindable(&self, unfindable: &[(String, String, Unfindable)]) {
        let Some((place, name, Unfindable { reference, first, .. })) = unfindable.first() else { return };
        let said = |(_, name, found): &(String, String, Unfindable)| {
            let reason = found.reference.incomplete.as_deref().unwrap_or_default();
            format!("{name} ({} in this run): {reason}", resources(found.resources))
        };
        let register = match (reference.name.is_empty(), reference.language.as_str()) {
            (true, _) => String::new(),
            (false, "nodejs") => format!("; or register an object by hand: registerProvider(\"{place}\", ...)"),
            (false, _) => format!("; or register an object by hand: maloko.register_provider(\"{place}\", ...)"),
        };
        let advice = format!(
            "Keep the class at the top level of a module, and make clients and locks in `configure`, not in the \
             constructor{register}"
        );
        if let [one] = unfindable {
            let said = said(one);
            let rest = said.strip_prefix(name.as_str()).unwrap_or(&said);
            let message = format!(
                "once the program no longer makes this provider ({name}), it could not be found again to delete or \
                 refresh what it made{rest}. {advice}"
            );
            return self.reports.diagnose(Some(first), Severity::Warning, message);
        }
        let list = unfindable.iter().map(said).collect::<Vec<_>>().join("\n    ");
        let message = format!(
            "once the program no longer makes these {} providers, they could not be found again to delete or refresh \
             what they made. {advice}\n    {list}",
            unfindable.len()
        );
        self.reports.diagnose(None, Severity::Warning, message);
    }
}

fn resources(count: usize) -> String {
    if count == 1 { "1 resource".to_owned() } else { format!("{count} resources") }
}
