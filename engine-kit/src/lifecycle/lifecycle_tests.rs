#![expect(clippy::unwrap_used, reason = "a test says so when it fails")]

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{LifeTrial, Story};

/// A host with a world and a state of its own: what the engine and a provider would do, as far as lifecycles see it.
#[derive(Default)]
struct Host {
    program: BTreeMap<String, usize>,
    state: BTreeMap<String, (String, usize)>,
    world: BTreeMap<String, usize>,
    made: usize,
    unresolved: usize,
    /// A second create with the same key makes a second object.
    twice: bool,
    /// Updates do not reach the world.
    forgets: bool,
    requests: Vec<String>,
}

fn typescript() -> Story {
    Story::Typescript { provider: String::new() }
}

fn inputs(number: usize) -> Json {
    json!({ "number": number, "plain": { "name": format!("n{number}"), "size": number }, "text": format!("<{number}>") })
}

impl Host {
    fn answer(&mut self, request: &Json) -> Json {
        let what = request["do"].as_str().unwrap();
        self.requests.push(what.to_owned());
        match what {
            "check" => json!({ "refused": request["inputs"] == 9 }),
            "make" => json!({ "id": self.create(number(&request["inputs"])) }),
            "make-afresh" => json!({ "id": "new", "outputs": { "size": request["inputs"], "id": "new" } }),
            "program" => {
                self.program = serde_json::from_value(request["resources"].clone()).unwrap();
                Json::Null
            }
            "run" => self.run(request),
            "forget" => {
                let (id, _) = self.state.remove(request["name"].as_str().unwrap()).unwrap();
                json!({ "urn": request["name"], "type": "", "id": id })
            }
            "look" => json!(self.world.keys().collect::<Vec<_>>()),
            "picture" => json!(self.world),
            "delete-remote" => {
                self.world.remove(request["id"].as_str().unwrap());
                Json::Null
            }
            _ => Json::Null,
        }
    }

    fn create(&mut self, inputs: usize) -> String {
        self.made += 1;
        let id = format!("id-{}", self.made);
        self.world.insert(id.clone(), inputs);
        id
    }

    fn run(&mut self, request: &Json) -> Json {
        let order = &request["order"];
        let (verb, previews, refreshes) = (&order["verb"], order["preview"] == true, order["refresh"] == true);
        if !previews && (refreshes || verb == "refresh") {
            let world = &self.world;
            self.state.retain(|_, (id, _)| world.contains_key(id));
        }
        let state = self.state.clone();
        let is_there = |name: &String| state.get(name).is_some_and(|(id, _)| !refreshes || self.world.contains_key(id));
        let mut plan: Vec<Json> = Vec::new();
        for (name, inputs) in &self.program {
            match state.get(name).filter(|_| is_there(name)) {
                None => plan.push(json!({ "name": name, "urn": name, "action": "create" })),
                Some((_, had)) if had != inputs => {
                    let change = json!({ "path": "size", "old": had, "new": inputs });
                    plan.push(json!({ "name": name, "action": "update", "changes": [change] }));
                }
                Some(_) => {}
            }
        }
        for name in state.keys().filter(|name| is_there(name) && !self.program.contains_key(*name)) {
            plan.push(json!({ "name": name, "action": "delete" }));
        }
        let crashed = !order["crash"].is_null();
        match verb.as_str().unwrap() {
            _ if previews => {}
            "up" if crashed => {
                if self.twice {
                    self.create(0);
                } else {
                    self.unresolved = 1;
                }
            }
            "up" => self.deploy(),
            "destroy" => {
                self.state.clear();
                self.world.clear();
            }
            "import" => {
                let (name, id) = (order["imports"][0]["urn"].as_str().unwrap(), order["imports"][0]["id"].as_str());
                let id = id.unwrap().to_owned();
                self.state.insert(name.to_owned(), (id, self.program[name]));
            }
            _ => {}
        }
        let resources: Vec<Json> =
            self.state.iter().map(|(name, (id, inputs))| self.resource(name, id, *inputs)).collect();
        let meanwhile = request["meanwhile"].is_number().then(|| json!({ "error": "the stack is locked by ann" }));
        json!({
            "plan": plan, "resources": resources, "crashed": crashed, "lost": false, "unresolved": self.unresolved,
            "points": ["before create of a"], "meanwhile": meanwhile,
        })
    }

    fn resource(&self, name: &str, id: &str, inputs: usize) -> Json {
        let size = if self.forgets { self.world.get(id).copied().unwrap_or_default() } else { inputs };
        json!({ "name": name, "id": id, "outputs": { "size": size, "id": id } })
    }

    fn deploy(&mut self) {
        self.unresolved = 0;
        for (name, inputs) in self.program.clone() {
            let id = match self.state.get(&name) {
                Some((id, _)) => id.clone(),
                None => self.create(inputs),
            };
            if !self.forgets {
                self.world.insert(id.clone(), inputs);
            }
            self.state.insert(name, (id, inputs));
        }
        let gone: Vec<String> = self.state.keys().filter(|name| !self.program.contains_key(*name)).cloned().collect();
        for name in gone {
            if let Some((id, _)) = self.state.remove(&name) {
                self.world.remove(&id);
            }
        }
    }
}

