use std::time::Duration;

use super::WriteAheadPace;

#[test]
fn later_calls_count_for_more_and_one_after_the_other_nothing_is_written_ahead() {
    let pace = WriteAheadPace::new(4);
    pace.note(Duration::from_secs(1));
    assert!(!pace.is_quick());
    (0..40).for_each(|_| pace.note(Duration::from_millis(1)));
    assert!(pace.is_quick());
    pace.note(Duration::from_secs(1));
    assert!(!pace.is_quick());
    let alone = WriteAheadPace::new(1);
    alone.note(Duration::ZERO);
    assert!(!alone.is_quick());
}
