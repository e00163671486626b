//! Deciding what to do with a registration (docs/rules 2, 3, 4). Pure: a [`Planner`] is given registrations and providers'
//! answers, and says what to ask next and which steps to take.

mod code_change;
mod constraint;
mod default_provider;
mod diff_result;
mod goal;
mod identity;
mod migration;
mod names;
mod planner;
mod refusals;
mod registration;
mod secrecy;
mod step;
mod targets;

#[cfg(test)]
mod alias_tests;
#[cfg(test)]
mod call_tests;
#[cfg(test)]
mod cascade_tests;
#[cfg(test)]
mod code_change_tests;
#[cfg(test)]
mod constraint_tests;
#[cfg(test)]
mod default_provider_tests;
#[cfg(test)]
mod diff_result_tests;
#[cfg(test)]
mod option_tests;
#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod provider_resource_tests;
#[cfg(test)]
mod registration_errors_tests;
#[cfg(test)]
mod secrecy_tests;
#[cfg(test)]
mod testing;

pub use code_change::{CodeChange, changed_classes, kept_revision};
pub use diff_result::{DiffInputs, DiffResult, judge};
pub use goal::{Alias, Goal};
pub use migration::{Migration, Subtree, migrate};
pub use names::{bearers, did_you_mean, first_few, several_bear_it};
pub use planner::{InheritedOptions, Planner};
pub use refusals::package::function_not_hosted;
pub use refusals::registration::{RegistrationError, not_a_path, serialised_provider, unregistered_hook};
pub use registration::progress::Registration;
pub use registration::question::{Next, Question};
pub use registration::review::{Review, rewritten};
pub use secrecy::{copy_secrets, for_provider, mark_outputs, needs_marks};
pub use step::Step;
pub use targets::{Leftovers, is_unmatched};

pub(crate) use goal::{
    hex_checksums, make_set, optional_urn, position_text, registered_outputs, stack_texts, take_provider, urns,
};
