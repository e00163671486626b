//! What can be found of a provider, and the words for it.

use serde::Deserialize;
use serde_json::Value as Json;

use super::Words;
use super::show::{show, show_maybe};

/// What stands for a property where none can be named.
const UNNAMED: &str = "(none that diff names)";
/// What stands for a property where the finding is about all of it.
const OBJECT: &str = "(the object)";

#[expect(missing_docs, reason = "the fields are named after what the words say of them")]
/// What breaks a law. A value that is left out stands for a property that is not there.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Finding {
    /// L1: `check` changed its own argument.
    ArgumentChanged { argument: String, property: String, before: Option<Json>, after: Option<Json> },
    /// L1: `check` does not leave alone what it returned.
    NotIdempotent { property: String, first: Option<Json>, again: Option<Json> },
    /// L1: `check` returns something else for the same inputs.
    NotStable { property: String, first: Option<Json>, again: Option<Json> },
    /// L2, L4: the next plan is not empty, after `create` or `update`.
    NotSettled { after: String, action: String, property: Option<String>, wanted: Option<Json>, kept: Option<Json> },
    /// L3: `read` does not find the object.
    ReadFindsNothing { after: String },
    /// L3, L9: `read` returns the id of another object than it was asked for.
    ReadAnswersAnother { asked: String, answered: String },
    /// L3: `read` returns something else than `create` or `update` did.
    ReadDiffers { after: String, property: String, returned: Option<Json>, read: Option<Json> },
    /// L4: `diff` sees no change, and there is one.
    Overlooked { property: String, fresh: Option<Json>, kept: Option<Json> },
    /// L5: an update makes something else than a create.
    EndsElsewhere { property: String, created: Option<Json>, updated: Option<Json> },
    /// L6: a replacement has the id of the old object.
    SameId { replaces: Vec<String>, id: String },
    /// L6: after an update the object is no longer there.
    AnotherObject { id: String, ids: Vec<String>, changed: Vec<String> },
    /// L6: after an update `read` tells another id.
    AnotherId { id: String, found: Option<String>, changed: Vec<String> },
    /// L7: a replacement fails.
    ReplacementFails { replaces: Vec<String>, old_first: bool, error: String },
    /// L7: a replacement leaves something else than the new object.
    ReplacementLeaves { replaces: Vec<String>, id: String, ids: Vec<String> },
    /// L8: `delete` fails.
    DeleteFails { error: String },
    /// L8: the object is there after `delete`.
    StillThere { ids: Vec<String> },
    /// L8: a second `delete` fails.
    SecondDeleteFails { error: String },
    /// L8: `read` fails once the object is gone.
    ReadFailsWhenGone { error: String },
    /// L8: `read` finds what was deleted.
    ReadFindsDeleted { id: String },
    /// L9: `read` by the id alone does not find the object.
    ImportFails { id: String, error: Option<String> },
    /// L9: what was imported is changed by the next up.
    ImportChanges { id: String, action: String, property: Option<String>, read: Option<Json> },
    /// L10: `check` or `diff` used the network.
    Network { method: String, used: String },
    /// L10: `check` or `diff` made requests.
    Requests { method: String, requests: u64 },
    /// L10: planning changed the world.
    WorldChanged { property: String, before: Option<Json>, after: Option<Json> },
    /// L11: a change from outside is not seen.
    DriftUnseen,
    /// L11: an object that was removed outside stays in the state.
    NotDropped { id: String },
    /// L11: such an object is not made again.
    NotMadeAgain { ids: Vec<String> },
    /// L12: a secret is in plain text; `found` is without it.
    Leak { place: Leak, found: String },
    /// L13: a create that is done again fails.
    RepeatFails { error: String },
    /// L13: a create that is done again makes another number of objects than one.
    RepeatMakes { ids: Vec<String> },
    /// L14: a call goes on after it was cancelled.
    GoesOn { method: String, seconds: f64 },
    /// L15: a value that is not the same everywhere.
    NotPortable { method: String, property: String, why: String },
    /// L15: a result that no state can keep.
    Unkept { method: String, property: Option<String>, error: String },
    /// L15: a value that is another one after it was saved and loaded.
    Reloaded { method: String, property: String, returned: Option<Json>, loaded: Option<Json> },
    /// L16: what the previous release made would be replaced.
    OldReplaced { id: String, action: String, property: Option<String> },
    /// L17: resources that are made at once fail.
    TogetherFails { resources: u64, error: String },
    /// L17: a resource is another one when others are made at once.
    Mixed { property: String, resource: String, alone: Option<Json>, together: Option<Json> },
}

