#![expect(clippy::unwrap_used, reason = "a test says so when it fails")]

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::{former_resources, inputs, restored, save};

const DYNAMIC: &str = "pulumi-python:dynamic:Resource";

fn secret(text: &str) -> Value {
    json!({ "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": json!(text).to_string() })
}

fn state(inputs: &Value) -> Value {
    let urn = format!("urn:pulumi:dev::project::{DYNAMIC}::a");
    let resource =
        json!({ "urn": urn, "type": DYNAMIC, "custom": true, "id": "hunter22", "inputs": inputs, "outputs": {} });
    json!({ "version": 3, "deployment": { "resources": [resource] } })
}

#[test]
fn a_baseline_has_no_secrets_and_gets_those_of_today() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kept/v1.json");
    let secrets = |text: &str| BTreeMap::from([("token".to_owned(), text.to_owned())]);
    let given = json!({
        "token": secret("hunter22"), "other": secret("another-one"), "url": "https://hunter22@host", "note": "given-aside",
        "__provider": "a closure with another-one",
    });
    save(&file, &state(&given).to_string(), &secrets("hunter22"), vec!["given-aside".to_owned()]).unwrap();
    let kept: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let resource = &kept["deployment"]["resources"][0];
    let hidden = json!({
        "token": secret("[secret:token]"), "other": secret("[secret]"), "url": "https://[secret:token]@host", "note": "[secret]",
    });
    assert_eq!((&resource["inputs"], &resource["id"]), (&hidden, &json!("hunter22")));

    let shown: Value = serde_json::from_str(&restored(&file, &secrets("new-one"), "save").unwrap()).unwrap();
    let inputs = &shown["deployment"]["resources"][0]["inputs"];
    assert_eq!((&inputs["token"], &inputs["url"]), (&secret("new-one"), &json!("https://new-one@host")));
    assert_eq!(inputs["other"], secret("[secret]"));
    let missing = restored(&folder.path().join("none.json"), &BTreeMap::new(), "`s.saveBaseline(file)`").unwrap_err();
    assert!(missing.ends_with("; `s.saveBaseline(file)` writes one after `up`"), "{missing}");
}

#[test]
fn a_former_release_is_a_list_an_export_or_the_file_of_either() {
    let one = json!([{ "id": "hunter22", "inputs": { "size": 1 }, "outputs": {} }]);
    let inputs = json!({ "size": 1, "__provider": "code" });
    assert_eq!(former_resources(state(&inputs), None), Ok(one.clone()));
    assert_eq!(former_resources(json!({ "deployment": state(&inputs) }), Some(DYNAMIC)), Ok(one.clone()));
    assert_eq!(former_resources(one.clone(), None), Ok(one));
    let none = former_resources(state(&inputs), Some("random:index/randomPet:RandomPet")).unwrap_err();
    assert!(
        none.starts_with("`baseline` has no resource of random:index/randomPet:RandomPet: give an exported"),
        "{none}"
    );
    assert!(
        former_resources(json!("/nowhere.json"), None)
            .unwrap_err()
            .starts_with("the baseline /nowhere.json cannot be read: ")
    );
}

#[test]
fn inputs_of_an_export_are_those_that_are_meant_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stack.json");
    let write = |inputs: &Value| fs::write(&file, state(inputs).to_string()).unwrap();
    write(&json!({ "size": 1, "tags": { "key": secret("hunter22") }, "__provider": "code" }));
    let all = json!([{ "size": 1, "tags": { "key": "[secret]" } }]);
    assert_eq!(inputs(&file, None, None), Ok(all.clone()));
    assert_eq!(inputs(&file, Some(DYNAMIC), Some(&["a".to_owned()])), Ok(all));
    let none = inputs(&file, Some(DYNAMIC), Some(&["b".to_owned(), "c".to_owned()])).unwrap_err();
    assert!(none.ends_with(&format!("has no custom resource of type {DYNAMIC} named b or c")), "{none}");
    write(&json!({ "file": [{ "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17" }] }));
    let asset = inputs(&file, None, None).unwrap_err();
    assert!(asset.starts_with("a.file[0] is an asset, an archive or a reference"), "{asset}");
    fs::write(&file, "[]").unwrap();
    assert!(
        inputs(&file, None, None).unwrap_err().contains("cannot be read as an exported stack (it has no `deployment`)")
    );
}
