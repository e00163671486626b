//! Plugins whose sources are in a git repository. The user's own git clones them, so its credentials and mirrors (`insteadOf`) count.

use std::path::Path;
use std::process::{Command, Stdio};

use semver::{Prerelease, Version};

use super::error::InstallError;
use super::progress::Progress;

/// What begins the address of a plugin in a repository.
const SCHEME: &str = "git://";
/// Before a commit that stands for a version: a pre-release may not begin with a zero.
const COMMIT: char = 'x';
/// So many versions are named in place of one that is not there.
const MAX_LISTED: usize = 5;
/// Lines of what git says that an error has.
const LAST_LINES: usize = 4;

/// A plugin in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitPlace {
    /// The address that git is given.
    pub(crate) repository: String,
    /// The plugin's folder in it; empty for the top.
    pub(crate) path: String,
    /// What its folder among the installed plugins is called, after the kind.
    pub(crate) name: String,
}

/// A plugin in a repository, as a user or Pulumi.yaml names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// `git://HOST/PATH`, as SDKs and states have it.
    pub url: String,
    /// What the plugin is called among the installed ones.
    pub name: String,
    /// A version, or `0.0.0-xCOMMIT`; empty for the newest.
    pub version: String,
}

impl GitSource {
    /// Reads `github.com/OWNER/REPOSITORY/FOLDER@VERSION`, `https://HOST/...` or `git://HOST/...`; the version may be a commit.
    /// `None` for what is no repository.
    ///
    /// # Errors
    /// Says what is wrong with the address or the version.
    pub fn read(text: &str) -> Result<Option<Self>, String> {
        let (address, version) = match text.rsplit_once('@') {
            // Not the one of `https://user@host/...`.
            Some((address, version)) if !version.contains('/') => (address, version),
            _ => (text, ""),
        };
        let bare = ["https://", "git://"].iter().find_map(|scheme| address.strip_prefix(scheme));
        let host = bare.unwrap_or(address).split('/').next().unwrap_or_default();
        if bare.is_none() && (address.starts_with(['.', '/']) || !host.contains('.') || !address.contains('/')) {
            return if address.contains("://") {
                Err(format!("'{text}' is no repository: write it like https://HOST/OWNER/REPOSITORY/FOLDER@VERSION"))
            } else {
                Ok(None)
            };
        }
        let url = format!("{SCHEME}{}", bare.unwrap_or(address));
        let place = GitPlace::read(&url)?;
        Ok(Some(Self { url, name: place.name, version: version_of(version)? }))
    }
}

/// A version, or a commit as one.
fn version_of(text: &str) -> Result<String, String> {
    let plain = text.strip_prefix('v').unwrap_or(text);
    if plain.is_empty() || Version::parse(plain).is_ok() {
        return Ok(plain.to_owned());
    }
    if (4..=64).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(format!("0.0.0-{COMMIT}{text}"));
    }
    Err(format!("'{text}' is neither a version such as 1.2.3 nor a commit"))
}

impl GitPlace {
    /// Is an address that of a repository?
    pub(crate) fn is_meant(url: &str) -> bool {
        url.starts_with(SCHEME)
    }

    /// Reads `git://HOST/OWNER/REPOSITORY[.git]/FOLDER`.
    pub(crate) fn read(url: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("'{}' is no address of a plugin: {why}", super::shown(url));
        let rest = url.strip_prefix(SCHEME).ok_or_else(|| wrong("it does not begin with git://"))?;
        let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
        if parts.iter().any(|part| part.is_empty() || *part == "." || *part == "..") {
            return Err(wrong("it has an empty part, or one of dots"));
        }
        // A repository that ends with .git may be deeper than OWNER/REPOSITORY.
        let end = parts.iter().position(|part| ends_with_git(part)).map_or(3, |at| at + 1);
        if parts.len() < end || end < 2 {
            return Err(wrong("write it like git://HOST/OWNER/REPOSITORY/FOLDER"));
        }
        let (repository, folder) = parts.split_at(end);
        let mut repository: Vec<String> = repository.iter().map(|part| (*part).to_owned()).collect();
        if let Some(last) = repository.last_mut().filter(|last| !ends_with_git(last)) {
            last.push_str(".git");
        }
        let path = folder.join("/");
        // Whoever is named in the address is no part of the folder's name.
        let host = repository[0].rsplit('@').next().unwrap_or_default().to_owned();
        let named = std::iter::once(host)
            .chain(repository[1..].iter().cloned())
            .chain(folder.iter().map(|part| (*part).to_owned()));
        let name = named.collect::<Vec<_>>().join("_");
        Ok(Self { repository: format!("https://{}", repository.join("/")), path, name })
    }

