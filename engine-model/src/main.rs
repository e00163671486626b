//! Runs generated lifecycles on all cores and reports. `make model PROGRAMS=10000 SEED=1`, or one with `PROGRAM=17`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use maloko_model::program::Lifecycle;
use maloko_model::rules::{Counts, OUT_OF_REACH, Rule};
use maloko_model::run::{Failure, run};
use maloko_model::{generate, shrink};

/// How many failures are shrunk and shown; the others are only counted.
const SHOWN: usize = 5;
/// So many of the rules that took longest to come up are named.
const RAREST: usize = 8;

struct Request {
    seed: u64,
    /// The first so many of the seed,
    programs: u64,
    /// and these later ones, which exercise what the first do not.
    more: Vec<u64>,
    program: Option<u64>,
    /// Does it fail when a rule was never exercised? A seed may leave out a rare one.
    all_rules: bool,
}

fn request() -> Result<Request, String> {
    let mut request = Request { seed: 1, programs: 1000, more: Vec::new(), program: None, all_rules: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        if name == "--all-rules" {
            request.all_rules = true;
            continue;
        }
        let number = arguments.next().and_then(|text| text.parse().ok());
        let number = number.ok_or_else(|| format!("{name} needs a number"))?;
        match name.as_str() {
            "--seed" => request.seed = number,
            "--programs" => request.programs = number,
            "--program" => request.program = Some(number),
            "--and" => request.more.push(number),
            other => {
                return Err(format!("{other}: there are --seed, --programs, --and, --program and --all-rules only"));
            }
        }
    }
    Ok(request)
}

fn main() -> ExitCode {
    let outcome = request().and_then(|request| match request.program {
        Some(program) => one(request.seed, program),
        None => many(&request),
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            say(&reason);
            ExitCode::from(2)
        }
    }
}

fn say(text: &str) {
    // Where standard output is closed there is nobody left to tell.
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn one(seed: u64, program: u64) -> Result<bool, String> {
    let lifecycle = generate::lifecycle(seed, program);
    match run(&lifecycle, &mut Counts::default()) {
        Ok(()) => {
            say(&format!("{}\nprogram {program} of seed {seed}: all invariants hold", lifecycle.to_text()?));
            Ok(true)
        }
        Err(failure) => {
            show(seed, program, &lifecycle, &failure)?;
            Ok(false)
        }
    }
}

/// Shrinks a failing lifecycle and prints it in the form in which `regressions/` keeps it.
fn show(seed: u64, program: u64, lifecycle: &Lifecycle, failure: &Failure) -> Result<(), String> {
    let invariant = failure.broken.invariant;
    let mut fails = |candidate: &Lifecycle| {
        run(candidate, &mut Counts::default()).is_err_and(|failure| failure.broken.invariant == invariant)
    };
    let smallest = shrink::shrink(lifecycle, 3000, &mut fails);
    let failure = run(&smallest, &mut Counts::default()).err().unwrap_or_else(|| failure.clone());
    say(&format!(
        "---- program {program} of seed {seed}; again with: make model SEED={seed} PROGRAM={program}\n{failure}\n\
         ---- shrunk; to keep it, save it as engine-model/regressions/<what it shows>.yaml\n{}",
        smallest.to_text()?
    ));
    Ok(())
}

fn many(request: &Request) -> Result<bool, String> {
    let Request { seed, programs, .. } = *request;
    let numbers: Vec<u64> =
        (0..programs).chain(request.more.iter().copied().filter(|program| *program >= programs)).collect();
    let started = Instant::now();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let next = AtomicUsize::new(0);
    let counted: Mutex<(Counts, FirstSeen)> = Mutex::default();
    let failures: Mutex<Vec<(u64, Failure)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(program) = numbers.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
                    let mut own = Counts::default();
                    if let Err(failure) = run(&generate::lifecycle(seed, program), &mut own) {
                        failures.lock().unwrap_or_else(PoisonError::into_inner).push((program, failure));
                    }
                    let (counts, first_seen) = &mut *counted.lock().unwrap_or_else(PoisonError::into_inner);
                    counts.add(&own);
                    for rule in own.exercised() {
                        let first = first_seen.entry(rule).or_insert(program);
                        *first = program.min(*first);
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (counts, first_seen) = counted.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_by_key(|(program, _)| *program);
    for (program, failure) in failures.iter().take(SHOWN) {
        show(seed, *program, &generate::lifecycle(seed, *program), failure)?;
    }
    let report = report(&counts);
    if let Some(path) = std::env::var_os("MODEL_REPORT") {
        fs::write(Path::new(&path), &report).map_err(|error| error.to_string())?;
    }
    say(&report);
    say(&rarest(&first_seen));
    let seconds = started.elapsed().as_secs();
    say(&format!("{} programs of seed {seed} in {seconds} s: {} failed", numbers.len(), failures.len()));
    let failed: Vec<String> =
        failures.iter().take(40).map(|(p, f)| format!("{p}:{}", f.broken.invariant.name())).collect();
    if !failed.is_empty() {
        say(&failed.join(" "));
    }
    Ok(failures.is_empty() && (!request.all_rules || counts.never().is_empty()))
}

/// By rule: the first program that exercised it.
type FirstSeen = BTreeMap<Rule, u64>;

/// The rules that came up last, with the program that one has to run to meet them.
fn rarest(first_seen: &FirstSeen) -> String {
    let mut rules: Vec<_> = first_seen.iter().collect();
    rules.sort_by_key(|(_, program)| std::cmp::Reverse(**program));
    let lines = rules.into_iter().take(RAREST).map(|(rule, program)| {
        let (section, title) = rule.title();
        format!("\n    {program:>6}  {section} {title}")
    });
    format!("The rules that came up last, by the first program of each:{}", lines.collect::<String>())
}

fn report(counts: &Counts) -> String {
    let unreached = OUT_OF_REACH.iter().map(|(rule, reason)| format!("        -  {rule}: {reason}\n"));
    let never = counts.never().into_iter().map(|rule| {
        let (section, title) = rule.title();
        format!("NEVER EXERCISED: {section} {title}\n")
    });
    let lines: String = unreached.chain(never).collect();
    format!("How often each rule was exercised\n{}{lines}", counts.report())
}
