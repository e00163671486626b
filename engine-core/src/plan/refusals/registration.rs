//! Every refusal of the engine: the resource at fault, the option or input that is at fault, and the way out. Each text
//! stands in this folder and nowhere else; `registration_errors_tests.rs` shows them.

use crate::error::Reason;
use crate::message;
use crate::message::{Command, Message};
use crate::provider::CheckFailure;
use crate::urn::Urn;

use crate::plan::names::{did_you_mean, several_bear_it};

/// A registration, or a whole run, that cannot go on: the messages are for the user, the resource is at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrationError {
    /// The resource at fault; messages are shown on it and need not name it. `None`: they name what is at fault.
    pub urn: Option<Urn>,
    /// One message per fault.
    pub messages: Vec<Message>,
    /// What kind of failure it is; most are the program's.
    pub reason: Reason,
}

/// The options of a registration that name other resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plan) enum Reference {
    Dependency,
    DeletedWith,
    ReplaceWith,
    Provider,
}

impl Reference {
    fn option(self) -> &'static str {
        match self {
            Reference::Dependency => "dependsOn",
            Reference::DeletedWith => "deletedWith",
            Reference::ReplaceWith => "replaceWith",
            Reference::Provider => "provider",
        }
    }
}

impl RegistrationError {
    /// A refusal with one message.
    pub fn on(urn: &Urn, message: impl Into<Message>) -> Self {
        Self { urn: Some(urn.clone()), messages: vec![message.into()], reason: Reason::Program }
    }

    fn because(self, reason: Reason) -> Self {
        Self { reason, ..self }
    }

    /// A refusal of the run as a whole, or of what has no URN yet.
    #[must_use]
    pub fn of_run(message: impl Into<Message>) -> Self {
        Self { urn: None, messages: vec![message.into()], reason: Reason::Program }
    }

    /// A request that could not be decoded, of a resource that has no URN yet.
    #[must_use]
    pub fn undecodable(kind: &str, name: &str, reason: &str) -> Self {
        Self::of_run(format!("{kind} resource '{name}': {reason}"))
    }

    /// A migration of the resource's state that returned what cannot be taken.
    #[must_use]
    pub fn migration(urn: &Urn, reason: &str) -> Self {
        Self::on(
            urn,
            message![
                format!(
                    "the option `stateMigrations` of '{urn}': {reason}. Nothing of its state was changed; correct the \
                     migration and run "
                ),
                Command::new("up"),
                " again"
            ],
        )
    }

    pub(in crate::plan) fn nameless(urn: &Urn, kind: &str) -> Self {
        Self::on(urn, format!("a resource of the type '{kind}' has an empty name; give it a name"))
    }

    pub(in crate::plan) fn malformed_type(urn: &Urn, kind: &str) -> Self {
        Self::on(
            urn,
            format!(
                "'{kind}' is not a valid type: it must be package:module:Name; for a dynamic resource it is made from the \
                 module and the name of its class"
            ),
        )
    }

    pub(in crate::plan) fn missing_parent(urn: &Urn, parent: &Urn) -> Self {
        Self::on(urn, format!("its parent '{parent}' was not registered before it in this run; make the parent first"))
    }

    pub(in crate::plan) fn missing_reference(urn: &Urn, reference: Reference, missing: &Urn) -> Self {
        let option = reference.option();
        Self::on(
            urn,
            if urn == missing {
                format!("the option '{option}' names the resource itself; name another one")
            } else {
                format!(
                    "the option '{option}' names '{missing}', which was not registered before it in this run: \
                     resources cannot refer to later ones, nor to each other in a circle; make that one first, or \
                     remove the option"
                )
            },
        )
    }

    /// A resource that comes when the run has begun to delete what the program did not register.
    #[must_use]
    pub fn after_the_end(urn: &Urn) -> Self {
        Self::on(
            urn,
            "it was registered after the program had ended, when the run had begun to delete what the program does not have; \
             make the program wait for the task that registers it: export an output made of that task",
        )
    }

    pub(in crate::plan) fn duplicate(urn: &Urn, name: &str) -> Self {
        Self::on(
            urn,
            format!(
                "Duplicate resource URN '{urn}': two resources of one type and parent have the name '{name}'; give each \
                 a name of its own"
            ),
        )
    }

