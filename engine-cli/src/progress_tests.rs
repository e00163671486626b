use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{ProgressListener, ProgressMeter, ProgressReports, ProgressTeller};

struct Told(Mutex<Sender<String>>);

impl ProgressReports for Told {
    fn progress(&self, json: &str) {
        // The test may be over.
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).send(json.to_owned()));
    }
}

fn number(report: &str) -> u64 {
    let report: serde_json::Value = serde_json::from_str(report).unwrap_or_default();
    report["reports"].as_u64().unwrap_or_default()
}

#[test]
fn the_last_report_comes_at_the_end_however_long_the_time_between_them() {
    let (sender, told) = mpsc::channel();
    let listener = ProgressListener { to: Arc::new(Told(Mutex::new(sender))), every: Duration::from_secs(3600) };
    let meter = ProgressMeter::default();
    drop(ProgressTeller::begin(&meter, listener));
    let reports: Vec<String> = told.iter().collect();
    assert_eq!(reports, [r#"{"done":0,"failed":0,"reports":1,"slowest":[],"total":0}"#]);
}

#[test]
fn reports_come_while_it_goes_on_and_their_number_rises_with_those_that_are_asked_for() {
    let (sender, told) = mpsc::channel();
    let listener = ProgressListener { to: Arc::new(Told(Mutex::new(sender))), every: Duration::from_millis(1) };
    let meter = ProgressMeter::default();
    let teller = ProgressTeller::begin(&meter, listener);
    let mut numbers: Vec<u64> = told.iter().take(2).map(|report| number(&report)).collect();
    let asked = number(&meter.read());
    drop(teller);
    numbers.extend(told.iter().map(|report| number(&report)));
    let mut rising = numbers.clone();
    rising.dedup();
    assert!(numbers.is_sorted() && rising == numbers, "each has a number of its own: {numbers:?}");
    assert!(!numbers.contains(&asked), "{asked} was somebody else's: {numbers:?}");
}