/// Where a secret is in plain text.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "in", rename_all = "kebab-case")]
pub enum Leak {
    /// The result of a method.
    Output {
        /// The path of the property.
        property: String,
    },
    /// The id of the object.
    Id,
    /// What a method raised.
    Error {
        /// The method.
        method: String,
    },
    /// What was printed or logged.
    Printed,
    /// What the provider object is printed as.
    Provider,
    /// A message of the run.
    Message,
}

impl Finding {
    /// The finding in words.
    #[must_use]
    pub fn words(&self) -> Words {
        let (property, expected, found, advice) = self.parts();
        Words { property, expected, found, advice: advice.to_owned() }
    }

    #[expect(clippy::too_many_lines, reason = "a table: what is found, and the words for it")]
    fn parts(&self) -> (String, String, String, &'static str) {
        let object = || OBJECT.to_owned();
        match self {
            Self::ArgumentChanged { argument, property, before, after } => (
                property.clone(),
                format!("{}  (as it was given)", show_maybe(before.as_ref())),
                format!("{}  (in `{argument}`, after check)", show_maybe(after.as_ref())),
                "check changed its own argument: build a new object from it",
            ),
            Self::NotIdempotent { property, first, again } => (
                property.clone(),
                format!("{}  (what check returned first)", show_maybe(first.as_ref())),
                format!("{}  (after check of that)", show_maybe(again.as_ref())),
                "check must leave alone what it has already brought into its form",
            ),
            Self::NotStable { property, first, again } => (
                property.clone(),
                format!("{}  (what check returned first)", show_maybe(first.as_ref())),
                format!("{}  (from the same inputs, with that as `olds`)", show_maybe(again.as_ref())),
                "check must return the same for the same inputs: what it makes up is to be taken from `olds` later",
            ),
            Self::NotSettled { after, action, property, wanted, kept } => {
                let advice = "diff is handed the outputs as `olds`: let create and update return every input that diff \
                              compares, as it was given";
                let when = format!("no change: the same inputs, after {after}");
                match property {
                    Some(property) => (
                        property.clone(),
                        format!("{}  ({when})", show_maybe(wanted.as_ref())),
                        format!("{}  (in the state, so that the next up would {action})", show_maybe(kept.as_ref())),
                        advice,
                    ),
                    None => (UNNAMED.to_owned(), when, format!("the next up would {action}"), advice),
                }
            }
            Self::ReadFindsNothing { after } => (
                object(),
                format!("there, right after {after}"),
                "nothing: read says that it is gone".to_owned(),
                "read is given the id that create returned: look the object up by that",
            ),
            Self::ReadAnswersAnother { asked, answered } => (
                "id".to_owned(),
                format!("{}, the id that create returned", text(asked)),
                format!("read was asked for '{asked}' and returned '{answered}'"),
                "read must return the id that it was given, or an empty one for what the service does not find",
            ),
            Self::ReadDiffers { after, property, returned, read } => (
                property.clone(),
                format!("{}  (what {after} returned)", show_maybe(returned.as_ref())),
                format!("{}  (what read returns after it)", show_maybe(read.as_ref())),
                "let read return what create and update do, from the same function; or name what changes by itself in \
                 `volatile`",
            ),
            Self::Overlooked { property, fresh, kept } => (
                property.clone(),
                format!(
                    "{}  (what create makes of the new inputs, so that diff must see a change)",
                    show_maybe(fresh.as_ref())
                ),
                format!("{}  (still, because diff sees none)", show_maybe(kept.as_ref())),
                "let diff compare this property of `olds` and `news`",
            ),
            Self::EndsElsewhere { property, created, updated } => (
                property.clone(),
                format!("{}  (what create makes of the same inputs)", show_maybe(created.as_ref())),
                format!("{}  (after an update to them)", show_maybe(updated.as_ref())),
                "let diff see every property that can change, let update pass it on, and return all outputs; or name \
                 what changes by itself in `volatile`",
            ),
            Self::SameId { replaces, id } => (
                "id".to_owned(),
                format!("a new one, because {} replaces the resource", named(replaces, "diff")),
                format!("{}, the one that it had", text(id)),
                "the old object is deleted by its id after the new one was made: give the new one an id of its own, or \
                 let diff ask for the old one to be deleted first",
            ),
            Self::AnotherObject { id, ids, changed } => (
                "id".to_owned(),
                format!("{}, before and after an update of {}", text(id), named(changed, "it")),
                format!("only {} in the world", listed(ids)),
                "update must keep the object; where it cannot, let diff name in `replaces` what forces another one",
            ),
            Self::AnotherId { id, found, changed } => (
                "id".to_owned(),
                format!("{}, before and after an update of {}", text(id), named(changed, "it")),
                format!("{}, from read", found.as_ref().map_or_else(|| "nothing".to_owned(), |found| text(found))),
                "update must keep the object; where it cannot, let diff name in `replaces` what forces another one",
            ),
            Self::ReplacementFails { replaces, old_first, error } => (
                named(replaces, UNNAMED),
                format!(
                    "a replacement that works, with the new object made {}",
                    if *old_first { "after the old one" } else { "beside the old one" }
                ),
                error.clone(),
                "where both objects cannot exist at once, let diff ask for the old one to be deleted first",
            ),
            Self::ReplacementLeaves { replaces, id, ids } => (
                named(replaces, UNNAMED),
                format!("the new object alone, {}", text(id)),
                format!("{} in the world after the replacement", listed(ids)),
                "delete must remove the old object by its own id, and no other",
            ),
            Self::DeleteFails { error } => {
                (object(), "delete works".to_owned(), error.clone(), "delete must remove what create has made")
            }
            Self::StillThere { ids } => (
                object(),
                "gone after delete".to_owned(),
                format!("{} in the world", listed(ids)),
                "delete must remove the object itself",
            ),
            Self::SecondDeleteFails { error } => (
                object(),
                "a second delete of the same object succeeds".to_owned(),
                error.clone(),
                "an object that is gone already is what delete is to reach: take the service's 'not found' for success",
            ),
            Self::ReadFailsWhenGone { error } => (
                object(),
                "read says that it is gone".to_owned(),
                error.clone(),
                "return an empty id for what the service does not find",
            ),
            Self::ReadFindsDeleted { id } => (
                object(),
                "read says that it is gone, after delete".to_owned(),
                text(id),
                "return an empty id for what the service does not find, and never the properties that were given",
            ),
            Self::ImportFails { id, error } => (
                object(),
                format!("an import of the id {} that needs no change", text(id)),
                error.clone().unwrap_or_else(|| "nothing: read says that it is gone".to_owned()),
                IMPORT_ADVICE,
            ),
            Self::ImportChanges { id, action, property, read } => {
                let expected = format!("an import of the id {} that needs no change", text(id));
                match property {
                    Some(property) => (
                        property.clone(),
                        expected,
                        format!("{}, so that the next up would {action} it", show_maybe(read.as_ref())),
                        IMPORT_ADVICE,
                    ),
                    None => (UNNAMED.to_owned(), expected, format!("the next up would {action} it"), IMPORT_ADVICE),
                }
            }
            Self::Network { method, used } => (
                method.clone(),
                "no use of the network: it runs in previews, too".to_owned(),
                used.clone(),
                PLANNING_ADVICE,
            ),
            Self::Requests { method, requests } => (
                method.clone(),
                "no request to the world: it runs in previews, too".to_owned(),
                format!("{requests} in one call"),
                PLANNING_ADVICE,
            ),
            Self::WorldChanged { property, before, after } => (
                property.clone(),
                format!("{}  (in the world, before)", show_maybe(before.as_ref())),
                format!("{}  (after planning)", show_maybe(after.as_ref())),
                PLANNING_ADVICE,
            ),
            Self::DriftUnseen => (
                "(none)".to_owned(),
                "a plan that undoes what was changed outside".to_owned(),
                "an empty plan, after a refresh".to_owned(),
                "read must ask the service for every property and return what it says, and diff must compare it",
            ),
            Self::NotDropped { id } => (
                object(),
                "dropped by a refresh, because it was removed outside".to_owned(),
                text(id),
                "return an empty id for what the service does not find",
            ),
            Self::NotMadeAgain { ids } => (
                object(),
                "made again by the next up".to_owned(),
                format!("{} in the world", listed(ids)),
                "create must make it anew",
            ),
            Self::Leak { place, found } => {
                let (property, advice) = place.parts();
                (property, "no secret in plain text".to_owned(), found.clone(), advice)
            }
            Self::RepeatFails { error } => {
                (object(), "made, or taken over, by the next up".to_owned(), error.clone(), REPEAT_ADVICE)
            }
            Self::RepeatMakes { ids } => {
                (object(), "one, after the next up".to_owned(), format!("{} in the world", listed(ids)), REPEAT_ADVICE)
            }
            Self::GoesOn { method, seconds } => (
                format!("(what {method} waits for)"),
                format!("an end of {method} within {seconds} s of the cancellation"),
                "none: it goes on".to_owned(),
                "wait in a way that ends when the call is cancelled; or set `grace`",
            ),
            Self::NotPortable { method, property, why } => (
                property.clone(),
                "a value that is the same in every language and in every state".to_owned(),
                format!("{why}, from {method}"),
                "return such a value as a text",
            ),
            Self::Unkept { method, property, error } => (
                property.clone().unwrap_or_else(|| format!("(what {method} returned)")),
                format!("what a state can keep, from {method}"),
                error.clone(),
                "return texts, numbers, booleans, null, lists and objects of these",
            ),
            Self::Reloaded { method, property, returned, loaded } => (
                property.clone(),
                format!("{}  (what {method} returned)", show_maybe(returned.as_ref())),
                format!("{}  (after it was saved and loaded)", show_maybe(loaded.as_ref())),
                "return texts, numbers, booleans, null, lists and objects of these",
            ),
            Self::OldReplaced { id, action, property } => (
                property.clone().unwrap_or_else(|| UNNAMED.to_owned()),
                format!("at most an update of {}, whose outputs are of the previous release", text(id)),
                action.clone(),
                "let diff take what older releases left out, or wrote otherwise, for unchanged",
            ),
            Self::TogetherFails { resources, error } => (
                "(none)".to_owned(),
                format!("what {resources} resources become one after the other, when they are made at once"),
                error.clone(),
                MIXED_ADVICE,
            ),
            Self::Mixed { property, resource, alone, together } => (
                format!("{property} of {resource}"),
                format!("{}  (one after the other)", show_maybe(alone.as_ref())),
                format!("{}  (at once)", show_maybe(together.as_ref())),
                MIXED_ADVICE,
            ),
        }
    }
}