    pub(in crate::plan) fn taken_over(urn: &Urn, other: &Urn) -> Self {
        Self::on(
            urn,
            format!(
                "'{other}' already took over this resource by its option 'aliases'; remove that alias, or rename one \
                 of the two"
            ),
        )
    }

    pub(in crate::plan) fn alias_of_present(urn: &Urn, alias: &Urn) -> Self {
        Self::on(
            urn,
            format!(
                "the option 'aliases' has '{alias}', which is a resource that was already registered in this run; \
                 remove the alias, or rename one of the two"
            ),
        )
    }

    pub(in crate::plan) fn alias_in_use(urn: &Urn, alias: &Urn, other: &Urn) -> Self {
        Self::on(
            urn,
            format!(
                "the option 'aliases' has '{alias}', which '{other}' took over already: a former resource has one \
                 successor; leave the alias to one of the two"
            ),
        )
    }

    /// `excluded`: the selection says what is left out, and not what is taken.
    pub(in crate::plan) fn needs_left_out(urn: &Urn, missing: &Urn, excluded: bool) -> Self {
        let why = if excluded {
            "was excluded by --exclude and does not exist yet; remove it from --exclude".to_owned()
        } else {
            format!("was not specified in --target list and does not exist yet; add --target '{missing}'")
        };
        Self::on(urn, format!("Resource '{urn}' depends on '{missing}' which {why}"))
    }

    /// `excluded`: as in [`needs_left_out`](Self::needs_left_out).
    pub(in crate::plan) fn circle(urn: &Urn, carried: &Urn, excluded: bool) -> Self {
        let (why, advice) = if excluded {
            ("was excluded by --exclude", format!("remove '{carried}' from --exclude"))
        } else {
            ("was not specified in --target list", format!("add --target '{carried}'"))
        };
        Self::on(
            urn,
            format!(
                "Resource '{urn}' depends on '{carried}' which {why}. In the state, '{carried}' depends on '{urn}', so this \
                 creates a dependency cycle; {advice}"
            ),
        )
    }

    pub(in crate::plan) fn no_provider_object(urn: &Urn) -> Self {
        Self::on(
            urn,
            "it is a dynamic resource without a provider object; pass one to the constructor of pulumi.dynamic.Resource",
        )
    }

    pub(in crate::plan) fn protected_replacement(urn: &Urn) -> Self {
        Self::on(
            urn,
            message![
                format!(
                    "resource '{}' needs a replacement but is protected: remove the 'protect' option in the program, \
                     run ",
                    urn.name()
                ),
                Command::new("state unprotect").quoted(urn),
                ", or pass --ignore-protect"
            ],
        )
        .because(Reason::Protected)
    }

    pub(in crate::plan) fn protected_dependent(urn: &Urn, dependent: &Urn) -> Self {
        Self::on(
            urn,
            message![
                format!(
                    "it is to be deleted before its replacement is made, and '{dependent}', which depends on it, would \
                     have to be deleted first but is protected: run "
                ),
                Command::new("state unprotect").quoted(dependent),
                ", or pass --ignore-protect"
            ],
        )
        .because(Reason::Protected)
    }

    /// A protected resource that is to be deleted.
    #[must_use]
    pub fn protected_deletion(urn: &Urn) -> Self {
        Self::on(
            urn,
            message![
                format!(
                    "resource '{}' cannot be deleted because it is protected: remove the 'protect' option in the \
                     program and run ",
                    urn.name()
                ),
                Command::new("up"),
                ", run ",
                Command::new("state unprotect").quoted(urn),
                ", or pass --ignore-protect"
            ],
        )
        .because(Reason::Protected)
    }

    pub(in crate::plan) fn untargeted_dependent(urn: &Urn, target: &Urn) -> Self {
        Self::on(
            urn,
            format!(
                "Resource '{urn}' will be destroyed but was not specified in --target list: it depends on '{target}'; name \
                 it with --target too, or pass --target-dependents"
            ),
        )
    }

