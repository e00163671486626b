//! Rows for each combination of lists: `{ region: [eu, us], size: [s, m] }`.

use std::sync::Arc;

use super::{MAX_STACKS, Origin, Row, too_many};
use crate::document::Field;
use crate::fault::Result;

/// The combinations; the last list changes fastest.
pub(super) fn rows(field: &Field<'_>) -> Result<Vec<Row>> {
    let mut columns = Vec::new();
    let mut lists = Vec::new();
    for (name, list) in field.members()? {
        columns.push(name.to_owned());
        let items = list.items()?;
        lists.push(items.iter().map(Field::text).collect::<Result<Vec<_>>>()?);
    }
    let all = lists.iter().fold(usize::from(!lists.is_empty()), |all, list| all.saturating_mul(list.len()));
    if all > MAX_STACKS {
        return Err(too_many(field, all));
    }
    let columns: Arc<[String]> = columns.into();
    let mut rows = Vec::with_capacity(all);
    for number in 0..all {
        let mut rest = number;
        let mut values: Vec<String> = Vec::with_capacity(lists.len());
        for list in lists.iter().rev() {
            values.push(list[rest % list.len()].to_owned());
            rest /= list.len();
        }
        values.reverse();
        rows.push(Row::new(&columns, values, Origin::Combination));
    }
    Ok(rows)
}