    /// The newest version: the highest tag, else the commit of the default branch.
    pub(crate) fn latest(&self) -> Result<Version, InstallError> {
        let listed = self.git(&["ls-remote", &self.repository], None)?;
        if let Some(newest) = versions(&listed).pop() {
            return Ok(newest);
        }
        let head = listed.lines().find_map(|line| line.strip_suffix("\tHEAD"));
        let commit = head.and_then(|commit| Prerelease::new(&format!("{COMMIT}{commit}")).ok());
        let commit = commit.ok_or_else(|| {
            InstallError::last(format!("{} has neither a tag of a version nor a default branch", self.shown()))
        })?;
        Ok(Version { pre: commit, ..Version::new(0, 0, 0) })
    }

    /// Which versions there are, in place of the one that is not.
    fn without_tag(&self, version: &Version) -> Option<InstallError> {
        let there = versions(&self.git(&["ls-remote", "--tags", &self.repository], None).ok()?);
        if there.contains(version) {
            return None;
        }
        let newest = there.iter().rev().take(MAX_LISTED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let there = match there.len() {
            0 => "it has no tags of versions; name a commit".to_owned(),
            count if count > MAX_LISTED => format!("the newest of its {count} tags are {newest}"),
            _ => format!("its tags are {newest}"),
        };
        Some(InstallError::last(format!("{} has no tag {version}: {there}", self.shown())))
    }

    /// Fills an empty folder with the files of a version.
    pub(crate) fn fetch(&self, version: &Version, folder: &Path, progress: &dyn Progress) -> Result<(), InstallError> {
        progress.says(&format!("Cloning {}", self.shown()));
        let git = |arguments: &[&str]| self.git(arguments, Some(folder));
        git(&["init", "--quiet"])?;
        git(&["remote", "add", "origin", &self.repository])?;
        if let Some(commit) = version.pre.strip_prefix(COMMIT) {
            // Not every server gives a single commit, and none gives a short one.
            if commit.len() < 40 || git(&["fetch", "--quiet", "--depth=1", "origin", commit]).is_err() {
                git(&["fetch", "--quiet", "origin"])?;
            }
            git(&["checkout", "--quiet", "--detach", commit])?;
        } else {
            let tag = |tag: &str| git(&["fetch", "--quiet", "--depth=1", "origin", &format!("refs/tags/{tag}")]);
            let fetched = tag(&format!("v{version}")).or_else(|_| tag(&version.to_string()));
            fetched.map_err(|error| self.without_tag(version).unwrap_or(error))?;
            git(&["checkout", "--quiet", "--detach", "FETCH_HEAD"])?;
        }
        let history = folder.join(".git");
        std::fs::remove_dir_all(&history)
            .map_err(|error| InstallError::io(format!("{} cannot be removed", history.display()), &error))?;
        if !folder.join(&self.path).is_dir() {
            return Err(InstallError::last(format!("{} has no folder '{}'", self.shown(), self.path)));
        }
        Ok(())
    }

    fn git(&self, arguments: &[&str], folder: Option<&Path>) -> Result<String, InstallError> {
        let mut command = Command::new("git");
        command.args(arguments).stdin(Stdio::null());
        // Nobody is there to answer.
        command.env("GIT_TERMINAL_PROMPT", "0");
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        let output = command.output().map_err(|error| {
            InstallError::io(format!("{} is cloned by git, which cannot be run; install git", self.shown()), &error)
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.replace(&self.repository, &self.shown());
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n  ");
        Err(InstallError::last(format!("{} cannot be cloned: {last}", self.shown())))
    }

    fn shown(&self) -> String {
        super::shown(&self.repository)
    }
}

/// The versions that a list of references has tags of; releases after all that come before them, the newest last.
fn versions(listed: &str) -> Vec<Version> {
    let tags = listed.lines().filter_map(|line| {
        let tag = line.split_once("refs/tags/")?.1.trim_end_matches("^{}");
        Version::parse(tag.strip_prefix('v').unwrap_or(tag)).ok()
    });
    let mut versions: Vec<Version> = tags.collect();
    versions.sort_by_key(|version| (version.pre.is_empty(), version.clone()));
    versions.dedup();
    versions
}

fn ends_with_git(part: &str) -> bool {
    Path::new(part).extension().is_some_and(|ending| ending == "git")
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
