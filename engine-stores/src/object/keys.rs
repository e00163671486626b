//! Names of objects: Pulumi's layout, and ours beside it.

use maloko_core::state::{ORGANIZATION, StackName};

/// Digits of a sequence number in a name, so that names sort as numbers do.
pub(crate) const DIGITS: usize = 10;
/// Endings of stack files that Pulumi may have compressed.
pub(crate) const COMPRESSED: [&str; 2] = ["gz", "zst"];

/// The object that tells the version of the layout.
pub(crate) const META: &str = ".pulumi/meta.yaml";
/// What all stack files lie below.
pub(crate) const STACKS: &str = ".pulumi/stacks/";
/// What the locks that both tools respect lie below.
pub(crate) const LOCKS: &str = ".pulumi/locks/";
/// What our own objects lie below.
pub(crate) const OWN: &str = ".pulumi/maloko/";

/// The names of one stack's objects, relative to the place of the store.
#[derive(Clone, Debug)]
pub(crate) struct StackKeys {
    /// The stack file.
    pub(crate) checkpoint: String,
    /// The stack file before, as Pulumi keeps it.
    pub(crate) backup: String,
    /// Pulumi's tags of the stack.
    pub(crate) tags: String,
    /// What the locks that both tools respect lie below.
    pub(crate) locks: String,
    /// What the history lies below.
    pub(crate) history: String,
    /// Who holds the stack.
    pub(crate) lease: String,
    /// The seal of the stack file.
    pub(crate) seal: String,
    /// What the journal lies below.
    pub(crate) journal: String,
    /// What older stack files lie below.
    pub(crate) generations: String,
    /// What journals that are no longer used lie below.
    pub(crate) aside: String,
    own: String,
    stack: String,
}

impl StackKeys {
    pub(crate) fn new(name: &StackName) -> Self {
        let (project, stack) = (name.project(), name.stack());
        let own = format!("{OWN}{project}/{stack}");
        Self {
            checkpoint: format!("{STACKS}{project}/{stack}.json"),
            backup: format!("{STACKS}{project}/{stack}.json.bak"),
            tags: format!("{STACKS}{project}/{stack}.pulumi-tags"),
            locks: format!("{LOCKS}{ORGANIZATION}/{project}/{stack}/"),
            history: format!(".pulumi/history/{project}/{stack}/"),
            lease: format!("{own}/lease"),
            seal: format!("{own}/seal"),
            journal: format!("{own}/journal/"),
            generations: format!("{own}/generations/"),
            aside: format!("{own}/aside/"),
            own,
            stack: stack.to_owned(),
        }
    }

    /// What the stack's own objects lie below, without the last '/'.
    pub(crate) fn own(&self) -> &str {
        &self.own
    }

    /// What a lease tries the store with.
    pub(crate) fn probe(&self, lease: &str) -> String {
        format!("{}/probe-{lease}", self.own)
    }

    /// A piece of the journal. Where the store cannot refuse to overwrite, the writer's own mark keeps names apart.
    pub(crate) fn batch(&self, sequence: u64, writer: Option<&str>) -> String {
        let mark = writer.map(|writer| format!("-{writer}")).unwrap_or_default();
        format!("{}{sequence:0DIGITS$}{mark}", self.journal)
    }

    /// A name that sorts before the piece `sequence` of the journal and after all before it.
    pub(crate) fn before_batch(&self, sequence: u64) -> String {
        // 'z' sorts after whatever a writer's mark begins with.
        format!("{}{:0DIGITS$}-z", self.journal, sequence.saturating_sub(1))
    }

    /// The number of a piece of the journal.
    pub(crate) fn sequence_of(&self, key: &str) -> Option<u64> {
        let name = key.strip_prefix(&self.journal)?;
        name.split('-').next()?.parse().ok()
    }

    /// An older stack file.
    pub(crate) fn generation(&self, number: u64) -> String {
        format!("{}{number:0DIGITS$}.json", self.generations)
    }

    /// The number of an older stack file.
    pub(crate) fn generation_of(&self, key: &str) -> Option<u64> {
        key.strip_prefix(&self.generations)?.strip_suffix(".json")?.parse().ok()
    }

    /// The two objects of an entry of the history.
    pub(crate) fn entry(&self, at: i128) -> (String, String) {
        let stem = format!("{}{}-{at}", self.history, self.stack);
        (format!("{stem}.history.json"), format!("{stem}.checkpoint.json"))
    }

    /// When the entry of the history ended.
    pub(crate) fn time_of(&self, key: &str) -> Option<i128> {
        let name = key.strip_prefix(&self.history)?.strip_suffix(".history.json")?;
        name.strip_prefix(&self.stack)?.strip_prefix('-')?.parse().ok()
    }

    /// The name that an object of another stack's history gets here.
    pub(crate) fn renamed(&self, from: &StackKeys, key: &str) -> Option<String> {
        let name = key.strip_prefix(&from.history)?;
        let rest = name.strip_prefix(&from.stack).filter(|rest| rest.starts_with('-'));
        Some(match rest {
            Some(rest) => format!("{}{}{rest}", self.history, self.stack),
            None => format!("{}{name}", self.history),
        })
    }
}

/// The stack that a stack file belongs to.
pub(crate) fn stack_of(key: &str) -> Option<StackName> {
    let (project, file) = key.strip_prefix(STACKS)?.split_once('/')?;
    let plain = COMPRESSED.iter().find_map(|ending| file.strip_suffix(ending)?.strip_suffix('.')).unwrap_or(file);
    StackName::new(project, plain.strip_suffix(".json")?).ok()
}

/// The stack that tags belong to.
pub(crate) fn tagged_by(key: &str) -> Option<StackName> {
    let (project, file) = key.strip_prefix(STACKS)?.split_once('/')?;
    StackName::new(project, file.strip_suffix(".pulumi-tags")?).ok()
}

/// The stack that a lock belongs to.
pub(crate) fn locked_by(key: &str) -> Option<StackName> {
    let (_, stack) = key.strip_prefix(LOCKS)?.split_once('/')?;
    let mut parts = stack.split('/');
    StackName::new(parts.next()?, parts.next()?).ok()
}

/// The stack whose own objects lie in a directory.
pub(crate) fn owned_by(directory: &str) -> Option<StackName> {
    let (project, stack) = directory.strip_prefix(OWN)?.strip_suffix('/')?.split_once('/')?;
    StackName::new(project, stack).ok()
}

/// Is it a stack file of the old layout, which had no projects?
pub(crate) fn is_old_layout(key: &str) -> bool {
    key.strip_prefix(STACKS).is_some_and(|rest| {
        let plain = COMPRESSED.iter().find_map(|ending| rest.strip_suffix(ending)?.strip_suffix('.')).unwrap_or(rest);
        !rest.contains('/') && plain.strip_suffix(".json").is_some()
    })
}
