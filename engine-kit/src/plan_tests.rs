//! Plan entries that several steps make up.

use crate::plan::merge;

#[test]
fn what_replaces_is_listed_once_whichever_steps_name_it() {
    let mut known = vec!["region".to_owned(), "zone".to_owned()];
    merge(&mut known, &["zone".to_owned(), "engine".to_owned()]);
    assert_eq!(known, ["region", "zone", "engine"]);
}
