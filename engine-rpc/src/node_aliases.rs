//! Aliases as Node SDKs sent them before there was a flag for the right form.

use prost::Message as _;

use maloko_core::wire::{AliasKind, AliasParent, RegisterResourceRequest};

/// Does a request come from a Node SDK? Newer ones say so, and older ones are known by their gRPC library.
pub(crate) fn is_from_node(headers: &http::HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text("pulumi-runtime") == "nodejs" || text("user-agent").starts_with("grpc-node-js/")
}

/// A registration of a Node SDK with its aliases in today's form; `None` where they have it.
///
/// The old form had "no parent" the wrong way round: an empty parent stood for none, and none for the parent that the
/// resource has now.
pub(crate) fn in_todays_form(request: &[u8]) -> Option<Vec<u8>> {
    let mut request = RegisterResourceRequest::decode(request).ok()?;
    if request.alias_specs || request.aliases.is_empty() {
        return None;
    }
    for alias in &mut request.aliases {
        if let Some(AliasKind::Spec(spec)) = &mut alias.alias {
            spec.parent = match spec.parent.take() {
                Some(AliasParent::NoParent(true)) => None,
                Some(AliasParent::ParentUrn(urn)) if !urn.is_empty() => Some(AliasParent::ParentUrn(urn)),
                _ => Some(AliasParent::NoParent(true)),
            };
        }
    }
    request.alias_specs = true;
    Some(request.encode_to_vec())
}

#[cfg(test)]
#[path = "node_aliases_tests.rs"]
mod tests;
