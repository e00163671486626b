//! Cuts generated lifecycles off wherever they can be, on all cores (docs/internals/simulation.md): `make soak-simulation`, or one
//! case again with its trace: `make simulate SEED=1 PROGRAM=17 STEP=2 STORE=disk SERVICE=plain
//! BLOW=power POINT=34`.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use maloko_model::cloud::Service;
use maloko_model::driven::Driver;
use maloko_model::simulation::explore::{Case, CaseCounts, Extent, Interruption, blows, explore, replay};
use maloko_model::simulation::life::{Kind, Setting};

/// How many failures are shown; the others are only counted.
const SHOWN: usize = 10;

/// Every lifecycle is tried in each of these: what its stack is kept in, and what the service does for those whose `create` is
/// repeated.
const SETTINGS: [(Kind, Service); 5] = [
    (Kind::Memory, Service::Plain),
    (Kind::Disk, Service::Plain),
    (Kind::Bucket, Service::Plain),
    (Kind::Memory, Service::Keys),
    (Kind::Memory, Service::Finds),
];

struct Request {
    case: Case,
    programs: u64,
    /// Fault points per step and interruption; 0 is every one.
    points: usize,
}

fn request() -> Result<Request, String> {
    let case = Case {
        seed: 1,
        program: 0,
        step: 0,
        setting: Setting { store: Kind::Disk, ..Setting::default() },
        interruption: Interruption::Kill,
        point: 0,
        again: None,
    };
    let mut request = Request { case, programs: 40, points: 0 };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} needs a number"));
        let small = || value.parse::<usize>().map_err(|_| format!("{name} needs a number"));
        match (name.as_str(), value.as_str()) {
            ("--seed", _) => request.case.seed = number()?,
            ("--programs", _) => request.programs = number()?,
            ("--points", _) => request.points = small()?,
            ("--program", _) => request.case.program = number()?,
            ("--step", _) => request.case.step = small()?,
            ("--point", _) => request.case.point = number()?,
            ("--again", _) => request.case.again = Some(number()?),
            ("--store", "disk") => request.case.setting.store = Kind::Disk,
            ("--store", "memory") => request.case.setting.store = Kind::Memory,
            ("--store", "bucket") => request.case.setting.store = Kind::Bucket,
            ("--service", "plain") => request.case.setting.service = Service::Plain,
            ("--service", "keys") => request.case.setting.service = Service::Keys,
            ("--service", "finds") => request.case.setting.service = Service::Finds,
            ("--driver", "loop") => request.case.setting.driver = Driver::Loop,
            ("--driver", "engine") => request.case.setting.driver = Driver::Engine,
            ("--blow", "kill") => request.case.interruption = Interruption::Kill,
            ("--blow", "power") => request.case.interruption = Interruption::PowerCut,
            ("--blow", "full") => request.case.interruption = Interruption::Fault(ErrorKind::StorageFull),
            ("--blow", "plugin") => request.case.interruption = Interruption::PluginDies,
            _ => return Err(format!("{name} {value}: see the first lines of this program for what there is")),
        }
    }
    Ok(request)
}

fn say(text: &str) {
    // Where standard output is closed there is nobody left to tell.
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn main() -> ExitCode {
    match request() {
        Err(reason) => {
            say(&reason);
            ExitCode::from(2)
        }
        Ok(request) if request.case.step > 0 => one(&request.case),
        Ok(request) => many(&request),
    }
}

fn one(case: &Case) -> ExitCode {
    match replay(case) {
        Ok((Ok(()), trace)) => {
            say(&format!("{trace}{case}\nall promises hold"));
            ExitCode::SUCCESS
        }
        Ok((Err(broken), trace)) => {
            say(&format!("{trace}{case}\n{}: {}", broken.invariant.name(), broken.details));
            ExitCode::FAILURE
        }
        Err(failure) => {
            say(&failure.to_string());
            ExitCode::FAILURE
        }
    }
}

fn many(request: &Request) -> ExitCode {
    let extent = if request.points == 0 { Extent::Every } else { Extent::Some(request.points) };
    let (next, began) = (AtomicU64::new(0), Instant::now());
    let total: Mutex<(CaseCounts, Vec<String>)> = Mutex::default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let settings = SETTINGS.len() as u64;
                    let program = number / settings;
                    if program >= request.programs {
                        return;
                    }
                    let (store, service) = SETTINGS[usize::try_from(number % settings).unwrap_or_default()];
                    let setting = Setting { store, service, driver: Driver::of(program) };
                    let outcome = explore(request.case.seed, program, setting, blows(store), extent);
                    let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
                    match outcome {
                        Ok(tried) => {
                            total.0.cases += tried.cases;
                            total.0.deaths += tried.deaths;
                            total.0.named += tried.named;
                        }
                        Err(failure) => {
                            if total.1.len() < SHOWN {
                                say(&failure.to_string());
                            }
                            total.1.push(failure.to_string());
                        }
                    }
                }
            });
        }
    });
    let (tried, failures) = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    let commit = std::env::var("MALOKO_COMMIT").unwrap_or_else(|_| "unknown".to_owned());
    say(&format!(
        "seed {}, commit {commit}: {} lifecycles, {} cases, {} cut off, {} objects left over and named, {} lifecycles with \
         a failure, {} s",
        request.case.seed,
        request.programs,
        tried.cases,
        tried.deaths,
        tried.named,
        failures.len(),
        began.elapsed().as_secs(),
    ));
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
