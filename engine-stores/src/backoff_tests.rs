//! The pauses themselves.

use std::time::Duration;

use super::doubling;

#[test]
fn pauses_double_up_to_the_longest_and_do_not_end() {
    let milliseconds = |length: u64| Duration::from_millis(length);
    let pauses: Vec<Duration> = doubling(milliseconds(25), milliseconds(2000)).take(100).collect();
    let rounded: Vec<u128> = pauses.iter().map(Duration::as_millis).collect();
    assert_eq!(rounded[..8], [25, 50, 100, 200, 400, 800, 1600, 2000]);
    assert!(pauses[7..].iter().all(|pause| *pause == milliseconds(2000)), "{pauses:?}");
    assert_eq!(pauses.len(), 100);
}
