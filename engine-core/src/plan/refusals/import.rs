//! The refusals of taking over an object: by the option `import`, by the command `import`, or to complete a create.

use std::collections::BTreeSet;

use crate::message;
use crate::message::{Code, Command};
use crate::resource_state::ResourceState;
use crate::urn::Urn;

use crate::plan::names::first_few;
use crate::plan::refusals::registration::RegistrationError;

/// So many properties are named in the first line.
const NAMED: usize = 3;

impl RegistrationError {
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

    /// The same of an import.
    #[must_use]
    pub fn object_taken(urn: &Urn, holder: &ResourceState) -> Self {
        let ResourceState { id, urn: owner, .. } = holder;
        if holder.delete {
            let text = format!(
                "the object '{id}' is the old one of '{owner}', which waits for its deletion, so it is not imported; \
                 remove that entry from the state first if the object is to stay"
            );
            return Self::on(urn, message![text, " (", Command::new("stack"), " lists it)"]);
        }
        Self::on(
            urn,
            message![
                format!(
                    "the object '{id}' is that of '{owner}' already, and is not imported a second time: each of the two would \
                     delete it. For a new name, type or parent of that resource use its option 'aliases'; to give the object \
                     away, run "
                ),
                Command::new("state delete").quoted(owner),
                " first"
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

    /// The same where a plugin does not tell the inputs of what it found.
    pub(in crate::plan) fn import_without_inputs(urn: &Urn, package: &str) -> Self {
        Self::on(
            urn,
            format!(
                "provider does not support importing resources; please try updating the '{package}' plugin: its 'Read' \
                 returned no inputs"
            ),
        )
    }

    pub(in crate::plan) fn imported_replacement(urn: &Urn, id: &str) -> Self {
        Self::on(
            urn,
            format!(
                "previously-imported resources that still specify an ID may not be replaced; please remove the `import` \
                 declaration from your program, which names the object '{id}'"
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

    /// An object whose type is that of its provider's resources, which have several.
    #[must_use]
    pub fn many_types_of_provider(urn: &Urn, place: &str, types: &BTreeSet<String>) -> Self {
        let list: Vec<&str> = types.iter().map(String::as_str).collect();
        Self::on(
            urn,
            format!(
                "the provider {place} has resources of several types; name the one that is meant, and the provider with \
                 --provider (or \"provider\" in the file):\n    * {}",
                list.join("\n    * ")
            ),
        )
    }

    /// Two entries of a list that would become one resource.
    #[must_use]
    pub fn listed_twice(urn: &Urn) -> Self {
        Self::on(urn, "another entry has the same type, name and parent; remove one of them")
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

    /// `names`: the inputs that differ; `lines`: what each of them has here and there, where that is known. The first line
    /// is whole, for it is what a summary shows.
    pub(in crate::plan) fn import_mismatch(urn: &Urn, id: &str, names: &[&str], lines: &[&str]) -> Self {
        let mut text = match names {
            [] => format!(
                "the object '{id}' cannot be imported: its provider's 'diff' says that it is not as the program says\n    * \
                 every input is as the program has it; look at what 'diff' compares"
            ),
            names => {
                format!(
                    "the object '{id}' cannot be imported: it is not as the program says in {}",
                    first_few(names, NAMED)
                )
            }
        };
        for line in lines {
            text.push_str("\n    * ");
            text.push_str(line);
        }
        if lines.is_empty() && !names.is_empty() {
            text.push_str("\n    * its provider's 'diff' names ");
            text.push_str(&names.join(", "));
        }
        text.push_str(
            "\nNothing was changed. Write into the program what the object has, or list what may differ in the option \
             'ignoreChanges'; without --refuse-import-differences the object is imported and updated",
        );
        Self::on(urn, text)
    }
}
