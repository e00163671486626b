//! In which waves the stacks of a run come.

use crate::document::{Field, Share};
use crate::fault::Result;
use crate::needs::{Needs, are_in};
use crate::plan::Wave;
use crate::select::Selector;
use crate::stacks::DeclaredStack;

/// The wave that takes what is left, and the only one of a run that has no others.
const REST: &str = "the rest";
const ALL: &str = "all";

/// A wave as the fleet declares it.
#[derive(Debug)]
pub(crate) struct DeclaredWave {
    taking: Taking,
    /// Seconds before it.
    pause: f64,
    unless_failed: Option<u64>,
}

#[derive(Debug)]
enum Taking {
    Selected(Vec<Selector>),
    Share(Share),
    Rest,
    /// Nothing: it is the pause before the next one.
    Nothing,
}

/// Reads `waves`; the last one takes the rest.
pub(crate) fn read(field: Option<&Field<'_>>) -> Result<Vec<DeclaredWave>> {
    let fields = field.map_or_else(|| Ok(Vec::new()), Field::items)?;
    let mut waves: Vec<DeclaredWave> = Vec::with_capacity(fields.len() + 1);
    for field in &fields {
        if waves.iter().any(|wave| matches!(wave.taking, Taking::Rest)) {
            return Err(field.fault("no stacks are left for it: the wave before takes the rest; put `{}` last"));
        }
        waves.push(read_one(field)?);
    }
    if !waves.iter().any(|wave| matches!(wave.taking, Taking::Rest)) {
        waves.push(DeclaredWave { taking: Taking::Rest, pause: 0.0, unless_failed: None });
    }
    Ok(waves)
}

fn read_one(field: &Field<'_>) -> Result<DeclaredWave> {
    field.knows(&["select", "share", "pause", "unless_failed"])?;
    let pause = field.member("pause")?.map(|pause| pause.duration()).transpose()?;
    let unless_failed = field.member("unless_failed")?.map(|number| number.number()).transpose()?;
    let taking = match (field.member("select")?, field.member("share")?) {
        (Some(_), Some(share)) => {
            return Err(share.fault("a wave has a `select` or a `share`, and not both; make two waves of it"));
        }
        (Some(select), None) => {
            let read = |item: &Field<'_>| Selector::read(item.text()?).map_err(|what| item.fault(what));
            Taking::Selected(select.one_or_more()?.iter().map(read).collect::<Result<_>>()?)
        }
        (None, Some(share)) => Taking::Share(share.share()?),
        (None, None) if pause.is_some() || unless_failed.is_some() => Taking::Nothing,
        (None, None) => Taking::Rest,
    };
    Ok(DeclaredWave { taking, pause: pause.unwrap_or_default(), unless_failed })
}

impl DeclaredWave {
    fn name(&self) -> String {
        match &self.taking {
            Taking::Selected(selectors) => selectors.iter().map(Selector::text).collect::<Vec<_>>().join(" "),
            Taking::Share(share) => share.shown(),
            Taking::Rest | Taking::Nothing => REST.to_owned(),
        }
    }
}

/// Refuses a wave that takes no stack of the whole fleet: its selector is wrong.
pub(crate) fn check(field: Option<&Field<'_>>, waves: &[DeclaredWave], stacks: &[DeclaredStack]) -> Result<()> {
    let fields = field.map_or_else(|| Ok(Vec::new()), Field::items)?;
    for (wave, field) in waves.iter().zip(&fields) {
        let Taking::Selected(selectors) = &wave.taking else { continue };
        if let Some(selector) = selectors.iter().find(|selector| !stacks.iter().any(|stack| selector.matches(stack))) {
            let select = field.member("select")?.unwrap_or_else(|| field.clone());
            return Err(select.fault(selector.nothing(stacks.iter())));
        }
    }
    Ok(())
}

/// The waves of a run that have stacks, and the wave of each stack. `ordered` has the stacks of the run by their numbers, each
/// after what it needs.
pub(crate) fn assign(
    waves: &[DeclaredWave],
    stacks: &[DeclaredStack],
    ordered: &[usize],
    needs: &Needs,
) -> (Vec<Wave>, Vec<usize>) {
    const NONE: usize = usize::MAX;
    let mut of_stack = vec![NONE; stacks.len()];
    let in_run = are_in(stacks.len(), ordered);
    let mut assigned: Vec<Wave> = Vec::new();
    let (mut pause, mut unless_failed): (f64, Option<u64>) = (0.0, None);
    let mut left = ordered.len();
    for wave in waves {
        pause = if matches!(wave.taking, Taking::Nothing) { pause + wave.pause } else { pause.max(wave.pause) };
        unless_failed = [unless_failed, wave.unless_failed].into_iter().flatten().min();
        let is_left = |number: &&usize| of_stack[**number] == NONE;
        let taken: Vec<usize> = match &wave.taking {
            Taking::Nothing => continue,
            Taking::Rest => ordered.iter().filter(is_left).copied().collect(),
            Taking::Share(share) => ordered.iter().filter(is_left).take(share.of(left)).copied().collect(),
            Taking::Selected(selectors) => {
                let selected = |number: &&usize| selectors.iter().all(|selector| selector.matches(&stacks[**number]));
                ordered.iter().filter(is_left).filter(selected).copied().collect()
            }
        };
        let mut waiting = taken;
        let is_first = assigned.is_empty();
        if waiting.is_empty() {
            continue;
        }
        // What they need comes forward with them.
        while let Some(number) = waiting.pop() {
            if of_stack[number] == NONE {
                of_stack[number] = assigned.len();
                left -= 1;
                waiting.extend(needs[number].iter().filter(|need| in_run[**need] && of_stack[**need] == NONE));
            }
        }
        // Before the first one there is nothing to wait for.
        let (before, limit) = if is_first { (0.0, None) } else { (pause, unless_failed) };
        assigned.push(Wave { name: wave.name(), pause: before, unless_failed: limit });
        (pause, unless_failed) = (0.0, None);
    }
    if let [only] = assigned.as_mut_slice()
        && only.name == REST
    {
        ALL.clone_into(&mut only.name);
    }
    (assigned, of_stack)
}

#[cfg(test)]
#[path = "waves_tests.rs"]
mod tests;