    /// What `--target`, `--exclude` or `--replace` names, and none of these resources is.
    pub fn unknown_target<'a>(option: &str, text: &str, known: impl Iterator<Item = &'a Urn>) -> Self {
        let advice = did_you_mean(text, known, message!["see ", Command::new("stack").with("--show-urns")]);
        Self::of_run(message![
            format!("{option}: Target '{text}' could not be found in the stack or in the program; "),
            advice
        ])
    }

    /// A name at `--target`, `--exclude` or `--replace` that several resources bear.
    #[must_use]
    pub fn ambiguous_target(option: &str, name: &str, several: &[&Urn]) -> Self {
        Self::of_run(format!("{option} '{name}': {}", several_bear_it(several)))
    }

    /// A resource that is not as an update plan has it.
    #[must_use]
    pub fn not_as_planned(urn: &Urn, violations: &[String]) -> Self {
        Self::on(
            urn,
            message![
                format!(
                    "'{}' does not keep to the plan:\n    * {}\nlook at the change with ",
                    urn.name(),
                    violations.join("\n    * ")
                ),
                Command::new("preview"),
                ", and save a new plan with --save-plan if it is right"
            ],
        )
        .because(Reason::Plan)
    }

    /// A resource of an update plan that did not come.
    #[must_use]
    pub fn planned_steps_missing(urn: &Urn, steps: &str) -> Self {
        Self::on(
            urn,
            message![
                format!(
                    "the plan has the steps {steps} for '{}', which the program did not register: put it back, or save \
                     a new plan with ",
                    urn.name()
                ),
                Command::new("preview").with("--save-plan")
            ],
        )
        .because(Reason::Plan)
    }

    pub(in crate::plan) fn unknown_trigger(urn: &Urn) -> Self {
        Self::on(
            urn,
            "the option 'replacementTrigger' has an unknown value, because something that it depends on failed; fix \
             that first",
        )
    }

    pub(crate) fn check_failures(urn: &Urn, failures: &[CheckFailure]) -> Self {
        let text = |failure: &CheckFailure| match failure.property.as_str() {
            "" => format!("its inputs are not valid: {}", failure.reason),
            property => format!("property {property} is not valid: {}", failure.reason),
        };
        let messages = failures.iter().map(text).map(Message::from).collect();
        Self { urn: Some(urn.clone()), messages, reason: Reason::Inputs }
    }

    /// An answer of another kind than the question: a fault of the host, not of the user.
    pub(in crate::plan) fn wrong_answer(urn: &Urn) -> Self {
        Self::on(urn, "the provider's answer does not fit the call; this is a bug in maloko")
    }

    /// A resource that is looked up without an object that could do it.
    #[must_use]
    pub fn look_up_without_provider(urn: &Urn) -> Self {
        Self::on(
            urn,
            "it is looked up by its id without a provider object; construct the dynamic resource with the option 'id'",
        )
    }

    /// A resource that is looked up by nothing.
    #[must_use]
    pub fn look_up_without_id(urn: &Urn) -> Self {
        Self::on(urn, "the option 'id' is empty; pass the id of the object that is to be looked up")
    }
}

/// An option that has to be a URN and is none.
pub(in crate::plan) fn not_a_urn(option: &str, text: &str) -> String {
    format!(
        "the option '{option}' has '{text}', which is not a URN (urn:pulumi:<stack>::<project>::<type>::<name>); pass the resource or its whole URN"
    )
}

/// A hook that a resource is bound to and that the program has not registered.
#[must_use]
pub fn unregistered_hook(name: &str, moment: &str) -> String {
    format!(
        "the option 'hooks' names '{name}' ({moment}), which the program has not registered; register the hook before \
         the resource, or remove it from the option"
    )
}

/// A time limit that is none.
pub(in crate::plan) fn not_a_duration(text: &str) -> String {
    format!("the option 'customTimeouts' has '{text}', which is not a duration such as 5m or 1h30m")
}

/// A provider that reached the engine as code, of a resource that is in no component that a plugin makes.
#[must_use]
pub fn serialised_provider() -> String {
    "the SDK serialised its provider, so maloko did not get the live object. In a program, load the resource class after \
     maloko, and use a single copy of the SDK; in a component plugin, make dynamic resources below the component (`parent`)"
        .to_owned()
}

/// A property of the SDK's that a program set.
pub(in crate::plan) fn no_provider_in_reserved_property() -> String {
    "the reserved property '__provider' holds no provider; give the property another name".to_owned()
}

/// An option that has to hold property paths and has another text.
#[must_use]
pub fn not_a_path(option: &str, error: &crate::property_path::PathError) -> String {
    format!("the option '{option}' is ignored: {error}; write a path like a.b[0][\"odd key\"] or a[*].b")
}