fn number(value: &Json) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

struct Life {
    trial: LifeTrial,
    host: Host,
}

impl Life {
    fn with(more: &Json, host: Host) -> Self {
        let there = |name: &str| json!({ "name": name, "there": true });
        let mut subject = json!({
            "name": "Box", "methods": ["read", "create", "update", "delete"], "resets": true,
            "world": { "mutate": there("mutate_remote"), "delete": there("delete_remote") },
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            subject[key] = value.clone();
        }
        Self { trial: LifeTrial::new(serde_json::from_value(subject).unwrap()).unwrap(), host }
    }

    fn take(&mut self, step: &Json) -> Json {
        self.trial.take(step.as_array().unwrap()).unwrap();
        self.finish()
    }

    fn end(&mut self) -> Json {
        self.trial.end().unwrap();
        self.finish()
    }

    fn finish(&mut self) -> Json {
        let mut answer = Json::Null;
        loop {
            let request = serde_json::to_value(self.trial.next(answer).unwrap()).unwrap();
            if request["do"] == "end" {
                return request;
            }
            answer = self.host.answer(&request);
        }
    }

    fn all_hold(&mut self, steps: &[Json]) {
        for step in steps {
            let end = self.take(step);
            assert_eq!(end["outcome"], "holds", "{step}: {end}");
        }
    }

    fn refusal(&self, step: &Json) -> String {
        self.trial.refusal(step.as_array().unwrap(), &typescript()).unwrap_or_default()
    }
}

fn found(end: &Json) -> String {
    let words = &end["words"];
    format!("{} | {} | {}", words["property"], words["expected"], words["found"]).replace('"', "")
}

#[test]
fn a_provider_that_is_right_holds_in_each_step() {
    let mut life = Life::with(&json!({}), Host::default());
    life.all_hold(&[
        json!(["edit", "a", inputs(1)]),
        json!(["preview"]),
        json!(["up"]),
        json!(["edit", "a", inputs(2)]),
        json!(["edit", "b", inputs(3)]),
        json!(["second_writer", "during"]),
        json!(["second_writer", "before"]),
        json!(["import", "a"]),
        json!(["import", "c", inputs(4)]),
        json!(["vanish", "b"]),
        json!(["preview"]),
        json!(["refresh"]),
        json!(["restart"]),
        json!(["remove", "c"]),
        json!(["crash", 1, "kill"]),
        json!(["preview"]),
        json!(["lose_answer"]),
        json!(["destroy"]),
        json!(["up"]),
    ]);
    assert_eq!(life.end()["outcome"], "holds");
    assert!(life.host.requests.contains(&"make-afresh".to_owned()));
    assert!(life.trial.refusal(&[json!("up")], &typescript()).unwrap().contains("the lifecycle has ended"));
}

#[test]
fn an_object_that_is_there_twice_is_found_by_the_up_after_a_crash() {
    let mut life = Life::with(&json!({}), Host { twice: true, ..Host::default() });
    life.all_hold(&[json!(["edit", "a", inputs(1)]), json!(["crash", 3, "kill"])]);
    let end = life.end();
    let words = serde_json::from_value(end["words"].clone()).unwrap();
    let text = life.trial.broken_text(&words, &typescript(), "MALOKO_REPLAY=1 npx vitest");
    is_text(
        &text,
        "lifecycle of Box: it goes wrong in 2 steps
    property: the up after what was cut off
    expected: no object that the stack does not know
    found: id-1 beside [{\"id\": \"id-2\", \"name\": \"a\"}]
    again: MALOKO_REPLAY=1 npx vitest
    as a test:

test(\"lifecycle of Box\", () => runLifecycle(Box, options, [
    [\"edit\", \"a\", <1>],
    [\"crash\", 3, \"kill\"],
]));
",
    );
    let python = Story::Python {
        imports: vec![("shop".to_owned(), "Box".to_owned())],
        arguments: vec!["Box".to_owned(), "world=Cloud".to_owned()],
    };
    is_text(
        &life.trial.story(&python),
        "def test_again():
    from maloko.testing import Lifecycle
    from shop import Box
    life = Lifecycle(Box, world=Cloud)
    life.edit(\"a\", <1>)
    life.crash(3, \"kill\")
    life.end()",
    );
}

fn is_text(text: &str, expected: &str) {
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn an_update_that_forgets_is_found_at_the_end_though_the_resource_is_gone() {
    let mut life = Life::with(&json!({}), Host { forgets: true, ..Host::default() });
    life.all_hold(&[
        json!(["edit", "a", inputs(1)]),
        json!(["up"]),
        json!(["edit", "a", inputs(2)]),
        json!(["up"]),
        json!(["remove", "a"]),
        json!(["up"]),
    ]);
    assert_eq!(
        found(&life.end()),
        "size of a | 2, as a create of the same inputs makes it | 1 at the end of the lifecycle"
    );
}

#[test]
fn a_step_that_is_not_possible_says_why() {
    let mut life = Life::with(&json!({ "unique": ["name"], "without": { "restart": "it is slow" } }), Host::default());
    assert_eq!(
        life.refusal(&json!(["remove", "a"])),
        "the step [\"remove\", \"a\"] cannot be done here: the program has no a"
    );
    assert!(life.refusal(&json!(["restart"])).ends_with("restart is left out: it is slow"));
    assert!(life.refusal(&json!(["fall"])).contains("there is no rule 'fall'; there are edit, remove"));
    assert!(life.refusal(&json!(["crash", 0, "kill"])).contains("counted from 1, not 0"));
    assert!(life.refusal(&json!(["crash", 1, "flood"])).contains("'flood' is no kind of crash: there are kill"));
    assert!(life.refusal(&json!(["second_writer", "later"])).contains("comes during or before, not \"later\""));
    assert!(life.refusal(&json!(["edit", "a"])).contains("edit needs inputs after the name"));
    assert!(life.refusal(&json!(["drift"])).contains("drift needs the name of a resource"));
    assert!(life.refusal(&json!([])).contains("it names no rule"));
    life.all_hold(&[json!(["edit", "a", inputs(1)]), json!(["edit", "b", inputs(9)]), json!(["up"])]);
    assert!(life.host.state.len() == 1, "inputs that check refuses do not get into the program");
    assert!(life.refusal(&json!(["edit", "b", inputs(1)])).ends_with("a has the same name"));
    assert!(life.refusal(&json!(["import", "a", inputs(2)])).ends_with("has a already"));
    assert!(life.refusal(&json!(["import", "c"])).ends_with("has no c with an object"));
    assert_eq!(life.trial.possible()["drift"], ["a"]);
    assert_eq!(life.trial.possible()["import"], ["a", "b", "c"]);
    assert!(!life.trial.possible().contains_key("restart"));
    let fresh = Life::with(&json!({}), Host::default());
    assert!(fresh.refusal(&json!(["destroy"])).ends_with("there is nothing to destroy"));
    let mut unknown = Life::with(&json!({}), Host::default());
    unknown.all_hold(&[json!(["edit", "a", inputs(1)]), json!(["crash", 1, "kill"])]);
    assert!(unknown.refusal(&json!(["import", "b", inputs(2)])).ends_with("the outcome of a create is unknown"));
    life.all_hold(&[json!(["edit", "a", inputs(2)]), json!(["crash", 1, "kill"])]);
    assert!(life.refusal(&json!(["vanish", "a"])).ends_with("has to be done again first"));
    assert!(!life.trial.possible().contains_key("destroy"));
    let mut unedited = Life::with(&json!({ "without": { "edit": "objects never change" } }), Host::default());
    unedited.all_hold(&[json!(["edit", "a", inputs(1)])]);
    assert!(unedited.refusal(&json!(["edit", "a", inputs(2)])).ends_with("edit is left out: objects never change"));
    assert_eq!(unedited.trial.possible()["edit"], ["b", "c"]);
    let blind = Life::with(&json!({ "world": null }), Host::default());
    assert!(blind.refusal(&json!(["drift", "a"])).contains("there is no world"));
    let unread = Life::with(&json!({ "methods": ["create"] }), Host::default());
    assert!(unread.refusal(&json!(["import", "a", inputs(1)])).ends_with("the provider has no `read`"));
}

#[test]
fn a_rule_is_left_out_for_a_reason() {
    let asked = json!({ "ask": "lifecycles", "without": { "crash": " " } }).to_string();
    let answer: Json = serde_json::from_str(&crate::answer(&asked).unwrap()).unwrap();
    assert!(answer["mistake"].as_str().unwrap().contains("gives no reason for 'crash'"));
    assert_eq!(answer["crashes"][5], "lose_lock");
    assert_eq!(answer["moments"], json!(["during", "before"]));
    let subject = serde_json::from_value(json!({ "without": { "fall": "why not" } })).unwrap();
    let mistake = LifeTrial::new(subject).err().unwrap().to_string();
    assert!(mistake.contains("'fall', which is no rule: there are edit"), "{mistake}");
}

#[test]
fn an_answer_that_cannot_be_read_is_told() {
    let mut life = Life::with(&json!({}), Host::default());
    assert!(life.trial.next(Json::Null).is_err());
    life.trial.take(&[json!("up")]).unwrap();
    life.trial.next(Json::Null).unwrap();
    let wrong = life.trial.next(json!("no list")).unwrap_err().to_string();
    assert!(wrong.contains("a lifecycle cannot go on with this answer: invalid type"), "{wrong}");
    assert!(life.trial.take(&[json!("up")]).is_err() && life.trial.possible().is_empty());
}