impl Leak {
    fn parts(&self) -> (String, &'static str) {
        match self {
            Self::Output { property } => (
                property.clone(),
                "do not return what contains a secret under another name, or have that name secret, too",
            ),
            Self::Id => ("id".to_owned(), "ids are shown everywhere: make one without the secret"),
            Self::Error { method } => {
                (format!("(what {method} raises)"), "name the property in the message, and not its value")
            }
            Self::Printed => {
                ("(what was printed or logged)".to_owned(), "log the name of what was done, and not all inputs")
            }
            Self::Provider => {
                ("(the printed provider)".to_owned(), "keep the secret where it is not shown with the provider object")
            }
            Self::Message => ("(a message)".to_owned(), "name the property, and not its value"),
        }
    }
}

const IMPORT_ADVICE: &str = "read is called with the id, and without what the state has: let it ask the service for \
                             every property, and return as inputs what a program would write";
const PLANNING_ADVICE: &str =
    "check and diff decide from their arguments alone; leave the service to create, read, update and delete";
const REPEAT_ADVICE: &str = "let create find what an earlier one has made: by the operation key of the call as the \
                             service's idempotency key, or by a name that is unique there";
const MIXED_ADVICE: &str =
    "keep what belongs to one call in local variables, and share only what is made for it, behind a lock";

fn text(text: &str) -> String {
    show(&Json::from(text))
}

fn listed(ids: &[String]) -> String {
    show(&Json::from(ids.to_vec()))
}

fn named(names: &[String], none: &str) -> String {
    if names.is_empty() { none.to_owned() } else { names.join(", ") }
}
