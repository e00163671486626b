//! Which resources are taken for code of a component's plugin, and that they are written as they were read.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use serde_json::json;

use crate::provider::{ProviderReference, Revision, SerializedProvider, StoredProvider};
use crate::resource_state::ResourceState;
use crate::served_by::ServedBy;
use crate::state::Snapshot;
use crate::state::fixtures::{meaning, python_crypter, resource};
use crate::state::format::{Encoder, SecretText};
use crate::urn::Urn;
use crate::value::{SECRET_SIGNATURE, SIGNATURE_KEY};

const COMPONENT: &str = "rack:index:Rack";

fn below(parent_type: &str, stored_provider: StoredProvider) -> Arc<ResourceState> {
    let urn = Urn::new("dev", "shop", parent_type, "pulumi-python:dynamic:Resource", "child");
    Arc::new(ResourceState { urn, stored_provider, ..resource("child", 1.0) })
}

fn provider_of(package: &str) -> Arc<ResourceState> {
    let kind = format!("pulumi:providers:{package}");
    let urn = Urn::new("dev", "shop", "", &kind, "default");
    Arc::new(ResourceState { urn, custom: true, id: "id".into(), kind, ..ResourceState::default() })
}

fn sealed(text: &str) -> StoredProvider {
    StoredProvider::Sealed(python_crypter().encrypt(&json!(text).to_string()).unwrap())
}

fn code(text: &str, secret: bool) -> StoredProvider {
    StoredProvider::Code(Arc::new(SerializedProvider { text: text.to_owned(), secret }))
}

/// What is kept of a resource's provider once the state is unsealed.
fn recognised(package: &str, resource: Arc<ResourceState>) -> StoredProvider {
    let mut snapshot = Snapshot { resources: vec![provider_of(package), resource], ..Snapshot::default() };
    snapshot.unseal(&python_crypter()).unwrap();
    snapshot.resources[1].stored_provider.clone()
}

#[test]
fn code_below_a_component_of_a_package_with_a_provider_is_that_of_its_plugin() {
    let nested = format!("{COMPONENT}$tests:index:Inner");
    for parent in [COMPONENT, &nested] {
        assert_eq!(recognised("rack", below(parent, sealed("gASV"))), code("gASV", true));
        let plain = StoredProvider::Foreign(Arc::new(json!("exports.handler")));
        assert_eq!(recognised("rack", below(parent, plain)), code("exports.handler", false));
        let shown = json!({ SIGNATURE_KEY: SECRET_SIGNATURE, "plaintext": "\"gASV\"" });
        assert_eq!(recognised("rack", below(parent, StoredProvider::Foreign(Arc::new(shown)))), code("gASV", true));
    }
    let resource = below(COMPONENT, code("gASV", true));
    assert_eq!((resource.served_by(), provider_of("rack").lends_environment_to(&resource)), (ServedBy::Plugin, true));
}

#[test]
fn references_and_the_code_of_programs_stay_what_they_are() {
    let reference = ProviderReference {
        maloko: 1,
        language: "python".into(),
        module: "providers".into(),
        name: "Notes".into(),
        attributes: None,
        incomplete: None,
        lacks_delete: false,
        revision: Revision::default(),
    };
    let ours = sealed(&serde_json::to_string(&reference).unwrap());
    assert_eq!(recognised("rack", below(COMPONENT, ours.clone())), ours);
    let theirs = sealed("gASV");
    // A component of the program, and a stack without a provider of the component's package.
    assert_eq!(recognised("rack", below("tests:index:Group", theirs.clone())), theirs);
    assert_eq!(recognised("shelf", below(COMPONENT, theirs.clone())), theirs);
    assert_eq!(recognised("rack", below("", theirs.clone())), theirs);
}

#[test]
fn code_is_written_as_it_was_read() {
    let crypter = python_crypter();
    let written = |resource: &ResourceState, secrets| {
        let mut encoder = Encoder::new(Vec::new(), Some(&crypter), secrets);
        encoder.resource_state(resource).unwrap();
        encoder.into_bytes()
    };
    let plain = StoredProvider::Foreign(Arc::new(json!("exports.handler")));
    for stored in [sealed("gASV"), plain] {
        let before = below(COMPONENT, stored);
        let after = ResourceState { stored_provider: recognised("rack", Arc::clone(&before)), ..(*before).clone() };
        assert!(after.code().is_some());
        assert_eq!(written(&after, SecretText::Plain), written(&before, SecretText::Plain));
        let cipher = |resource| meaning(&written(resource, SecretText::Cipher), &crypter);
        assert_eq!(cipher(&after), cipher(&before));
    }
    let secret = written(&below(COMPONENT, code("gASV", true)), SecretText::Cipher);
    assert!(!String::from_utf8_lossy(&secret).contains("gASV"));
}

#[test]
fn code_is_in_no_debug_text() {
    assert!(!format!("{:?}", below(COMPONENT, code("gASV", false))).contains("gASV"));
}
