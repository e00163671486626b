#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::*;
use crate::provider::{Extension, ExtensionParameter, ProviderReference, Revision, StoredProvider};
use crate::resource_state::HookMoment;
use crate::state::fixtures::{
    PULUMI_NODEJS, PULUMI_PYTHON, meaning, nodejs_crypter, provider_resource, python_crypter, resource,
};
use crate::value::{PropertyMap, Value};

fn reject(bytes: &[u8]) -> String {
    match Checkpoint::decode(bytes, "dev.json") {
        Ok(read) => panic!("{read:?} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn recorded_states_keep_their_meaning() {
    for (bytes, crypter) in [(PULUMI_PYTHON, python_crypter()), (PULUMI_NODEJS, nodejs_crypter())] {
        let sealed = Checkpoint::decode(bytes, "dev.json").unwrap();
        assert_eq!(sealed.snapshot.key_record().unwrap().as_ref(), Some(crypter.record()));
        assert_eq!(meaning(&sealed.encode(&crypter).unwrap(), &crypter), meaning(bytes, &crypter));

        let mut open = sealed.clone();
        open.snapshot.unseal(&crypter).unwrap();
        assert!(!open.snapshot.has_sealed_values());
        assert_eq!(meaning(&open.encode(&crypter).unwrap(), &crypter), meaning(bytes, &crypter));

        open.snapshot.unseal_all(&crypter).unwrap();
        assert_eq!(meaning(&open.encode(&crypter).unwrap(), &crypter), meaning(bytes, &crypter));
    }
}

#[test]
fn members_come_in_pulumis_order() {
    let read = Checkpoint::decode(PULUMI_PYTHON, "dev.json").unwrap();
    let written = read.encode(&python_crypter()).unwrap();
    let order = |bytes: &[u8]| {
        let json: Json = serde_json::from_slice(bytes).unwrap();
        let resources = json["checkpoint"]["latest"]["resources"].as_array().unwrap().clone();
        resources
            .iter()
            .map(|resource| resource.as_object().unwrap().keys().cloned().collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    assert_eq!(order(&written), order(PULUMI_PYTHON));
}

#[test]
fn recorded_secrets_are_read() {
    let mut read = Checkpoint::decode(PULUMI_PYTHON, "dev.json").unwrap();
    read.snapshot.unseal(&python_crypter()).unwrap();
    let outputs = read.snapshot.resources[0].outputs_or_empty();
    assert_eq!(outputs["secret"], Value::Secret(Box::new("exported".into())));
    let with_code =
        read.snapshot.resources.iter().filter(|resource| matches!(resource.stored_provider, StoredProvider::Sealed(_)));
    assert_eq!(with_code.count(), 4);
    assert!(read.snapshot.resources.iter().all(|resource| !resource.inputs.contains_key("__provider")));

    let node = Checkpoint::decode(PULUMI_NODEJS, "dev.json").unwrap();
    let foreign = node
        .snapshot
        .resources
        .iter()
        .filter(|resource| matches!(resource.stored_provider, StoredProvider::Foreign(_)));
    assert_eq!(foreign.count(), 4);
}

#[test]
fn members_that_we_do_not_know_are_kept() {
    let crypter = python_crypter();
    let mut json: Json = serde_json::from_slice(PULUMI_PYTHON).unwrap();
    json["later"] = json!({"a": [1, 2.5, null]});
    json["checkpoint"]["config"] = json!({"k": "v"});
    json["checkpoint"]["latest"]["metadata"] = json!({"x": 1});
    json["checkpoint"]["latest"]["novelty"] = json!("n");
    json["checkpoint"]["latest"]["resources"][1]["novelty"] = json!({"deep": true});
    json["checkpoint"]["latest"]["resources"][1]["protect"] = json!(true);
    let bytes = serde_json::to_vec(&json).unwrap();
    let written = Checkpoint::decode(&bytes, "dev.json").unwrap().encode(&crypter).unwrap();
    assert_eq!(meaning(&written, &crypter), meaning(&bytes, &crypter));
}

#[test]
fn features_come_and_go_with_their_resources() {
    let crypter = python_crypter();
    let mut checkpoint = Checkpoint { stack: "organization/shop/dev".into(), ..Checkpoint::default() };
    let mut changed = resource("a", 1.0);
    changed.taint = true;
    changed.refresh_before_update = true;
    changed.hooks = [(HookMoment::AfterCreate, vec!["h".to_owned()])].into();
    checkpoint.snapshot.resources = vec![provider_resource(), Arc::new(changed)];
    let json: Json = serde_json::from_slice(&checkpoint.encode(&crypter).unwrap()).unwrap();
    assert_eq!((&json["version"], &json["features"]), (&json!(4), &json!(["hooks", "refreshBeforeUpdate", "taint"])));

    checkpoint.snapshot.resources[1] = Arc::new(resource("a", 1.0));
    let json: Json = serde_json::from_slice(&checkpoint.encode(&crypter).unwrap()).unwrap();
    assert_eq!((&json["version"], json.get("features")), (&json!(3), None));
}

#[test]
fn what_extends_the_packages_of_resources_stands_beside_them_once() {
    let crypter = python_crypter();
    let parameter = ExtensionParameter { name: "gadgets".into(), version: "2.5.0".into(), value: vec![0, 255] };
    let extension = Extension::new(parameter.clone());
    let of_gadgets = |name| Arc::new(ResourceState { extension: Some(Arc::clone(&extension)), ..resource(name, 1.0) });
    let mut checkpoint = Checkpoint { stack: "organization/shop/dev".into(), ..Checkpoint::default() };
    checkpoint.snapshot.resources = vec![provider_resource(), of_gadgets("a"), of_gadgets("b")];
    let written = checkpoint.encode(&crypter).unwrap();
    let json: Json = serde_json::from_slice(&written).unwrap();
    let latest = &json["checkpoint"]["latest"];
    let listed = json!({ extension.reference(): { "name": "gadgets", "version": "2.5.0", "value": "AP8=" } });
    assert_eq!((&json["features"], &latest["extensions"]), (&json!(["extensionParameterization"]), &listed));
    assert_eq!(latest["resources"][2]["extensionRef"], extension.reference());
    assert_eq!(latest["resources"][2].get("extension"), None);

    let mut read = Checkpoint::decode(&written, "dev.json").unwrap();
    let known = |snapshot: &Snapshot| {
        let of_resource = |resource: &Arc<ResourceState>| resource.extension.as_ref()?.parameter().cloned();
        snapshot.resources.iter().map(of_resource).collect::<Vec<_>>()
    };
    assert_eq!(known(&read.snapshot), [None, Some(parameter.clone()), Some(parameter)]);
    let exported = export_deployment(&read.snapshot, None, false).unwrap();
    assert_eq!(known(&import_deployment(exported.as_bytes(), "it").unwrap()), known(&read.snapshot));
    read.snapshot.resources.truncate(1);
    let json: Json = serde_json::from_slice(&read.encode(&crypter).unwrap()).unwrap();
    assert_eq!((&json["version"], json["checkpoint"]["latest"].get("extensions")), (&json!(3), None));

    // A reference without its entry stays as it is.
    let text = String::from_utf8(written).unwrap();
    let (start, _) = text.split_once(",\"extensions\"").unwrap();
    let lost = Checkpoint::decode(format!("{start}}}}}}}").as_bytes(), "dev.json").unwrap();
    assert_eq!(known(&lost.snapshot), [None, None, None]);
    let json: Json = serde_json::from_slice(&lost.encode(&crypter).unwrap()).unwrap();
    assert_eq!(json["checkpoint"]["latest"]["resources"][1]["extensionRef"], extension.reference());
    assert!(reject(text.replace("AP8=", "no base64").as_bytes()).contains("its 'extensions' cannot be read"));
}

#[test]
fn a_state_says_that_it_holds_bytes_also_where_they_are_sealed() {
    let crypter = python_crypter();
    let mut checkpoint = Checkpoint { stack: "organization/shop/dev".into(), ..Checkpoint::default() };
    let mut holder = resource("a", 1.0);
    holder.taint = true;
    let secret = Value::secret(Value::Bytes(vec![0xff]));
    holder.outputs = Some(Arc::new(PropertyMap::from_iter([("key".to_owned(), secret)])));
    checkpoint.snapshot.resources = vec![provider_resource(), Arc::new(holder)];
    let features = |bytes: &[u8]| serde_json::from_slice::<Json>(bytes).unwrap()["features"].clone();
    let written = checkpoint.encode(&crypter).unwrap();
    assert_eq!(features(&written), json!(["byteString", "taint"]));

    // What is sealed is written as it is, and not looked into.
    let mut sealed = Checkpoint::decode(&written, "dev.json").unwrap();
    assert_eq!(features(&sealed.encode(&crypter).unwrap()), json!(["byteString", "taint"]));
    assert_eq!(
        features(export_deployment(&sealed.snapshot, None, false).unwrap().as_bytes()),
        json!(["byteString", "taint"])
    );
    sealed.snapshot.unseal(&crypter).unwrap();
    assert_eq!(sealed.snapshot.resources[1].outputs, checkpoint.snapshot.resources[1].outputs);

    sealed.snapshot.resources[1] = Arc::new(resource("a", 1.0));
    assert_eq!(features(&sealed.encode(&crypter).unwrap()), Json::Null);
}

#[test]
fn a_new_stack_is_empty() {
    let read = Checkpoint::decode(br#"{"version":0,"checkpoint":{"stack":"organization/p/s"}}"#, "s.json").unwrap();
    assert_eq!((read.stack.as_str(), read.snapshot.resources.len()), ("organization/p/s", 0));
}

#[test]
fn damaged_files_are_never_empty_stacks() {
    assert!(reject(b"").contains("stack file dev.json cannot be used: it is missing or empty"));
    assert!(reject(&[0; 64]).contains("NUL"));
    assert!(reject(b"null").contains("cannot be used"));
    assert!(reject(b"{}").contains("no 'checkpoint'") || reject(b"{}").contains("no 'version'"));
    assert!(reject(br#"{"version":3,"deployment":{}}"#).contains("exported deployment"));
    let message = reject(&PULUMI_PYTHON[..3000]);
    assert!(message.contains("line 1 column 3000") && message.contains("maloko state restore"), "{message}");
    assert!(message.contains("maloko stack import"), "{message}");
    let broken =
        b"{\n \"version\": 3,\n \"checkpoint\": {\"stack\": \"s\", \"latest\": {\"resources\": [{\"urn\": 5}]}}}";
    let message = reject(broken);
    assert!(message.contains("line 3") && message.contains("expected a URN"), "{message}");
    for length in 1..PULUMI_PYTHON.len() {
        reject(&PULUMI_PYTHON[..length]);
    }
}

#[test]
fn what_a_newer_tool_wrote_is_refused() {
    assert!(reject(br#"{"version":5,"checkpoint":{"novel":1}}"#).contains("newer"));
    assert!(reject(br#"{"version":5,"checkpoint":[]}"#).contains("format 5"));
    let message = reject(br#"{"version":4,"features":["taint","telepathy"],"checkpoint":{"stack":"s"}}"#);
    assert!(message.contains("telepathy") && message.contains("newer"), "{message}");
    assert!(reject(br#"{"version":2,"checkpoint":{}}"#).contains("old format 2"));
}

#[test]
fn exports_hide_or_show_secrets_and_come_back() {
    let crypter = python_crypter();
    let mut snapshot = Checkpoint::decode(PULUMI_PYTHON, "dev.json").unwrap().snapshot;
    let hidden = export_deployment(&snapshot, None, false).unwrap();
    assert!(hidden.starts_with("{\n    \"version\": 3,\n    \"deployment\": {\n        \"manifest\""), "{hidden}");
    assert!(hidden.contains("ciphertext") && !hidden.contains("plaintext"));

    let shown = export_deployment(&snapshot, Some(&crypter), true).unwrap();
    assert!(shown.contains(r#""plaintext": "\"hunter2\"""#) && !shown.contains("ciphertext"), "{shown}");
    assert!(export_deployment(&snapshot, None, true).is_err());

    snapshot.unseal(&crypter).unwrap();
    assert_eq!(export_deployment(&snapshot, Some(&crypter), true).unwrap(), shown);

    let mut again = import_deployment(shown.as_bytes(), "export.json").unwrap();
    again.unseal(&crypter).unwrap();
    assert_eq!(again.resources.len(), snapshot.resources.len());
    for (one, other) in again.resources.iter().zip(&snapshot.resources) {
        assert_eq!((&one.inputs, &one.outputs), (&other.inputs, &other.outputs));
    }
    let encrypted = Checkpoint { snapshot: again, ..Checkpoint::default() }.encode(&crypter).unwrap();
    assert!(!String::from_utf8(encrypted).unwrap().contains("plaintext"));

    let from_backup = import_deployment(PULUMI_PYTHON, "dev.json.bak").unwrap();
    assert_eq!(from_backup.resources.len(), snapshot.resources.len());
}

#[test]
fn our_references_are_written_encrypted_into_inputs_and_outputs() {
    let crypter = python_crypter();
    let reference = Arc::new(ProviderReference {
        maloko: 1,
        language: "python".into(),
        module: "app".into(),
        name: "Labels".into(),
        attributes: Some(r#"{"token":"canary"}"#.into()),
        incomplete: None,
        lacks_delete: false,
        revision: Revision::default(),
    });
    let mut with_reference = resource("a", 1.0);
    with_reference.stored_provider = StoredProvider::Reference(Arc::clone(&reference));
    let snapshot = Snapshot { resources: vec![provider_resource(), Arc::new(with_reference)], ..Snapshot::default() };
    let checkpoint = Checkpoint { snapshot, ..Checkpoint::default() };
    let bytes = checkpoint.encode(&crypter).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("canary"));
    let json = meaning(&bytes, &crypter);
    let text = json["checkpoint"]["latest"]["resources"][1]["inputs"]["__provider"]["ciphertext"].as_str().unwrap();
    let inner: String = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::from_str::<ProviderReference>(&inner).unwrap(), *reference);
    let resource = &json["checkpoint"]["latest"]["resources"][1];
    assert_eq!(resource["inputs"]["__provider"], resource["outputs"]["__provider"]);
    let keys: Vec<&String> = resource["inputs"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["__provider", "name", "size"]);

    let shown = export_deployment(&checkpoint.snapshot, Some(&crypter), true).unwrap();
    let again = import_deployment(shown.as_bytes(), "export.json").unwrap();
    assert_eq!(again.resources[1].stored_provider, StoredProvider::Reference(reference));
}

#[test]
fn pending_operations_are_kept() {
    let crypter = python_crypter();
    let pending = crate::state::PendingOperation {
        resource: Arc::new(resource("half", 1.0)),
        kind: crate::state::PendingKind::Creating,
    };
    let snapshot = Snapshot { pending: vec![pending.clone()], ..Snapshot::default() };
    let bytes = Checkpoint { snapshot, ..Checkpoint::default() }.encode(&crypter).unwrap();
    let read = Checkpoint::decode(&bytes, "dev.json").unwrap();
    assert_eq!(read.snapshot.pending, [pending]);
    let text = String::from_utf8(bytes).unwrap().replace("\"creating\"", "\"dreaming\"");
    assert!(reject(text.as_bytes()).contains("'dreaming'"));
}
