//! The laws: what they are called, what they are tried with, and what they cannot do without.

use serde::Serialize;

use super::exchange::ExampleResult;
use super::host::Host;
use super::subject::Subject;
use super::{editing, reading, secrets, service};

pub(super) type Flow = crate::exchange::Flow<ExampleResult>;

/// A law.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Law {
    /// `L5`.
    pub name: &'static str,
    /// What holds.
    pub title: &'static str,
    /// How many inputs an example of it has.
    pub inputs: usize,
    /// Multiplies the usual number of examples.
    #[serde(skip)]
    share: f64,
    /// Do the inputs of an example say anything of what was found?
    pub shows_inputs: bool,
    /// Are smaller inputs looked for that break it, too? Where any would, that costs time and says nothing.
    pub shrinks: bool,
    #[serde(skip)]
    needs: &'static [(Need, &'static str)],
    #[serde(skip)]
    pub(super) procedure: fn(Host) -> Flow,
}

/// What a law cannot do without.
#[derive(Clone, Copy)]
enum Need {
    Method(&'static str),
    World,
    Mutate,
    Delete,
    Secret,
    Baseline,
}

impl Law {
    const fn new(
        name: &'static str,
        title: &'static str,
        inputs: usize,
        needs: &'static [(Need, &'static str)],
        procedure: fn(Host) -> Flow,
    ) -> Self {
        Self { name, title, inputs, share: 1.0, shows_inputs: true, shrinks: true, needs, procedure }
    }

    const fn share(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    const fn without_inputs(mut self) -> Self {
        self.shows_inputs = false;
        self.unshrunk()
    }

    const fn unshrunk(mut self) -> Self {
        self.shrinks = false;
        self
    }

    /// How many examples of it are tried, where most laws are tried on so many.
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful")]
    pub(crate) fn examples(&self, usual: usize) -> usize {
        ((usual as f64 * self.share).round() as usize).max(1)
    }

    /// Which of an author's inputs make the examples, by their numbers, where there are so many.
    pub(crate) fn listed(&self, usual: usize, count: usize) -> Vec<Vec<usize>> {
        let examples: Vec<Vec<usize>> = if self.inputs == 2 && count > 1 {
            // Neighbours first: a list is written in an order that means something.
            let neighbours = (1..count).map(|at| vec![at - 1, at]);
            let others = (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
            let others = others.filter(|(one, other)| one != other && one + 1 != *other);
            neighbours.chain(others.map(|(one, other)| vec![one, other])).collect()
        } else if self.inputs > 2 {
            vec![(0..count.min(self.inputs)).collect()]
        } else {
            (0..count).map(|at| vec![at]).collect()
        };
        examples.into_iter().take(3 * self.examples(usual)).collect()
    }

    /// What it lacks of a provider, and what for; `None` when it can be tried.
    #[must_use]
    pub fn lacks(&self, subject: &Subject) -> Option<String> {
        let lacks = |(need, why): &(Need, &str)| need.lacks(subject).map(|what| format!("{what}{why}"));
        let asks_for_pairs =
            self.inputs > 1 && !(self.name == "L12" && subject.secret.as_ref().is_some_and(Vec::is_empty));
        self.lacks_of_plugin(subject).or_else(|| self.needs.iter().find_map(lacks)).or_else(|| {
            (asks_for_pairs && subject.listed.is_some_and(|count| count < 2))
                .then(|| "two `inputs` that differ; there is one".to_owned())
        })
    }
}

impl Law {
    /// What no plugin can give. In everything else a plugin is a provider like others.
    fn lacks_of_plugin(&self, subject: &Subject) -> Option<String> {
        let what = match self.name {
            _ if !subject.plugin => return None,
            "L10" if subject.world.is_none() => {
                "`world`, to see what planning has changed: nobody sees what a process of its own does with the network"
            }
            "L13" => {
                "an operation key, which the protocol of plugins does not have: a create that is cut off stays unresolved"
            }
            _ => return None,
        };
        Some(what.to_owned())
    }
}

impl Need {
    /// What is not there.
    fn lacks(self, subject: &Subject) -> Option<String> {
        let world = subject.world.as_ref();
        let ability = |of: fn(&super::World) -> &super::Ability| match world {
            None => Some("`world`, ".to_owned()),
            Some(world) if of(world).there => None,
            Some(world) => Some(format!("`{}(id)` of the world, ", of(world).name)),
        };
        match self {
            Self::Method(method) if subject.has(method) => None,
            Self::Method(method) => Some(format!("`{method}`, which the provider does not have: ")),
            Self::World => world.is_none().then(|| "`world`, ".to_owned()),
            Self::Mutate => ability(|world| &world.mutate),
            Self::Delete => ability(|world| &world.delete),
            Self::Secret => subject.secret.is_none().then(|| "`secret`: ".to_owned()),
            Self::Baseline => subject.baseline.is_none().then(|| "`baseline`: ".to_owned()),
        }
    }
}

macro_rules! procedure {
    ($procedure:path) => {
        |host| Box::pin(async move { $procedure(&host).await })
    };
}

/// The laws, in their order.
pub(crate) const LAWS: &[Law] = &[
    Law::new(
        "L1",
        "check is idempotent and pure",
        1,
        &[(Need::Method("check"), "without one the inputs stay as they are")],
        procedure!(editing::check_is_pure),
    )
    .share(3.0),
    Law::new("L2", "a second up does nothing", 1, &[], procedure!(editing::second_up_does_nothing)),
    Law::new(
        "L3",
        "read equals the outs",
        2,
        &[(Need::Method("read"), "without one what is stored counts as what is there")],
        procedure!(reading::read_equals_the_outs),
    ),
    Law::new("L4", "diff and update agree", 2, &[], procedure!(editing::diff_and_update_agree)),
    Law::new("L5", "an update ends where a create does", 2, &[], procedure!(editing::update_ends_where_create_does)),
    Law::new("L6", "a new id comes with a replacement only", 2, &[], procedure!(editing::new_id_only_with_replacement)),
    Law::new(
        "L7",
        "a replacement is made beside the old object",
        2,
        &[(Need::World, "to see what is left of a replacement")],
        procedure!(editing::replaced_beside_the_old),
    ),
    Law::new(
        "L8",
        "what is deleted is gone, also twice",
        1,
        &[(Need::Method("read"), "to see whether it says that the object is gone")],
        procedure!(reading::deleted_is_gone),
    )
    .share(0.5),
    Law::new(
        "L9",
        "an import needs no change",
        1,
        &[(Need::Method("read"), "an import is a read by id alone")],
        procedure!(reading::import_needs_no_change),
    ),
    Law::new("L10", "planning touches nothing", 2, &[], procedure!(service::planning_touches_nothing)).share(0.5),
    Law::new(
        "L11",
        "drift is seen",
        1,
        &[
            (Need::Mutate, "to change an object behind the provider's back"),
            (Need::Delete, "to remove an object behind the provider's back"),
            (Need::Method("read"), "nobody else says what has become of an object"),
        ],
        procedure!(service::drift_is_seen),
    )
    .share(0.5),
    Law::new(
        "L12",
        "secrets stay secret",
        2,
        &[(Need::Secret, "the names of the inputs that are secret, or none of them")],
        procedure!(secrets::secrets_stay_secret),
    )
    .share(0.5),
    Law::new(
        "L13",
        "a create that is cut off makes one object",
        1,
        &[(Need::World, "to count the objects")],
        procedure!(service::one_object_after_all),
    )
    .share(0.5),
    Law::new("L14", "a cancelled call ends", 1, &[], procedure!(service::cancelled_call_ends)).share(0.3).unshrunk(),
    Law::new("L15", "results are portable", 1, &[], procedure!(reading::results_are_portable)),
    Law::new(
        "L16",
        "outs of the previous release still fit",
        1,
        &[(Need::Baseline, "what the previous release has left in a state, as a file or data")],
        procedure!(reading::previous_outs_still_fit),
    )
    .share(0.1)
    .without_inputs(),
    Law::new("L17", "resources do not mix", 8, &[], procedure!(service::resources_do_not_mix)).share(0.5),
];

/// The law of this name.
pub(crate) fn law(name: &str) -> Option<&'static Law> {
    LAWS.iter().find(|law| law.name == name)
}
