#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails with the error")]

use std::ffi::OsString;

use super::{Arguments, Command, ConfigCommand, StackCommand, StateCommand, grammar, parse};

fn parsed(line: &str) -> Arguments {
    try_parsed(line).unwrap()
}

fn try_parsed(line: &str) -> Result<Arguments, clap::Error> {
    let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    parse(&arguments)
}

#[test]
fn the_grammar_has_no_contradictions() {
    grammar().debug_assert();
}

#[test]
fn an_unknown_colour_is_told_in_the_words_that_scripts_look_for() {
    let error = try_parsed("up --color grey").map(drop).unwrap_err().to_string();
    assert!(error.starts_with("error: unsupported color option 'grey'; these are supported: "), "{error}");
    assert!(try_parsed("up --color raw").is_ok());
}

#[test]
fn operations_take_pulumis_flags() {
    let Command::Up(up) = parsed("up --yes --skip-preview --json --stack dev --parallel 1 --refresh").command else {
        panic!("not an up");
    };
    assert!(up.confirm.yes && up.confirm.skip_preview && up.operate.run.json);
    assert_eq!(up.operate.run.parallel, Some(1));
    assert_eq!(up.act.refresh, Some(true));

    let Command::Up(up) = parsed("update -y -f -j -p 8 -t a -t b -x c -c k=v -m note --refresh=false").command else {
        panic!("not an up");
    };
    assert_eq!((up.operate.target.len(), up.operate.exclude.len()), (2, 1));
    assert_eq!(up.act.refresh, Some(false));

    let Command::Destroy(destroy) = parsed("destroy --yes --run-program=false").command else {
        panic!("not a destroy");
    };
    assert!(!destroy.program.runs());
    assert!(matches!(parsed("pre --expect-no-changes").command, Command::Preview(_)));
    assert!(matches!(parsed("refresh --preview-only").command, Command::Refresh(_)));
}

#[test]
fn imports_take_pulumis_flags() {
    let Command::Import(one) = parsed("import a:b:C name id-1 --yes --properties x,y --protect=false").command else {
        panic!("not an import");
    };
    assert_eq!((one.properties.len(), one.protect, one.generate_code), (2, false, true));
    let Command::Import(many) = parsed("import -f list.json -o code.py --generate-code=false --skip-preview").command
    else {
        panic!("not an import");
    };
    assert!(many.file.is_some() && many.protect && !many.generate_code);
    for wrong in ["import", "import a:b:C name", "import a:b:C name id -f list.json"] {
        assert!(try_parsed(wrong).is_err(), "{wrong}");
    }
    // In pairs, or the option twice as Pulumi has it.
    for line in ["--import-pending-creates u i", "--import-pending-creates u --import-pending-creates i"] {
        let Command::Refresh(refresh) = parsed(&format!("refresh {line}")).command else { panic!("not a refresh") };
        assert_eq!(refresh.import_pending_creates, ["u", "i"]);
    }
    assert!(try_parsed("refresh --clear-pending-creates --import-pending-creates u i").is_err());
}

#[test]
fn global_flags_stand_before_or_after_the_verb() {
    for line in ["--stack dev -C /tmp stack ls", "stack ls --stack dev --cwd /tmp", "stack -s dev ls -C /tmp"] {
        let arguments = parsed(line);
        assert_eq!(arguments.global.stack.as_deref(), Some("dev"), "{line}");
        assert!(arguments.global.cwd.is_some(), "{line}");
    }
}

#[test]
fn managing_commands_take_pulumis_flags() {
    let Command::Config(config) = parsed("config set size -3 --plaintext --path --stack dev").command else {
        panic!("not a config");
    };
    assert!(matches!(config.command, Some(ConfigCommand::Set(set)) if set.value.as_deref() == Some("-3") && set.path));
    let Command::Stack(stack) = parsed("stack output url --json --show-secrets").command else { panic!("not a stack") };
    assert!(matches!(stack.command, Some(StackCommand::Output(output)) if output.format.json() && output.show_secrets));
    let Command::State { command } = parsed("state remove urn:x --target-dependents --yes").command else {
        panic!("not a state");
    };
    assert!(matches!(command, StateCommand::Delete(delete) if delete.target_dependents && delete.yes));
}

#[test]
fn what_is_not_built_is_refused() {
    let lines = [
        "destroy --plan plan.json",
        "up --save-plan plan.json",
        "up --skip-preview --preview-only",
        "destroy --no-program --run-program",
        "config set key value --secret --plaintext",
        "state protect",
        "stack output name --shell",
        "launch",
    ];
    let errors: Vec<String> = lines.iter().map(|line| format!("> {line}\n{}", try_parsed(line).unwrap_err())).collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn help_describes_every_flag_of_up() {
    insta::assert_snapshot!(try_parsed("up --help").unwrap_err().to_string());
}

#[test]
fn help_describes_the_verbs_of_fleet() {
    let lines = ["fleet --help", "fleet up --help", "fleet worker --help"];
    let helps: Vec<String> = lines.iter().map(|line| format!("> {line}\n{}", try_parsed(line).unwrap_err())).collect();
    insta::assert_snapshot!(helps.join("\n"));
}

#[test]
fn flags_without_a_meaning_exit_with_code_2() {
    assert_eq!(try_parsed("up --nonsense").unwrap_err().exit_code(), 2);
    assert_eq!(try_parsed("--help").unwrap_err().exit_code(), 0);
}
