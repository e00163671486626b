//! Children reach this machine directly: gRPC of Python and Node would send even 127.0.0.1 to a proxy.

/// The variables that name a proxy, or say where none is used. Whoever starts children looks at these.
pub const PROXY_VARIABLES: [&str; 10] = [
    "grpc_proxy",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "no_grpc_proxy",
];
const EXCEPTIONS: [&str; 3] = ["no_proxy", "NO_PROXY", "no_grpc_proxy"];
const THIS_MACHINE: &str = "127.0.0.1,localhost,::1";

/// What a child's environment has beside that of this process, so that it reaches this machine without a proxy; nothing where
/// no proxy is set. `variable` gives one of [`PROXY_VARIABLES`].
pub fn without_proxy<'a>(variable: impl Fn(&str) -> Option<&'a str>) -> Vec<(String, String)> {
    let is_set = |name: &&str| variable(name).is_some_and(|text| !text.is_empty());
    if !PROXY_VARIABLES.iter().any(|name| !EXCEPTIONS.contains(name) && is_set(name)) {
        return Vec::new();
    }
    let general = EXCEPTIONS[..2].iter().find_map(|name| variable(name).filter(|text| !text.is_empty()));
    let with_own = |text: Option<&str>| match text {
        Some(text) => format!("{text},{THIS_MACHINE}"),
        None => THIS_MACHINE.to_owned(),
    };
    let mut set: Vec<_> = EXCEPTIONS[..2].iter().map(|name| ((*name).to_owned(), with_own(general))).collect();
    // It takes the place of the general one where it is set.
    if let Some(own) = variable(EXCEPTIONS[2]).filter(|text| !text.is_empty()) {
        set.push((EXCEPTIONS[2].to_owned(), with_own(Some(own))));
    }
    set
}

#[cfg(test)]
mod tests {
    use super::without_proxy;

    fn with(set: &[(&'static str, &'static str)]) -> Vec<(String, String)> {
        without_proxy(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))
    }

    #[test]
    fn nothing_is_said_where_no_proxy_is_set() {
        assert_eq!(with(&[]), []);
        assert_eq!(with(&[("no_proxy", "example.org"), ("http_proxy", "")]), []);
    }

    #[test]
    fn this_machine_is_added_to_what_needs_no_proxy() {
        let both = |value: &str| [("no_proxy".to_owned(), value.to_owned()), ("NO_PROXY".to_owned(), value.to_owned())];
        assert_eq!(with(&[("http_proxy", "http://p:1")]), both("127.0.0.1,localhost,::1"));
        let listed = with(&[("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", "example.org")]);
        assert_eq!(listed, both("example.org,127.0.0.1,localhost,::1"));
        let own = with(&[("grpc_proxy", "http://p:1"), ("no_grpc_proxy", "a")]);
        assert_eq!(own.last(), Some(&("no_grpc_proxy".to_owned(), "a,127.0.0.1,localhost,::1".to_owned())));
    }
}
