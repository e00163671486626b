use std::io::{self, Write};
use std::sync::{Arc, Mutex, mpsc};

use maloko_core::event::{Event, Severity};
use maloko_core::value::Value;

use super::story::{creation, map, options, say};
use super::terminal::Terminal;
use crate::display::{DisplayMode, open};

/// An output that can be read while it is written.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An output whose other end is gone.
struct Broken(mpsc::Sender<()>);

impl Write for Broken {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        let _ = self.0.send(());
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn all_is_written_once_the_display_is_closed() {
    let shared = Shared::default();
    let display = open(DisplayMode::JsonEvents, options(), Box::new(shared.clone()));
    let events = creation();
    let shown = events.len() - 3;
    for event in events {
        display.emit(event);
    }
    display.close();
    let written = String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
    assert_eq!(written.lines().count(), shown, "all but two internal steps and the stack's outputs");
    display.close();
    display.emit(Event::End);
    assert_eq!(shared.0.lock().unwrap().len(), written.len(), "nothing is written after that");
}

#[test]
fn a_broken_output_ends_the_display_and_nothing_else() {
    for mode in [DisplayMode::JsonEvents, DisplayMode::PreviewJson, DisplayMode::Plain, DisplayMode::Tree] {
        let (sender, written) = mpsc::channel();
        let display = open(mode, options(), Box::new(Broken(sender)));
        for _ in 0..3 {
            for event in creation() {
                display.emit(event);
            }
        }
        display.close();
        assert!(written.try_iter().count() >= 1, "{mode:?} tried");
    }
}

#[test]
fn events_may_come_from_any_thread() {
    let shared = Shared::default();
    let display = open(DisplayMode::Plain, options(), Box::new(shared.clone()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..250).for_each(|_| display.emit(say(None, Severity::Output, "line"))));
        }
    });
    display.close();
    let written = String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
    assert_eq!(written.lines().filter(|line| *line == "program: line").count(), 1000);
}

#[test]
fn secrets_that_the_engine_tells_of_are_hidden_from_then_on() {
    let shared = Shared::default();
    let options = options();
    let redactor = Arc::clone(&options.redactor);
    let display = open(DisplayMode::Plain, options, Box::new(shared.clone()));
    redactor.learn_properties(&map([("token", Value::secret("told-early".into()))]));
    display.emit(say(None, Severity::Output, "checking told-early"));
    display.close();
    assert_eq!(String::from_utf8_lossy(&shared.0.lock().unwrap()), "program: checking [secret]\n");
}

#[test]
fn a_display_that_stands_back_shows_what_happened_when_it_goes_on() {
    let shared = Shared::default();
    let display = open(DisplayMode::Plain, options(), Box::new(shared.clone()));
    let shown = || String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
    display.emit(say(None, Severity::Output, "before"));
    display.stand_back();
    assert_eq!(shown(), "program: before\n");
    display.emit(say(None, Severity::Output, "meanwhile"));
    display.go_on();
    // It has gone on by the time that it has stood back once more.
    display.stand_back();
    assert_eq!(shown(), "program: before\nprogram: meanwhile\n");
    display.emit(say(None, Severity::Output, "at the end"));
    display.close();
    assert_eq!(shown(), "program: before\nprogram: meanwhile\nprogram: at the end\n");
    display.stand_back();
    display.go_on();
}

#[test]
fn a_live_view_is_taken_away_while_the_display_stands_back() {
    let shared = Shared::default();
    let display = open(DisplayMode::Tree, options(), Box::new(shared.clone()));
    let mut events = creation();
    events.truncate(6);
    for event in events {
        display.emit(event);
    }
    display.stand_back();
    let mut terminal = Terminal::new(24, 80);
    terminal.write_all(&shared.0.lock().unwrap()).unwrap();
    assert_eq!(terminal.text().trim_end(), "Updating (dev):");
    display.close();
}
