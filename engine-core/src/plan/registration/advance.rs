//! What comes next for a registration: each answer of its provider leads to the next question, or to its steps (docs/rules
//! 2.6, 3).

use std::sync::Arc;

use crate::diff::reset_ignored;
use crate::event::Op;
use crate::provider::{Answer, DiffAnswer, Method};
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::urn::{Urn, reference_parts};
use crate::value::PropertyMap;

use crate::plan::diff_result::{DiffInputs, DiffResult, judge};
use crate::plan::planner::Planner;
use crate::plan::refusals::registration::RegistrationError;
use crate::plan::registration::progress::{Phase, Registration};
use crate::plan::registration::question::{Next, Question};
use crate::plan::registration::review::{AfterReview, Review, ReviewState};
use crate::plan::step::{RENEWED, Step};

impl Planner {
    /// Goes on with a registration: with no answer at first, then with the answer to each question.
    pub fn advance(
        &mut self,
        registration: &mut Registration,
        answer: Option<Answer>,
    ) -> Result<Next, RegistrationError> {
        match std::mem::replace(&mut registration.phase, Phase::Settled) {
            Phase::Begun => self.first_question(registration),
            Phase::Finding => self.take_found(registration, answer.ok_or_else(|| registration.wrong_answer())?),
            Phase::CheckingFound(found) => {
                registration.take_checked(answer.ok_or_else(|| registration.wrong_answer())?)?;
                Ok(Self::compare_found(registration, found))
            }
            Phase::ComparingFound(found) => {
                let Some(Answer::Diffed(answer)) = answer else { return Err(registration.wrong_answer()) };
                self.adopt(registration, found, &answer)
            }
            Phase::ReplacingImported(steps) => {
                registration.take_checked(answer.ok_or_else(|| registration.wrong_answer())?)?;
                Ok(Self::replace_imported(registration, steps))
            }
            Phase::Checking => {
                registration.take_checked(answer.ok_or_else(|| registration.wrong_answer())?)?;
                self.review(registration, AfterReview::Compare)
            }
            Phase::Reviewing(then) => self.go_on_after_review(registration, then),
            Phase::ComparingProviders => {
                let Some(Answer::Diffed(answer)) = answer else { return Err(registration.wrong_answer()) };
                let Some(old) = registration.old_state().cloned() else { return Err(registration.wrong_answer()) };
                if answer.replaces.is_empty() {
                    return self.compare(registration, &old);
                }
                registration.diff_result = DiffResult {
                    changed: true,
                    replace: true,
                    replace_keys: vec!["provider".to_owned()],
                    ..DiffResult::default()
                };
                self.after_diff(registration)
            }
            Phase::Diffing => {
                let Some(Answer::Diffed(answer)) = answer else { return Err(registration.wrong_answer()) };
                self.take_diff(registration, &answer)
            }
            Phase::CheckingAgain => {
                registration.take_checked(answer.ok_or_else(|| registration.wrong_answer())?)?;
                self.review(registration, AfterReview::Replace)
            }
            Phase::Cascading(mut cascade) => {
                let Some(Answer::Diffed(answer)) = answer else { return Err(registration.wrong_answer()) };
                cascade.answer(&answer);
                self.cascade(registration, cascade)
            }
            Phase::Settled => Err(registration.wrong_answer()),
        }
    }

    /// What packs are to do with a registration; `None`: nothing, or nothing any more.
    fn wanted_review(&self, registration: &Registration) -> Option<Review> {
        match registration.reviewed {
            _ if !self.operation.policies.are_there() => None,
            ReviewState::NotYet => Some(Review::Whole),
            ReviewState::AsItWas => None,
            ReviewState::Rewritten => Some(Review::Again),
        }
    }

    /// Stops for policy packs, where there are any.
    fn review(&mut self, registration: &mut Registration, then: AfterReview) -> Result<Next, RegistrationError> {
        match self.wanted_review(registration) {
            None => self.go_on_after_review(registration, then),
            Some(review) => {
                registration.phase = Phase::Reviewing(then);
                Ok(Next::Review(review))
            }
        }
    }

