use crate::testing::{Fleet, fault};

#[test]
fn a_program_is_a_directory_or_a_function_in_a_file() {
    let fleet = Fleet::of(
        "  - { program: ./net/, stack: a }\n  - { program: ./tenant/../tenant, stack: a }\n\
         \x20 - { project: tools, program: \"lib/tools.py:program\", stack: a }\n\
         \x20 - { project: web, program: \"./dist/web.js#default\", stack: a }\n",
    );
    let plan =
        fleet.with("lib/tools.py", "def program(): ...\n").with("dist/web.js", "export default () => {};").plan();
    let shown: Vec<_> = plan.stacks.iter().map(|it| (it.program.as_str(), it.inline, it.language.as_str())).collect();
    let wanted = [
        ("net", false, "python"),
        ("tenant", false, "nodejs"),
        ("lib/tools.py:program", true, "python"),
        ("dist/web.js#default", true, "nodejs"),
    ];
    assert_eq!(shown, wanted);
}

#[test]
fn a_pattern_stands_for_directories_with_a_project() {
    let fleet = Fleet::of("  - { program: \"apps/*\", stack: \"{directory}-prod\" }\n")
        .with("apps/one/Pulumi.yaml", "name: one\nruntime: python\n")
        .with("apps/two/Pulumi.yml", "name: second\nruntime: nodejs\n")
        .with("apps/.hidden/Pulumi.yaml", "name: hidden\nruntime: python\n")
        .with("apps/notes/README.md", "");
    assert_eq!(fleet.ids(r#""verb": "up""#), ["one/one-prod", "second/two-prod"]);
    assert_eq!(fleet.ids(r#""verb": "up", "select": ["directory=t*"]"#), ["second/two-prod"]);
    let none = "no directory with a Pulumi.yaml matches 'lib/*'; correct the pattern";
    let wrong = fault("  - { program: \"lib/*\", stack: a }\n");
    assert_eq!(wrong, format!("fleet.yaml:3:16: stacks[0].program: {none}"));
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let at = "fleet.yaml:3:16: stacks[0].program:";
    let wrong = |program: &str| fault(&format!("  - {{ program: \"{program}\", project: p, stack: a }}\n"));
    assert_eq!(wrong("other"), format!("{at} there is no directory other; correct the path"));
    let other = "a function of tenant.ts is named behind a '#': write tenant.ts#main";
    assert_eq!(wrong("tenant.ts:main"), format!("{at} {other}"));
    assert_eq!(wrong("a.py:main"), format!("{at} there is no file a.py; correct the path"));
    let outside = wrong("/elsewhere/net");
    assert!(outside.starts_with(&format!("{at} '/elsewhere/net' is not below ")), "{outside}");
    let file = Fleet::of("  - { program: main.py, stack: a }\n").with("main.py", "").fault();
    assert_eq!(file, format!("{at} main.py is a file; name its directory, or a function in it: main.py:program"));
    let nameless = Fleet::of("  - { program: \"main.py:\", stack: a }\n").with("main.py", "").fault();
    assert_eq!(nameless, format!("{at} 'main.py:' names no function; write one, such as main.py:program"));
}

#[test]
fn a_function_that_its_file_does_not_have_is_told() {
    let at = "fleet.yaml:3:16: stacks[0].program:";
    let of = |program: &str, file: &str, text: &str| {
        Fleet::of(&format!("  - {{ program: \"{program}\", project: p, stack: a }}\n")).with(file, text).fault()
    };
    let wrong = of("lib/a.py:programm", "lib/a.py", "def program(): ...\n");
    assert_eq!(wrong, format!("{at} lib/a.py has no function 'programm'; did you mean 'program'?"));
    let wrong = of("a.ts#program", "a.ts", "export function rooms() {}\nexport const doors = () => {};\n");
    assert_eq!(wrong, format!("{at} a.ts exports no function 'program'; it exports rooms, doors"));
    let wrong = of("a.py:program", "a.py", "\n");
    assert_eq!(wrong, format!("{at} a.py has no function 'program'; correct the name"));
}

#[test]
fn a_directory_without_a_project_is_told() {
    let wrong = Fleet::of("  - { program: lib, stack: a }\n").with("lib/main.py", "").fault();
    let advice = "make one with `name` and `runtime`, or name a function, such as lib/main.py:program";
    assert_eq!(wrong, format!("fleet.yaml:3:16: stacks[0].program: lib has no Pulumi.yaml; {advice}"));
}

#[test]
fn a_function_that_is_named_otherwise_is_told_its_name() {
    let of = |program: &str| {
        let fleet = Fleet::of(&format!("  - {{ project: p, program: \"{program}\", stack: a }}\n"));
        fleet.with("lib/main.py", "def program(): ...\n").with("lib/other.mjs", "").fault()
    };
    assert!(
        of("lib/main:program").ends_with("there is no directory lib/main:program; did you mean 'lib/main.py:program'?")
    );
    assert!(of("lib/other#program").ends_with("did you mean 'lib/other.mjs#program'?"));
    assert!(of("lib/main.py#program").ends_with("is named behind a ':': write lib/main.py:program"));
    assert!(of("lib/none:program").ends_with("there is no directory lib/none:program; correct the path"));
}

#[test]
fn a_runtime_that_fleets_do_not_have_is_told() {
    let of = |text: &str| Fleet::of("  - { program: lib, stack: a }\n").with("lib/Pulumi.yaml", text).fault();
    let what = "the programs of a fleet are of runtime python or nodejs, and this is 'go'";
    assert_eq!(of("name: lib\nruntime: go\n"), format!("lib/Pulumi.yaml:2:10: runtime: {what}"));
    assert_eq!(of("name: lib\nruntime:\n  name: go\n"), format!("lib/Pulumi.yaml:3:9: runtime.name: {what}"));
    let near = "the programs of a fleet are of runtime python or nodejs, and this is 'pyhton'; did you mean 'python'?";
    assert_eq!(of("name: lib\nruntime: pyhton\n"), format!("lib/Pulumi.yaml:2:10: runtime: {near}"));
    let missing = of("name: lib\n");
    assert_eq!(missing, "lib/Pulumi.yaml:1:1: `runtime` is missing; write one, such as `runtime: python`");
}

#[test]
fn the_project_is_that_of_the_program() {
    let other = fault("  - { project: nets, program: net, stack: a }\n");
    let what =
        "the project of net is 'net' in its Pulumi.yaml, and not 'nets'; leave `project` out or correct one of them";
    assert_eq!(other, format!("fleet.yaml:3:16: stacks[0].project: {what}"));
    let missing = Fleet::of("  - { program: \"a.py:main\", stack: a }\n").with("a.py", "def main(): ...").fault();
    let what =
        "`project` is missing, and a.py:main has no Pulumi.yaml that names one; write one, such as `project: tenant`";
    assert_eq!(missing, format!("fleet.yaml:3:5: stacks[0]: {what}"));
}
