#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::ffi::OsString;
use std::sync::{Arc, Mutex};

use maloko_core::environment::Environment;
use maloko_core::event::{Diagnostic, Event, EventSink, Severity, Speaker};
use maloko_core::message;
use maloko_core::message::{Code, Command, Message};
use maloko_core::state::{Backend, LocalBackend, StackName};

use super::{CommandContext, CommandContextSink};
use crate::arguments::parse;
use crate::language_host::Language;
use crate::testing::World;

fn aimed(line: &str, stack: Option<&str>) -> CommandContext {
    let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let aim = CommandContext::default();
    aim.at_place(&parse(&arguments).unwrap().global, Language::Python);
    aim.at_stack(&StackName::parse("dev", "shop").unwrap(), stack.map(str::to_owned));
    aim
}

fn told(aim: &CommandContext, command: Command) -> String {
    aim.tell(&command.into())
}

#[test]
fn commands_in_messages_get_the_flags_that_they_lack() {
    let aim = aimed("up", Some("dev"));
    let message = message!["run ", Command::new("up"), ", then ", Command::new("refresh").with("--yes"), "."];
    assert_eq!(aim.tell(&message), "run `maloko up --stack dev`, then `maloko refresh --yes --stack dev`.");
    let cases = [
        (Command::new("state delete").quoted("urn:x"), "`maloko state delete 'urn:x' --stack dev`"),
        (Command::new("stack rm").with("--force"), "`maloko stack rm --force --stack dev`"),
        (Command::new("destroy").with("--stack").value("s4"), "`maloko destroy --stack s4`"),
        (Command::new("stack ls"), "`maloko stack ls`"),
        (Command::new("stack select").with("NAME"), "`maloko stack select NAME`"),
        (Command::new("stack rm").value("s4").with("--force"), "`maloko stack rm s4 --force`"),
        (Command::new("cancel").value("s4"), "`maloko cancel s4`"),
        (Command::new("login").with("URL"), "`maloko login URL`"),
    ];
    for (command, expected) in cases {
        assert_eq!(told(&aim, command), expected);
    }
}

#[test]
fn what_others_run_or_print_stays_as_it_is() {
    let heard = Arc::new(Heard::default());
    let sink = CommandContextSink { to: Arc::clone(&heard) as Arc<_>, aim: aimed("up", Some("dev")) };
    let texts = ["locked by maloko of ada (`maloko up`, process 7 on host)", "`maloko refresh`"];
    for text in texts {
        sink.emit(Event::Diagnostic(Diagnostic {
            urn: None,
            severity: Severity::Output,
            message: text.into(),
            ephemeral: false,
            still_waiting: false,
            speaker: Speaker::Program,
        }));
    }
    assert_eq!(*heard.0.lock().unwrap(), texts);
}

#[test]
fn flags_that_chose_project_and_store_are_repeated() {
    let aim = aimed("up -C some/where --backend postgres://ada:hush@db/x?a=1&b=2", None);
    let place = "--cwd some/where --backend 'postgres://ada@db/x?a=1&b=2'";
    assert_eq!(told(&aim, Command::new("cancel")), format!("`maloko cancel {place}`"));
    assert_eq!(told(&aim, Command::new("stack ls")), format!("`maloko stack ls {place}`"));
    assert_eq!(told(&aim, Command::new("new")), "`maloko new`");
    assert_eq!(told(&aimed("up", None), Command::new("cancel")), "`maloko cancel`");
}

#[test]
fn a_message_about_another_stack_names_that_one() {
    let other = StackName::parse("prod", "shop").unwrap();
    let aim = aimed("up", Some("dev"));
    let text = aim.tell_of(&other, "prod", &message!["run ", Command::new("refresh")]);
    assert_eq!(text, "run `maloko refresh --stack prod`");
    assert_eq!(aim.tell(&Message::from(&text)), text);
}

#[test]
fn code_is_that_of_the_projects_language() {
    let message = message!["return ", Code::CreateResult, ", name it as ", Code::ProviderPlace];
    let aim = aimed("up", None);
    assert_eq!(aim.tell(&message), "return `CreateResult(id_=...)`, name it as `module:Class`");
    aim.at_place(&parse(&["up".into()]).unwrap().global, Language::NodeJs);
    assert_eq!(aim.tell(&message), "return `{ id: ..., outs: ... }`, name it as `file#export`");
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl EventSink for Heard {
    fn emit(&self, event: Event) {
        if let Event::Diagnostic(told) = event {
            self.0.lock().unwrap().push(told.message.into());
        }
    }
}

/// Breaks the seal of a stack.
fn edit_state(world: &World, stack: &str) {
    let file = world.home.join(format!("state/.pulumi/stacks/shop/{stack}.json"));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("C::one", "C::two")).unwrap();
}

#[test]
fn advice_is_for_the_stack_that_is_meant() {
    let mut world = World::with_shared_state();
    world.output("stack init dev");
    let resource = r#"{"urn":"urn:pulumi:dev::shop::a:b:C::one","custom":false,"type":"a:b:C"}"#;
    world.write("dev.json", &format!(r#"{{"version":3,"deployment":{{"manifest":{{}},"resources":[{resource}]}}}}"#));
    world.output("stack import --file dev.json");
    world.output("stack init other");
    edit_state(&world, "dev");

    let said = world.failure("stack --stack dev");
    for command in ["stack export", "state reseal", "state restore", "stack import --file COPY"] {
        assert!(said.contains(&format!("`maloko {command} --stack dev`")), "{command}: {said}");
    }
    // A plain command would work on it.
    world.output("stack select dev");
    assert!(world.failure("stack").contains("`maloko state reseal`"));
    // The variable may be gone by the next command, and the list is about no stack in particular.
    world.output("stack select other");
    world.variables.insert("PULUMI_STACK".into(), "dev".into());
    assert!(world.failure("stack").contains("`maloko state reseal --stack dev`"));
    assert!(world.run("stack ls").err.contains("`maloko state reseal --stack dev`"));
}

#[test]
fn a_lock_is_taken_from_the_stack_that_is_meant() {
    let world = World::with_shared_state();
    world.output("stack init dev");
    world.output("stack init other");
    let url = format!("file://{}/state", world.home.display());
    let backend = LocalBackend::open_url(&url, &world.home, None, Environment::system()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let lease = runtime.block_on(backend.lease(&StackName::parse("dev", "shop").unwrap(), "maloko up")).unwrap();
    let said = world.failure("state repair --yes --stack dev");
    assert!(said.contains("(`maloko up`, process") && said.contains("`maloko cancel --stack dev`"), "{said}");
    drop(lease);
}
