//! What a run notices is said once, at its end.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use futures::executor::block_on;

use crate::operation::{Operation, OperationKind};
use crate::state::{Session, Snapshot};

use super::{Notice, NoticeList, text_of};
use crate::driver::tests::testing::{Recorder, ScriptedHost, run_from, wanted};
use crate::driver::{Engine, ProgramEnd};

fn text(notices: &NoticeList) -> String {
    text_of(notices).map(|text| text.to_string()).unwrap_or_default()
}

#[test]
fn all_that_was_noticed_is_one_line() {
    let mut notices = NoticeList::default();
    assert_eq!(text(&notices), "");
    notices.plugins_on_path.insert("pulumi-resource-x".to_owned(), "/bin/pulumi-resource-x".to_owned());
    assert_eq!(text(&notices), "plugins from $PATH: pulumi-resource-x (/bin/pulumi-resource-x)");
    "pass it on".clone_into(&mut notices.how_to_declare);
    for (class, output) in [("Record", "ttl"), ("Monitor", "since"), ("Record", "etag")] {
        notices.undeclared.entry(class.to_owned()).or_default().insert(output.to_owned());
    }
    assert_eq!(
        text(&notices),
        "plugins from $PATH: pulumi-resource-x (/bin/pulumi-resource-x); outputs that classes do not declare, so the program \
         cannot read them: Monitor (since), Record (etag, ttl). To read one, pass it on; `maloko config set \
         maloko:undeclaredOutputs ignore` hides this"
    );
}

#[test]
fn an_output_of_a_class_is_told_once_for_a_stack_and_an_id_never() {
    let host: Arc<ScriptedHost> = Arc::default();
    let first =
        run_from(&host, Operation::new(OperationKind::Update, "proj", "dev"), Snapshot::default(), &[wanted("a", "x")]);
    let urn = &first.resource("a").urn;
    let said = |precedes_run: bool, outputs: &[&str]| {
        let recorder = Arc::new(Recorder::default());
        let operation = Operation { precedes_run, ..Operation::new(OperationKind::Refresh, "proj", "dev") };
        let session = Session::read_only(first.last.clone());
        let engine = Engine::start(operation, session, Arc::clone(&host) as _, Arc::clone(&recorder) as _);
        let outputs = outputs.iter().map(|&name| name.to_owned()).collect();
        engine.note(Notice::Undeclared { urn: urn.clone(), class: "Thing".to_owned(), outputs, how: "wait".into() });
        block_on(engine.finish(ProgramEnd::default())).unwrap();
        recorder.messages()
    };
    assert_eq!(said(false, &["id"]), "");
    assert!(said(false, &["id", "etag"]).contains("Thing (etag). To read one, wait"));
    assert_eq!(said(true, &["id", "etag"]), "", "the run that follows says it");
    assert_eq!(said(false, &["zone"]), "", "the state has a resource with this output");
}
