//! What git ignores below the fleet's directory: builds and runs write it, so most of it is no part of a program.

use std::path::Path;
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::Gitignore;

const FILE: &str = ".gitignore";

/// The rules that hold in a directory: its own, and those of the directories above it.
#[derive(Clone)]
pub(crate) struct IgnoreRules(Option<Rc<OfDirectory>>);

struct OfDirectory {
    own: Gitignore,
    above: IgnoreRules,
}

impl IgnoreRules {
    /// The rules of the directories from `top` down to `directory`; those of `directory` alone where it is not below.
    pub(crate) fn between(top: &Path, directory: &Path) -> Self {
        let none = Self(None);
        let Ok(below) = directory.strip_prefix(top) else { return none.within(directory) };
        let mut reached = top.to_path_buf();
        below.components().fold(none.within(top), |rules, part| {
            reached.push(part);
            rules.within(&reached)
        })
    }

    /// With those of a directory in this one. What cannot be read, or is no pattern, ignores nothing.
    pub(crate) fn within(&self, directory: &Path) -> Self {
        let file = directory.join(FILE);
        if !file.is_file() {
            return self.clone();
        }
        let (own, _faults) = Gitignore::new(file);
        Self(Some(Rc::new(OfDirectory { own, above: self.clone() })))
    }

    /// Is a file or directory ignored? The rule counts that stands nearest to it.
    pub(crate) fn has(&self, path: &Path, is_directory: bool) -> bool {
        let mut place = self;
        while let Some(rules) = &place.0 {
            match rules.own.matched(path, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => place = &rules.above,
            }
        }
        false
    }
}

#[cfg(test)]
#[path = "ignored_tests.rs"]
mod tests;
