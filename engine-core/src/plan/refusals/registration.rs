//! Every refusal of the engine: the resource at fault, the option or input that is at fault, and the way out. Each text
//! stands here and nowhere else; `refusal_tests.rs` shows them all.

use crate::message;
use crate::message::{Code, Command, Message};
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
        Self { urn: Some(urn.clone()), messages: vec![message.into()] }
    }

    /// A refusal of the run as a whole, or of what has no URN yet.
    #[must_use]
    pub fn of_run(message: impl Into<Message>) -> Self {
        Self { urn: None, messages: vec![message.into()] }
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

    pub(in crate::plan) fn built_in_import(urn: &Urn, kind: &str) -> Self {
        Self::on(
            urn,
            format!(
                "the option 'import': a resource of the type '{kind}' cannot be imported; remove the \
                               option"
            ),
        )
    }

    pub(in crate::plan) fn component_import(urn: &Urn) -> Self {
        Self::on(
            urn,
            "the option 'import': a component has no object of its own; leave the option out here, and pass it to the \
             resources in the component",
        )
    }

    /// An object that is to be taken over and is not there; the id was given to a command.
    #[must_use]
    pub fn nothing_to_import(urn: &Urn, id: &str) -> Self {
        let text = "to import: its provider's 'read' found nothing, so nothing was taken over; correct the id";
        Self::on(urn, format!("there is no object with the id '{id}' {text}"))
    }

    /// The same where the program gave the id.
    pub(in crate::plan) fn nothing_to_import_by_option(urn: &Urn, id: &str) -> Self {
        Self::on(
            urn,
            format!(
                "there is no object with the id '{id}' to import: its provider's 'read' found nothing; correct the id, \
                 or remove the option 'import' to create the object"
            ),
        )
    }

    /// An object that is to be taken over and is managed already.
    #[must_use]
    pub fn object_of_another(urn: &Urn, id: &str, owner: &Urn) -> Self {
        Self::on(
            urn,
            message![
                format!(
                    "--import-pending-creates: the object '{id}' belongs to {owner} already, so it was not taken over; \
                     correct the id, or remove that resource from the state first ("
                ),
                Command::new("state delete"),
                ")"
            ],
        )
    }

    /// An object that is to be taken over and cannot be asked for.
    #[must_use]
    pub fn import_without_read(urn: &Urn) -> Self {
        Self::on(
            urn,
            "its provider has no 'read' method, so the engine cannot read the object to import; give the provider a \
             'read' that takes the id and returns the object's properties",
        )
    }

    pub(in crate::plan) fn imported_replacement(urn: &Urn, id: &str) -> Self {
        Self::on(
            urn,
            format!(
                "it needs a replacement, but its option 'import' still names the object '{id}'; remove that option to \
                 replace it"
            ),
        )
    }

    /// An object that the command `import` is to take over although there is another one.
    #[must_use]
    pub fn already_managed(urn: &Urn, id: &str) -> Self {
        Self::on(
            urn,
            format!(
                "the stack has a resource of that type and name already, with the id '{id}': give the import another name, or \
                 put the option 'import' into the program to replace the resource by the object"
            ),
        )
    }

    /// An object that is to be taken over under a parent that is not there.
    #[must_use]
    pub fn import_under_nothing(urn: &Urn, parent: &Urn) -> Self {
        Self::on(
            urn,
            format!(
                "its parent '{parent}' is neither in the stack nor imported with it; import the parent first, or list it in \
                 the same file"
            ),
        )
    }

    /// An object of a type that nothing in the program or the state knows.
    #[must_use]
    pub fn no_provider_of_type(urn: &Urn, kind: &str) -> Self {
        Self::on(
            urn,
            message![
                format!(
                    "no provider is known for the type '{kind}': neither the program nor the state has such a resource. "
                ),
                "Name one with --provider or with \"provider\" in the file (",
                Code::ProviderPlace,
                "), or put a resource of that type into the program"
            ],
        )
    }

    /// An object whose type is served by several provider objects.
    #[must_use]
    pub fn many_providers_of_type(urn: &Urn, kind: &str, users: &[Urn]) -> Self {
        let list: Vec<&str> = users.iter().map(Urn::as_str).collect();
        Self::on(
            urn,
            format!(
                "the program has several provider objects for the type '{kind}'; name with --provider (or \"provider\" in the \
                 file) the resource whose provider is meant, such as:\n    * {}",
                list.join("\n    * ")
            ),
        )
    }

    /// A provider that was named and is not there.
    #[must_use]
    pub fn named_provider_missing(urn: &Urn, place: &str) -> Self {
        Self::on(
            urn,
            message![
                format!(
                    "the provider '{place}' was not found; name a provider class or object at the top of a module ("
                ),
                Code::ProviderPlace,
                ") or the URN of a resource whose provider is meant"
            ],
        )
    }

    /// A property that is to be kept of an imported object, which has none of that name.
    #[must_use]
    pub fn unknown_import_property(urn: &Urn, name: &str, known: &[&str]) -> Self {
        Self::on(urn, format!("the object has no property '{name}' that could be kept; it has {}", known.join(", ")))
    }

    /// A resource whose interrupted creation is to be completed, and of which there is none.
    #[must_use]
    pub fn no_pending_create(urn: &Urn) -> Self {
        Self::on(
            urn,
            message![
                "--import-pending-creates: no creation of this resource was interrupted; ",
                Command::new("stack"),
                " lists those that were"
            ],
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
    }

    pub(in crate::plan) fn unknown_trigger(urn: &Urn) -> Self {
        Self::on(
            urn,
            "the option 'replacementTrigger' has an unknown value, because something that it depends on failed; fix \
             that first",
        )
    }

    pub(in crate::plan) fn check_failures(urn: &Urn, failures: &[CheckFailure]) -> Self {
        let text = |failure: &CheckFailure| match failure.property.as_str() {
            "" => format!("its inputs are not valid: {}", failure.reason),
            property => format!("property {property} is not valid: {}", failure.reason),
        };
        Self { urn: Some(urn.clone()), messages: failures.iter().map(text).map(Message::from).collect() }
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

/// A provider that reached the engine as code and not as an object.
pub(in crate::plan) fn serialised_provider() -> String {
    "the SDK serialised its provider, so maloko did not get the live object; load the resource class after maloko, and \
     use a single copy of the SDK"
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