    fn go_on_after_review(
        &mut self,
        registration: &mut Registration,
        then: AfterReview,
    ) -> Result<Next, RegistrationError> {
        match then {
            AfterReview::Compare => self.after_check(registration),
            AfterReview::Component => Ok(self.settle_component(registration)),
            AfterReview::Provider => self.settle_provider(registration),
            AfterReview::Replace => self.replace(registration),
        }
    }

    fn first_question(&mut self, registration: &mut Registration) -> Result<Next, RegistrationError> {
        if !registration.is_targeted() {
            return Ok(Next::Act(self.leave_untouched(registration)));
        }
        if registration.goal.is_dynamic_provider() {
            Self::take_provider_inputs(registration);
            return self.review(registration, AfterReview::Provider);
        }
        if Self::is_import(registration) {
            return Ok(Self::look_for_object(registration));
        }
        let mut inputs = registration.goal.inputs.clone();
        // A component is never replaced: --replace leaves it as it is.
        let afresh = self
            .comparable(registration)
            .is_none_or(|old| registration.goal.custom && self.is_forced(&registration.urn, old).is_some());
        let mut old_inputs = PropertyMap::new();
        let mut named_before = None;
        if !afresh && let Some(old) = registration.old_state().cloned() {
            registration.not_applicable = reset_ignored(&old.inputs, &mut inputs, &registration.goal.ignore_changes);
            if registration.has_check {
                old_inputs = registration.shown(&old.inputs);
            }
            named_before = Some(old);
        }
        self.fill_name(registration, &mut inputs, named_before.as_deref())?;
        let old_outputs = named_before.and_then(|old| old.outputs.clone());
        registration.checked = Arc::new(inputs);
        if !registration.goal.custom {
            return self.review(registration, AfterReview::Component);
        }
        if !registration.has_check {
            registration.leave_unchecked();
            return self.review(registration, AfterReview::Compare);
        }
        registration.phase = Phase::Checking;
        Ok(registration.check(old_inputs, old_outputs))
    }

