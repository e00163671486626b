//! A list of stacks, with what the names of objects tell of each.
//!
//! A stack's summary is the name of an object without content: `.pulumi/maloko/PROJECT/STACK=VERSION=SUMMARY`, where the
//! version is that of the checkpoint that it was made of. So a list of ten thousand stacks reads none of them, and a
//! checkpoint that `pulumi` wrote since has no summary. While there is a journal, there is none either: the first piece of the
//! journal takes it away, and a lease that is given back without a journal leaves one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::{StreamExt, TryStreamExt};
use maloko_core::error::Result;
use maloko_core::state::{ListedStack, ORGANIZATION, StackName, Summary, Wanted};

use super::bucket::{AT_ONCE, Bucket};
use super::checkpoint;
use super::keys::{self, LOCKS, OWN, STACKS, StackKeys};
use super::listing::Listed;

/// What separates the parts of a summary's name. No stack has it in its own.
const SEPARATOR: char = '=';

/// The name of the summary of a checkpoint that was written just now; `None` where there is none to be made.
pub(crate) fn key(keys: &StackKeys, e_tag: Option<&str>, checkpoint: &[u8]) -> Option<String> {
    let summary = Summary::of(checkpoint)?;
    Some(format!("{}{SEPARATOR}{}{SEPARATOR}{summary}", keys.own(), version(e_tag?)))
}

/// A version of an object as it stands in names. The stores do not agree on quotation marks, and answer a write with other
/// ones than a list.
fn version(e_tag: &str) -> String {
    e_tag.trim_start_matches("W/").chars().filter(char::is_ascii_alphanumeric).collect()
}

/// A summary's name, taken apart.
fn parse(key: &str) -> Option<(StackName, String, Summary)> {
    let (project, name) = key.strip_prefix(OWN)?.split_once('/')?;
    let mut parts = name.split(SEPARATOR);
    let stack = StackName::new(project, parts.next()?).ok()?;
    let (version, summary) = (parts.next()?.to_owned(), Summary::parse(parts.next()?)?);
    parts.next().is_none().then_some((stack, version, summary))
}

/// What was found of a stack.
#[derive(Default)]
struct Sighted {
    e_tag: Option<String>,
    has_tags: bool,
    locked: bool,
    summary: Option<Summary>,
}

/// Those stacks that are wanted, sorted by name.
pub(crate) async fn survey(bucket: &Bucket, wanted: &Wanted) -> Result<Vec<ListedStack>> {
    let below = |directory: &str| match &wanted.project {
        Some(project) => format!("{directory}{project}/{}", wanted.prefix),
        None => directory.to_owned(),
    };
    let (stacks, locks) = (below(STACKS), below(&format!("{LOCKS}{ORGANIZATION}/")));
    let (listed, locks, mut own) =
        futures::future::try_join3(bucket.list_by(&stacks), bucket.list_by(&locks), own(bucket, wanted)).await?;
    let mut stacks = sighted(&listed, wanted);
    for key in own.summaries {
        let Some((name, version_of, summary)) = parse(&key) else { continue };
        // Those of former checkpoints may be left.
        if let Some(stack) = stacks.get_mut(&name)
            && stack.e_tag.as_deref().map(version) == Some(version_of)
        {
            stack.summary = Some(summary);
        }
    }
    for lock in &locks {
        if let Some(stack) = keys::locked_by(&lock.key).and_then(|name| stacks.get_mut(&name)) {
            stack.locked = true;
        }
    }
    own.stacks.retain(|name| wanted.has(name) && !stacks.contains_key(name));
    for name in lost(bucket, own.stacks).await? {
        stacks.insert(name, Sighted::default());
    }
    let tags = tags(bucket, wanted, &stacks).await?;
    let told = |(name, Sighted { locked, summary, .. }): (StackName, Sighted)| {
        let tags = tags.get(&name).cloned();
        ListedStack { name, summary, locked, tags }
    };
    Ok(stacks.into_iter().map(told).collect())
}

/// The names alone.
pub(crate) async fn names(bucket: &Bucket) -> Result<Vec<StackName>> {
    let wanted = Wanted::default();
    let (listed, mut own) = futures::future::try_join(bucket.list_by(STACKS), own(bucket, &wanted)).await?;
    let mut stacks: BTreeSet<StackName> = sighted(&listed, &wanted).into_keys().collect();
    own.stacks.retain(|name| !stacks.contains(name));
    stacks.extend(lost(bucket, own.stacks).await?);
    Ok(stacks.into_iter().collect())
}

/// The stacks that there are stack files of. Objects of other names are not stacks of ours.
fn sighted(listed: &[Listed], wanted: &Wanted) -> BTreeMap<StackName, Sighted> {
    let mut stacks: BTreeMap<StackName, Sighted> = BTreeMap::new();
    for Listed { key, e_tag } in listed {
        if let Some(name) = keys::stack_of(key).filter(|name| wanted.has(name)) {
            stacks.entry(name).or_default().e_tag.clone_from(e_tag);
        }
    }
    for Listed { key, .. } in listed {
        if let Some(stack) = keys::tagged_by(key).and_then(|name| stacks.get_mut(&name)) {
            stack.has_tags = true;
        }
    }
    stacks
}

/// What is ours beside the stack files.
#[derive(Default)]
struct Own {
    /// Stacks that something was ever kept of.
    stacks: Vec<StackName>,
    summaries: Vec<String>,
}

async fn own(bucket: &Bucket, wanted: &Wanted) -> Result<Own> {
    let projects = match &wanted.project {
        Some(project) => vec![format!("{OWN}{project}/")],
        None => bucket.list_directory(OWN).await?.directories,
    };
    let list = |project: String| async move { bucket.list_directory(&format!("{project}{}", wanted.prefix)).await };
    let mut listed = futures::stream::iter(projects.into_iter().map(list)).buffer_unordered(AT_ONCE);
    let mut own = Own::default();
    while let Some(content) = listed.try_next().await? {
        own.stacks.extend(content.directories.iter().filter_map(|directory| keys::owned_by(directory)));
        own.summaries.extend(content.objects.into_iter().map(|object| object.key));
    }
    Ok(own)
}

/// Those of the stacks whose checkpoint was lost: nobody has removed them.
async fn lost(bucket: &Bucket, without_checkpoint: Vec<StackName>) -> Result<Vec<StackName>> {
    let look = |name: StackName| async move {
        let lost = checkpoint::is_lost(bucket, &StackKeys::new(&name)).await?;
        Ok(lost.then_some(name))
    };
    let found: Vec<Option<StackName>> =
        futures::stream::iter(without_checkpoint.into_iter().map(look)).buffer_unordered(AT_ONCE).try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

async fn tags(
    bucket: &Bucket,
    wanted: &Wanted,
    stacks: &BTreeMap<StackName, Sighted>,
) -> Result<HashMap<StackName, Vec<u8>>> {
    let mut tagged = Vec::new();
    if wanted.tags {
        tagged.extend(stacks.iter().filter(|(_, stack)| stack.has_tags).map(|(name, _)| name.clone()));
    }
    let read = |name: StackName| async move {
        let found = bucket.get(&StackKeys::new(&name).tags).await?;
        Ok(found.map(|found| (name, found.bytes.to_vec())))
    };
    let found: Vec<Option<(StackName, Vec<u8>)>> =
        futures::stream::iter(tagged.into_iter().map(read)).buffer_unordered(AT_ONCE).try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

#[cfg(test)]
#[path = "survey_tests.rs"]
mod tests;
