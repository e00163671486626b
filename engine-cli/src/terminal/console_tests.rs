#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::io::Write;
use std::sync::{Arc, Mutex};

use super::{Console, wants_color};

fn with(is_terminal: bool, variables: &[(&str, &str)]) -> bool {
    let look = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).into());
    wants_color(is_terminal, &look)
}

#[test]
fn the_environment_decides_on_colours() {
    assert!(with(true, &[]) && !with(false, &[]));
    assert!(!with(true, &[("NO_COLOR", "1")]) && with(true, &[("NO_COLOR", "")]));
    assert!(!with(true, &[("CLICOLOR", "0")]) && with(true, &[("CLICOLOR", "1")]));
    assert!(with(false, &[("CLICOLOR_FORCE", "1")]) && !with(false, &[("CLICOLOR_FORCE", "0")]));
    assert!(!with(true, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!with(true, &[("TERM", "dumb")]) && with(true, &[("TERM", "xterm")]));
}

#[derive(Clone, Default)]
struct Texts(Arc<Mutex<String>>);

impl Texts {
    fn add(&self, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }

    fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Write for Texts {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.add(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_a_store_tells_during_an_operation_is_no_output_of_the_program() {
    let (err, heard) = (Texts::default(), Texts::default());
    let console = Console::to(Box::new(std::io::sink()), Box::new(err.clone()));
    let listener = heard.clone();
    let listening = console.clone().listen(Arc::new(move |text| listener.add(text)));
    console.tell("no answer");
    assert_eq!((err.take(), heard.take()), (String::new(), "no answer".to_owned()));
    drop(listening);
    console.tell("no answer");
    assert_eq!((err.take(), heard.take()), ("no answer\n".to_owned(), String::new()));
}
