//! Refusing a selection (`--target`, `--exclude`, `--replace`) that names several resources, or none.

use crate::plan::{RegistrationError, bearers, is_unmatched};

use crate::driver::context::Context;

impl Context {
    /// Each text of the selection with its option.
    fn selected_texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let operation = &self.operation;
        let selections =
            [("--target", &operation.targets), ("--exclude", &operation.excludes), ("--replace", &operation.replace)];
        selections.into_iter().flat_map(|(option, texts)| texts.iter().map(move |text| (option, text.as_str())))
    }

    /// Refuses a selection by a name that several resources bear, before anything is done.
    pub(super) fn refuse_ambiguous_targets(&self) {
        let refusals: Vec<RegistrationError> = {
            let run_state = self.run_state();
            let refusal = |(option, text): (&str, &str)| {
                let several = bearers(text, run_state.planner.base().iter().map(|resource| &resource.urn));
                (several.len() > 1).then(|| RegistrationError::ambiguous_target(option, text, &several))
            };
            self.selected_texts().filter_map(refusal).collect()
        };
        for refusal in &refusals {
            self.refuse(refusal);
        }
    }

    /// Refuses a selection that names what is neither in the state nor in the program.
    pub(super) fn refuse_unknown_targets(&self) -> bool {
        let missing: Vec<RegistrationError> = {
            let run_state = self.run_state();
            let known =
                || run_state.planner.base().iter().map(|resource| &resource.urn).chain(run_state.planner.all_seen());
            let unknown = self.selected_texts().filter(|(_, text)| is_unmatched(text, known()));
            unknown.map(|(option, text)| RegistrationError::unknown_target(option, text, known())).collect()
        };
        for refusal in &missing {
            self.refuse(refusal);
        }
        !missing.is_empty()
    }
}
