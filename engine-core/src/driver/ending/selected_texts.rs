//! Refusing a selection (`--target`, `--exclude`, `--replace`) that names several resources, or none.

use std::sync::Arc;

use crate::operation::Operation;
use crate::plan::{RegistrationError, bearers, is_unmatched};

use crate::driver::doors::Doors;
use crate::driver::planning::Planning;
use crate::driver::reports::Reports;

/// Refuses a selection that names several resources, or none.
pub(crate) struct SelectedTexts {
    operation: Arc<Operation>,
    reports: Arc<Reports>,
    planning: Arc<Planning>,
}

impl SelectedTexts {
    pub(crate) fn new(doors: &Doors) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            reports: Arc::clone(&doors.reports),
            planning: Arc::clone(&doors.planning),
        }
    }

    /// Each text of the selection with its option.
    fn selected_texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let operation = &self.operation;
        let selections =
            [("--target", &operation.targets), ("--exclude", &operation.excludes), ("--replace", &operation.replace)];
        selections.into_iter().flat_map(|(option, texts)| texts.iter().map(move |text| (option, text.as_str())))
    }

    /// Refuses a selection by a name that several resources bear, before anything is done.
    pub(crate) fn refuse_ambiguous_targets(&self) {
        let refusals: Vec<RegistrationError> = {
            let planner = self.planning.planner();
            let refusal = |(option, text): (&str, &str)| {
                let several = bearers(text, planner.base().iter().map(|resource| &resource.urn));
                (several.len() > 1).then(|| RegistrationError::ambiguous_target(option, text, &several))
            };
            self.selected_texts().filter_map(refusal).collect()
        };
        for refusal in &refusals {
            self.reports.refuse(refusal);
        }
    }

    /// Refuses a selection that names what is neither in the state nor in the program.
    pub(crate) fn refuse_unknown_targets(&self) -> bool {
        let missing: Vec<RegistrationError> = {
            let planner = self.planning.planner();
            let known = || planner.base().iter().map(|resource| &resource.urn).chain(planner.all_seen());
            let unknown = self.selected_texts().filter(|(_, text)| is_unmatched(text, known()));
            unknown.map(|(option, text)| RegistrationError::unknown_target(option, text, known())).collect()
        };
        for refusal in &missing {
            self.reports.refuse(refusal);
        }
        !missing.is_empty()
    }
}
