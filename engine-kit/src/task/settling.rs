//! A program and its providers come to rest: right after an operation there is nothing to do.

use serde_json::json;

use super::{EarlyEnd, Host, broken, steps_of};
use crate::plan_assertions;

pub(super) async fn settle(
    host: &Host,
    after: Option<String>,
    targets: Vec<String>,
    excludes: Vec<String>,
) -> Result<(), EarlyEnd> {
    for refresh in [false, true] {
        let order = json!({
            "verb": "up", "preview": true, "aside": true, "refresh": refresh, "targets": targets, "excludes": excludes,
        });
        let report = host.run(order).await?;
        if report.plan.iter().any(|entry| plan_assertions::is_change(entry.action)) {
            let when = after.map_or_else(String::new, |verb| format!(" right after `{verb}`"));
            let how = if refresh { ", with a refresh," } else { "" };
            return Err(broken(format!(
                "the stack never settles: planned again{when}{how} it is not left as it is, but would\n{}\nThese keep \
                 changing. `diff` is handed the outputs as `olds`: let `create` and `update` return every input that `diff` \
                 compares, as it was given, and `read` return what they do; or turn `settle` off",
                plan_assertions::indented(&plan_assertions::text(&steps_of(&report.plan)))
            )));
        }
    }
    Ok(())
}
