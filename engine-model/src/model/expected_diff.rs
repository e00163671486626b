//! What the differences between what is and what is wanted ask for (docs/rules 3.2 to 3.4).

use maloko_core::property_path::{PathPattern, PatternSegment};
use maloko_core::provider::{Answer, DiffAnswer, Method};
use maloko_core::{PropertyMap, Value};

use crate::rules::Rule;

use super::paths::{covers, differences, is_below_unknown, is_longer, put_back};
use super::wanted_resource::WantedResource;
use super::{Halt, Model, Record};

/// What the differences ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ExpectedDiff {
    pub(crate) changed: bool,
    pub(crate) replace: bool,
    pub(crate) delete_first: Option<bool>,
    pub(crate) stable: bool,
}

impl Model<'_> {
    pub(super) fn ask_diff(&mut self, old: &Record, wanted: &WantedResource<'_>) -> Result<ExpectedDiff, Halt> {
        let news = wanted.record.inputs.clone();
        let answer = if Self::is_provider_of_plugin(&wanted.record.urn) {
            self.diff_provider(&wanted.record.urn, old, &news)
        } else {
            let method = Method::Diff { id: old.id.clone(), olds: old.outputs.clone(), news: news.clone() };
            self.call(&wanted.record, &method, Some(&old.inputs))
        };
        let Ok(Answer::Diffed(answer)) = answer else {
            self.counts.hit(Rule::DiffRaises);
            return Err(Halt);
        };
        let resource = wanted.resource;
        let lists = (&resource.ignore_changes[..], &resource.replace_on_changes[..]);
        let mut expected = self.judge(&answer, &old.inputs, &news, lists, old.unhealthy);
        if old.pending {
            self.counts.hit(Rule::PendingReplaced);
            expected.changed = true;
            expected.replace = true;
        }
        Ok(expected)
    }

    /// What an answer of `diff` means (docs/rules 3.2 to 3.4).
    pub(crate) fn judge(
        &mut self,
        answer: &DiffAnswer,
        olds: &PropertyMap,
        news: &PropertyMap,
        (ignored, on_changes): (&[String], &[String]),
        unhealthy: bool,
    ) -> ExpectedDiff {
        let found = differences(olds, &put_back(olds, news, ignored));
        if answer.changes.is_none() {
            if found.is_empty() && !differences(olds, news).is_empty() {
                self.counts.hit(Rule::StructuralIgnored);
            }
            if found.iter().any(|path| path.len() > 1) {
                self.counts.hit(Rule::StructuralNested);
            }
            if news.values().any(Value::contains_unknown) && !found.is_empty() {
                self.counts.hit(Rule::StructuralUnknown);
            }
        }
        let mut changed = answer.changes.unwrap_or(!found.is_empty());
        let mut replace = changed && !answer.replaces.is_empty();
        self.counts.hit(match (answer.changes, changed, answer.replaces.is_empty()) {
            (Some(false), _, true) => Rule::DiffNone,
            (Some(false), _, false) => Rule::DiffNoneReplaces,
            (Some(true), _, true) => Rule::DiffSomeUpdate,
            (Some(true), _, false) => Rule::DiffSomeReplace,
            (None, false, true) => Rule::DiffUnknownSame,
            (None, false, false) => Rule::DiffUnknownSameReplaces,
            (None, true, true) => Rule::DiffUnknownUpdate,
            (None, true, false) => Rule::DiffUnknownReplace,
        });
        if changed && !replace {
            for listed in on_changes.iter().filter_map(|text| text.parse::<PathPattern>().ok()) {
                if found.iter().any(|path| covers(&listed, path) || is_below_unknown(&listed, path, news)) {
                    let wild = listed.0.contains(&PatternSegment::Any);
                    self.counts.hit(if wild { Rule::OnChangesWildcard } else { Rule::OnChanges });
                    replace = true;
                } else if found.iter().any(|path| is_longer(&listed, path)) {
                    self.counts.hit(Rule::OnChangesLonger);
                }
            }
        }
        if unhealthy {
            if !changed {
                self.counts.hit(Rule::InitErrorsUpdate);
            }
            changed = true;
            if on_changes.iter().any(|text| text.parse() == Ok(PathPattern(vec![PatternSegment::Any]))) {
                self.counts.hit(Rule::OnChangesInitError);
                replace = true;
            } else if !answer.replaces.is_empty() && answer.changes != Some(true) && found.is_empty() {
                // Keys that replace mean nothing when nothing changed.
                replace = false;
            }
        }
        let delete_first = answer.delete_before_replace;
        ExpectedDiff { changed, replace, delete_first, stable: answer.stables.iter().any(|key| key == "out") }
    }
}