    /// Is there an object that inputs can be compared with?
    fn comparable<'a>(&self, registration: &'a Registration) -> Option<&'a Arc<ResourceState>> {
        let (number, resource) = registration.old.as_ref()?;
        let lost = self.deleted_first.contains(number);
        (!resource.external && !lost && resource.custom == registration.goal.custom).then_some(resource)
    }

    fn after_check(&mut self, registration: &mut Registration) -> Result<Next, RegistrationError> {
        let Some((number, old)) = registration.old.clone() else {
            return Ok(Next::Act(vec![registration.step(Op::Create, registration.new_state())]));
        };
        if self.deleted_first.contains(&number) {
            // Deleted earlier in this run, because something that it depends on was.
            self.replaced.insert(registration.urn.clone());
            let create = registration.step(Op::CreateReplacement, registration.new_state());
            return Ok(Next::Act(vec![Step { op: Op::Replace, ..create.clone() }, create]));
        }
        if old.external || !old.custom {
            if !old.custom {
                registration.diff_result.replace_keys = vec!["provider".to_owned()];
            }
            return Ok(self.create_first(registration));
        }
        if self.is_triggered(registration, &old)? {
            registration.diff_result = DiffResult { changed: true, replace: true, ..DiffResult::default() };
            return self.after_diff(registration);
        }
        if let Some(note) = self.is_forced(&registration.urn, &old) {
            registration.note = note;
            registration.diff_result = DiffResult {
                changed: true,
                replace: true,
                replace_keys: vec!["id".to_owned()],
                ..DiffResult::default()
            };
            self.guard_imported(registration)?;
            self.object(self.guard_protected(registration, &old), &mut registration.complaints)?;
            // The check was made without old inputs already.
            return self.replace(registration);
        }
        let implied = if registration.goal.replace_with.iter().any(|urn| self.replaced.contains(urn)) {
            Some("replaceWith")
        } else if registration.goal.deleted_with.as_ref().is_some_and(|urn| self.replaced.contains(urn)) {
            Some("deletedWith")
        } else {
            None
        };
        if let Some(key) = implied {
            registration.diff_result = DiffResult {
                changed: true,
                replace: true,
                replace_keys: vec![key.to_owned()],
                ..DiffResult::default()
            };
            return self.after_diff(registration);
        }
        if self.changes_provider(registration, &old) {
            registration.phase = Phase::ComparingProviders;
            let method = Method::Diff { id: String::new(), olds: PropertyMap::new(), news: PropertyMap::new() };
            let instead_of = Some(old.provider.clone());
            return Ok(Next::Ask(Question { instead_of, ..Question::own(&registration.urn, method) }));
        }
        self.compare(registration, &old)
    }

    fn compare(
        &mut self,
        registration: &mut Registration,
        old: &Arc<ResourceState>,
    ) -> Result<Next, RegistrationError> {
        if !registration.has_diff {
            return self.take_diff(registration, &DiffAnswer::default());
        }
        registration.phase = Phase::Diffing;
        let method = Method::Diff {
            id: old.id.clone(),
            olds: registration.shown(&old.outputs_or_empty()),
            news: registration.shown(&registration.checked),
        };
        Ok(Next::Ask(Question {
            for_plugin: registration.for_plugin(Some(old)),
            ..Question::own(&registration.urn, method)
        }))
    }

    /// What the answer to a `diff` means for the registration.
    fn take_diff(&mut self, registration: &mut Registration, answer: &DiffAnswer) -> Result<Next, RegistrationError> {
        let Some(old) = registration.old_state() else { return Err(registration.wrong_answer()) };
        let diff_result = judge(
            answer,
            &DiffInputs {
                old_inputs: &old.inputs,
                new_inputs: &registration.checked,
                ignore_changes: &registration.goal.ignore_changes,
                replace_on_changes: &registration.goal.replace_on_changes,
                has_init_errors: !old.init_errors.is_empty(),
                renewed: registration.code_change.renews(self.operation.update_changed_providers, answer.changes),
            },
        );
        let must_replace = old.pending_replacement;
        if diff_result.only_renewed {
            registration.note = RENEWED;
        }
        registration.diff_result = diff_result;
        if must_replace {
            registration.diff_result.changed = true;
            registration.diff_result.replace = true;
        }
        self.after_diff(registration)
    }

    /// Does another provider resource serve it than before, and not the same one under another name?
    fn changes_provider(&self, registration: &Registration, old: &ResourceState) -> bool {
        if registration.goal.served_by() != Some(ServedBy::Plugin) || old.provider == registration.provider {
            return false;
        }
        let Some(((new_urn, new_id), (old_urn, old_id))) =
            reference_parts(&registration.provider).zip(reference_parts(&old.provider))
        else {
            return false;
        };
        let renamed = self.formerly(&Urn::unchecked(new_urn)).is_some_and(|former| former.as_str() == old_urn);
        !(renamed && new_id == old_id)
    }

    fn after_diff(&mut self, registration: &mut Registration) -> Result<Next, RegistrationError> {
        let Some((_, old)) = registration.old.clone() else { return Err(registration.wrong_answer()) };
        if registration.diff_result.replace {
            self.guard_imported(registration)?;
            self.object(self.guard_protected(registration, &old), &mut registration.complaints)?;
            registration.phase = Phase::CheckingAgain;
            // Without old inputs, and the program's inputs as they are (docs/rules 2.5, 2.6).
            let mut inputs = registration.goal.inputs.clone();
            self.fill_name(registration, &mut inputs, None)?;
            registration.checked = Arc::new(inputs);
            return Ok(registration.check(PropertyMap::new(), None));
        }
        let mut resource = registration.new_state();
        resource.id.clone_from(&old.id);
        if registration.diff_result.changed {
            return Ok(Next::Act(vec![registration.step(Op::Update, resource)]));
        }
        resource.outputs.clone_from(&old.outputs);
        resource.init_errors.clone_from(&old.init_errors);
        resource.refresh_before_update = old.refresh_before_update;
        if let Some(kept) = registration.kept_provider.take() {
            resource.stored_provider = kept;
        }
        Ok(Next::Act(vec![registration.step(Op::Same, resource.shared_with(&old))]))
    }
}
