//! What showing an operation costs: 10,000 resources, created or unchanged, in every mode, to an output that takes all.
//!
//! `cargo bench -p maloko-cli --bench display`; the throughput is in resources per second, two events each.
#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use maloko_cli::display::{DisplayMode, DisplayOptions, open};
use maloko_core::event::{Event, Op, Outcome, StepMetadata, Summary};
use maloko_core::operation::OperationKind;
use maloko_core::resource_state::ResourceState;
use maloko_core::urn::{STACK_TYPE, Urn};
use maloko_core::value::Value;

const RESOURCES: usize = 10_000;
const KIND: &str = "pulumi-python:dynamic/labels:Label";

fn resource(number: usize, done: bool) -> Arc<ResourceState> {
    let inputs: Arc<_> = Arc::new(
        [
            ("color".to_owned(), "ff0000".into()),
            ("description".to_owned(), "what a label is for, in a sentence".into()),
            ("tags".to_owned(), Value::Array(vec!["a".into(), 5.0.into()])),
            ("token".to_owned(), Value::secret("one token for all".into())),
        ]
        .into(),
    );
    Arc::new(ResourceState {
        urn: Urn::new("dev", "bench", "", KIND, &format!("label-{number}")),
        custom: true,
        id: if done { number.to_string() } else { String::new() },
        kind: KIND.to_owned(),
        outputs: done.then(|| Arc::clone(&inputs)),
        inputs,
        parent: Some(Urn::new("dev", "bench", "", STACK_TYPE, "bench-dev")),
        ..ResourceState::default()
    })
}

fn step(op: Op, old: Option<Arc<ResourceState>>, new: Arc<ResourceState>) -> StepMetadata {
    StepMetadata {
        op,
        urn: new.urn.clone(),
        old,
        new: Some(new),
        keys: Vec::new(),
        diffs: Vec::new(),
        detailed_diff: None,
        internal: false,
        note: "",
    }
}

fn events(op: Op) -> Vec<Event> {
    let mut events = Vec::with_capacity(2 * RESOURCES + 2);
    for number in 0..RESOURCES {
        let old = (op == Op::Same).then(|| resource(number, true));
        events.push(Event::StepStarted(step(op, old.clone(), resource(number, false))));
        events.push(Event::StepDone(step(op, old, resource(number, true))));
    }
    events.push(Event::Summary(Summary {
        is_preview: false,
        outcome: Outcome::Succeeded,
        maybe_corrupt: false,
        duration_seconds: 1.0,
        changes: [(op.name(), RESOURCES as u64)].into(),
        policy_packs: Vec::new(),
    }));
    events.push(Event::End);
    events
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("display");
    group.throughput(Throughput::Elements(RESOURCES as u64)).sample_size(10);
    for (name, mode) in [
        ("json", DisplayMode::JsonEvents),
        ("preview-json", DisplayMode::PreviewJson),
        ("plain", DisplayMode::Plain),
        ("tree", DisplayMode::Tree),
    ] {
        for op in [Op::Create, Op::Same] {
            group.bench_function(format!("{name}/{op}"), |bencher| {
                bencher.iter_batched(
                    || events(op),
                    |events| {
                        let options = DisplayOptions::new(OperationKind::Update, false, "bench", "dev");
                        let display = open(mode, options, Box::new(std::io::sink()));
                        for event in events {
                            display.emit(event);
                        }
                        display.close();
                    },
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
