//! Whatever stands in the settings, the project file, the lists that are read and on the command line: nothing panics, what
//! was written is read again, and the memory that it takes is bounded (P11). `FUZZ_SEED`, `FUZZ_CASES` and `FUZZ_FIRST` choose
//! the cases, `FUZZ_SECONDS` goes on for so long.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use maloko_core::property_path::PropertyPath;
use maloko_test_support::mutate::mutate;
use maloko_test_support::random::{Random, setting};

use crate::arguments::parse;
use crate::config_key;
use crate::operation::preview_outcome::PreviewOutcome;
use crate::project::Project;
use crate::settings::{Settings, path, value};

const TEST: &str = "fuzz_tests::spoilt_settings_lists_and_command_lines_never_panic";
const LIMITED: &str = "MALOKO_FUZZ_LIMITED";
/// The address space of the process that does it, in KiB: many times of what it needs.
const MEMORY: u32 = 1_500_000;
const CASES: u64 = 500;

type Reader = fn(&Path, &[u8]);

const SETTINGS: &str = "encryptionsalt: v1:abc  # made by init
config:
  shop:size: 3
  shop:data:
    list: [one, 'two', \"three\\n\"]
    when: 2026-01-02
    text: |
      line
      another
  shop:token:
    secure: v1:cipher
";
/// Each level is nine times the one before.
const BOMB: &str = "config:
  shop:a: &a [x, x, x, x, x, x, x, x, x]
  shop:b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]
  shop:c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]
  shop:d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]
  shop:e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]
  shop:f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]
  shop:g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f]
  shop:h: &h [*g, *g, *g, *g, *g, *g, *g, *g, *g]
  shop:i: &i [*h, *h, *h, *h, *h, *h, *h, *h, *h]
";
const PROJECT: &str = "name: shop
runtime: {name: python, options: {virtualenv: venv}}
main: src
stackConfigDir: stacks
backend: {url: 'file://~'}
options: {refresh: always}
config:
  size: {type: integer, default: 3}
  names: {type: array, items: {type: string}, secret: true}
";
const PLAN: &str = r#"{"steps":{"urn:a":["create","replace"]},"details":"+ a","seed":null}"#;
const PATHS: [&str; 4] = ["shop:data.list[0]", r#"a["b.c"].d[12][-1]"#, "x", "outer.inner[\"]\"]"];
const LINES: [&str; 8] = [
    "up --yes --skip-preview --stack org/shop/dev -t urn:pulumi:a::b::c::d --parallel 4 --message text",
    "preview --diff --json --save-plan plan.json --refresh=true -c a=b --config-file f",
    "config set --path data.list[0] --secret --type int --plaintext 3",
    "state move --source dev --dest prod urn:pulumi:dev::shop::a::b --yes",
    "import pulumi-python:dynamic:Resource name id --parent p=urn --protect=false",
    "stack history --page 3 --page-size 10 --show-secrets --json",
    "destroy --exclude a --exclude-protected --continue-on-error --no-program -p 0",
    "refresh --import-pending-creates urn id --clear-pending-creates -C /nowhere",
];

/// What was read can be changed, and then read again.
fn settings(_: &Path, bytes: &[u8]) {
    let file = Path::new("/p/Pulumi.dev.yaml");
    let Ok(mut settings) = Settings::parse(file, "shop", String::from_utf8_lossy(bytes).into_owned()) else { return };
    for (_, _, entry) in settings.entries() {
        drop(value::to_json(entry, &|_| Ok("plain".to_owned())));
    }
    let PropertyPath(segments) = "list[0]".parse().unwrap();
    if settings.set("shop:fuzzed", &segments, "new".into()).is_ok() {
        let again = Settings::parse(file, "shop", settings.text().to_owned());
        let again = again.unwrap_or_else(|failure| panic!("what was written cannot be read: {}", failure.message));
        assert_eq!(again.get("shop:fuzzed"), settings.get("shop:fuzzed"));
        drop(settings.remove("shop:fuzzed", &[]));
    }
}

fn project(_: &Path, bytes: &[u8]) {
    drop(Project::parse(Path::new("/p/Pulumi.yaml"), String::from_utf8_lossy(bytes).into_owned()));
}

fn plan(file: &Path, bytes: &[u8]) {
    std::fs::write(file, bytes).unwrap();
    drop(PreviewOutcome::read(file));
}

fn config_path(_: &Path, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    drop(config_key::full_key("shop", &text));
    if let Ok(PropertyPath(segments)) = text.parse() {
        let mut root = serde_norway::Value::Null;
        if path::set(&mut root, &segments, "x".into()).is_ok() {
            assert!(path::get(&root, &segments).is_some(), "{text}");
            path::remove(&mut root, &segments);
        }
    }
}

fn command_line(_: &Path, bytes: &[u8]) {
    let words: Vec<OsString> =
        bytes.split(|byte| *byte == b' ').map(|word| std::ffi::OsStr::from_bytes(word).to_owned()).collect();
    if let Err(error) = parse(&words) {
        drop(error.to_string());
    }
}

fn targets() -> Vec<(&'static str, Vec<Vec<u8>>, Reader)> {
    let bytes = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    vec![
        ("settings", bytes(&[SETTINGS, BOMB]), settings as Reader),
        ("project", bytes(&[PROJECT, BOMB]), project),
        ("plan", bytes(&[PLAN]), plan),
        ("path", bytes(&PATHS), config_path),
        ("command line", bytes(&LINES), command_line),
    ]
}

fn fuzz() {
    let (seed, first) = (setting("FUZZ_SEED", 1), setting("FUZZ_FIRST", 0));
    let (cases, seconds) = (setting("FUZZ_CASES", CASES), setting("FUZZ_SECONDS", 0));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    let targets = targets();
    let everything: Vec<&[u8]> = targets.iter().flat_map(|(_, examples, _)| examples).map(Vec::as_slice).collect();
    for (_, examples, read) in &targets {
        for example in examples {
            read(&file, example);
        }
    }
    let (begun, length) = (Instant::now(), Duration::from_secs(seconds));
    let mut case = first;
    while case < first + cases || begun.elapsed() < length {
        let mut random = Random::new(seed, case);
        let (name, examples, read) = &targets[random.below(targets.len())];
        let mut bytes = examples[random.below(examples.len())].clone();
        mutate(&mut bytes, &mut random, &everything);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| read(&file, &bytes))) {
            println!(
                "a spoilt {name} was not survived; again: FUZZ_SEED={seed} FUZZ_FIRST={case} FUZZ_CASES=1 cargo test -p \
                 maloko-cli --lib fuzz\n{}",
                String::from_utf8_lossy(&bytes)
            );
            std::panic::resume_unwind(panic);
        }
        case += 1;
    }
    println!("{} cases of seed {seed}", case - first);
}

#[test]
fn spoilt_settings_lists_and_command_lines_never_panic() {
    if std::env::var_os(LIMITED).is_some() {
        return fuzz();
    }
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$@\""), "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([TEST, "--exact", "--nocapture"])
        .env(LIMITED, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    println!("{}", said.lines().find(|line| line.contains("cases of seed")).unwrap());
}
