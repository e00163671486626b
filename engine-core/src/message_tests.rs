use super::{Code, Command, CommandScope, DefaultWording, Message, Part, Wording};

struct Shouting;

impl Wording for Shouting {
    fn command(&self, command: &Command) -> String {
        format!("<{command} --stack dev>")
    }

    fn code(&self, _code: Code) -> String {
        "CODE".to_owned()
    }
}

fn advised() -> Message {
    message![
        format!("object {} is gone: run ", 7),
        Command::new("state delete").quoted("urn:a$b"),
        ", return ",
        Code::CreateResult,
    ]
}

#[test]
fn advice_is_worded_by_the_surface() {
    let message = advised();
    assert_eq!(message, "object 7 is gone: run `maloko state delete 'urn:a$b'`, return a result with an id");
    assert_eq!(message.worded(&DefaultWording), message.to_string());
    let told = message.worded(&Shouting);
    assert_eq!(told, "object 7 is gone: run <maloko state delete 'urn:a$b' --stack dev>, return CODE");
}

#[test]
fn what_looks_like_a_command_in_a_plain_text_is_not_advice() {
    let message = Message::from("locked by `maloko up`");
    assert_eq!(message.worded(&Shouting), "locked by `maloko up`");
}

#[test]
fn advice_stays_advice_when_messages_are_put_together() {
    let joined = Message::join([&advised(), &advised()], "; ");
    let whole = message!["error: ", &joined, "."];
    assert_eq!(whole.parts().filter(|part| matches!(part, Part::Advice(_))).count(), 4);
    assert_eq!(whole.worded(&Shouting).matches("--stack dev").count(), 2);
    let hidden = whole.map_text(|text| text.replace('7', "[secret]").replace("a$b", "[secret]"));
    assert_eq!(hidden.matches("object [secret] is gone: run `maloko state delete 'urn:[secret]'`").count(), 2);
    assert_eq!(hidden.worded(&Shouting).matches("--stack dev").count(), 2);
}

#[test]
fn arguments_are_words_of_a_shell() {
    let command = Command::new("up").with("--plan").value("my plan").value("it's").value("dev");
    assert_eq!(command.to_string(), r"maloko up --plan 'my plan' 'it'\''s' dev");
    assert!(command.has("--plan") && !command.has("--stack"));
}

#[test]
fn a_command_knows_what_it_works_on() {
    let scopes = [
        (Command::new("up"), CommandScope::Stack),
        (Command::new("stack"), CommandScope::Stack),
        (Command::new("stack rm").with("--force"), CommandScope::Stack),
        (Command::new("stack rm").value("dev").with("--force"), CommandScope::Backend),
        (Command::new("cancel").value("dev"), CommandScope::Backend),
        (Command::new("stack select").with("NAME"), CommandScope::Backend),
        (Command::new("login").with("URL"), CommandScope::Nothing),
    ];
    for (command, scope) in scopes {
        assert_eq!(command.scope(), scope, "{command}");
    }
}
