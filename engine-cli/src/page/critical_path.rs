//! What the duration of a run is made of: from its end back, each time to what was waited for last.

use super::data::{Activity, PathItem, Resource};

/// Shorter gaps are no more than the engine's own work (milliseconds).
const GAP: f64 = 1.0;
/// The end of one activity and the beginning of the next may be noted in the wrong order by this much.
const TOLERANCE: f64 = 0.5;

/// The critical path of a run, first to last. `duration` in milliseconds.
pub(crate) fn critical_path(resources: &[Resource], activities: &[Activity], duration: f64) -> Vec<PathItem> {
    let graph = Graph::new(resources, activities);
    let mut path = Vec::new();
    let mut until = duration;
    let mut next = graph.last_before(duration, None, None);
    let mut seen = vec![false; activities.len()];
    while let Some(index) = next {
        // What took no time at all may have been noted in any order.
        if std::mem::replace(&mut seen[index], true) {
            break;
        }
        let (activity, end) = (&activities[index], end_of(&activities[index]));
        gap(&mut path, end, until);
        next = graph.cause(index);
        // What gave a permit back went on while it was waited for, as did what came before a dependent step.
        let cause_ended = next.map_or(0.0, |cause| end_of(&activities[cause]));
        let began = activity.began.max(cause_ended.min(end));
        // Such a wait is nothing but what was done meanwhile.
        let is_explained = next.is_some() && activity.kind == "dependency";
        if end.min(until) > began && !is_explained {
            let (duration, text) = (rounded(end.min(until) - began), graph.title(index));
            path.push(PathItem { activity: Some(index), began, duration, text });
        }
        until = began.min(until);
    }
    gap(&mut path, 0.0, until);
    path.reverse();
    path
}

/// The time in which no call was waited for.
fn gap(path: &mut Vec<PathItem>, from: f64, until: f64) {
    if until - from >= GAP {
        path.push(PathItem {
            activity: None,
            began: from,
            duration: rounded(until - from),
            text: "the program".to_owned(),
        });
    }
}

/// To the two places that times have on a page.
fn rounded(milliseconds: f64) -> f64 {
    (milliseconds * 100.0).round() / 100.0
}

fn end_of(activity: &Activity) -> f64 {
    activity.began + activity.duration.unwrap_or_default()
}

/// Which activities may have been waited for.
struct Graph<'a> {
    resources: &'a [Resource],
    activities: &'a [Activity],
    /// By resource, in the order of their ends.
    of: Vec<Vec<usize>>,
    /// All, in the order of their ends.
    all: Vec<usize>,
    /// By resource: those that name it.
    dependents: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn new(resources: &'a [Resource], activities: &'a [Activity]) -> Self {
        let mut all: Vec<usize> = (0..activities.len()).filter(|index| activities[*index].duration.is_some()).collect();
        all.sort_by(|a, b| end_of(&activities[*a]).total_cmp(&end_of(&activities[*b])));
        let mut of = vec![Vec::new(); resources.len()];
        for index in &all {
            if let Some(of) = activities[*index].resource.and_then(|resource| of.get_mut(resource)) {
                of.push(*index);
            }
        }
        let mut dependents = vec![Vec::new(); resources.len()];
        for (number, resource) in resources.iter().enumerate() {
            for on in named(resource) {
                if let Some(dependents) = dependents.get_mut(on) {
                    dependents.push(number);
                }
            }
        }
        Self { resources, activities, of, all, dependents }
    }

    fn title(&self, index: usize) -> String {
        let activity = &self.activities[index];
        let name = activity.resource.and_then(|resource| self.resources.get(resource)).map(|it| it.name.as_str());
        match (activity.kind.as_str(), name) {
            ("permit" | "disk" | "dependency", Some(name)) => format!("{name} waits for {}", activity.name),
            (_, Some(name)) => format!("{} of {name}", activity.name),
            (_, None) => activity.name.clone(),
        }
    }

    /// What ended last before a time, of one resource or of all; if it led to something, what had begun before that.
    fn last_before(&self, time: f64, resource: Option<usize>, led_to: Option<usize>) -> Option<usize> {
        let among = match resource {
            Some(resource) => self.of.get(resource)?,
            None => &self.all,
        };
        let after = among.partition_point(|index| end_of(&self.activities[*index]) <= time + TOLERANCE);
        let mut latest_first = among[..after].iter().rev().copied();
        latest_first.find(|cause| led_to.is_none_or(|index| self.is_earlier(index, *cause)))
    }

    /// What ended last before a time, and is itself no wait for others.
    fn last_done_before(&self, time: f64, wait: usize) -> Option<usize> {
        let after = self.all.partition_point(|index| end_of(&self.activities[*index]) <= time + TOLERANCE);
        let mut latest_first = self.all[..after].iter().rev().copied();
        latest_first.find(|index| *index != wait && self.activities[*index].kind != "dependency")
    }

    /// What had to end before an activity could begin.
    fn cause(&self, index: usize) -> Option<usize> {
        let activity = &self.activities[index];
        let began = activity.began;
        // Which call gave the permit back is any that ended while this one waited.
        if activity.kind == "permit" {
            return self.last_before(end_of(activity), None, Some(index));
        }
        if activity.kind == "dependency" {
            return self.last_done_before(end_of(activity), index);
        }
        // Of what is nobody's, such as the last record of a run, anything may have been waited for.
        let Some(resource) = activity.resource else { return self.last_before(began, None, Some(index)) };
        let mut related = vec![resource];
        related.extend(named(self.resources.get(resource)?));
        // What depends on it went before it: in deletions, and where an object goes before its replacement is made.
        related.extend(&self.dependents[resource]);
        let ended = related.into_iter().filter_map(|it| self.last_before(began, Some(it), Some(index)));
        ended.max_by(|a, b| end_of(&self.activities[*a]).total_cmp(&end_of(&self.activities[*b])))
    }

    /// Did a cause begin before what it led to? So a path comes to an end.
    fn is_earlier(&self, index: usize, cause: usize) -> bool {
        let (led_to, began) = (self.activities[index].began, self.activities[cause].began);
        began < led_to || (began <= led_to && cause < index)
    }
}

/// The resources that one names.
fn named(resource: &Resource) -> impl Iterator<Item = usize> + '_ {
    let single = resource.parent.into_iter().chain(resource.deleted_with).chain(resource.provider);
    let lists = resource.dependencies.iter().map(|dependency| dependency.on);
    single.chain(lists).chain(resource.replace_with.iter().copied())
}

#[cfg(test)]
#[path = "critical_path_tests.rs"]
mod tests;
