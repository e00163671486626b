use super::*;
use crate::install::fixtures::{Reply, Server, archive_name, plugin, settings};
use crate::install::limits::Limits;
use std::io::Read as _;

fn wanted(url: &str) -> WantedPlugin {
    WantedPlugin::new("x", "1.2.3", url, None).expect("a plugin")
}

/// All that is usual is at one server.
fn places(server: &Server) -> Places {
    let at = |path: &str| format!("{}{path}", server.address);
    Places { github: at("/github"), github_api: at("/api"), pulumi: at("/pulumi"), scheme: "http".to_owned() }
}

fn sources_of(url: &str, variables: &[(&str, &str)]) -> Result<Vec<Source>, String> {
    let settings = settings(std::path::Path::new("/nowhere"), variables);
    sources(&wanted(url), &Places::default(), &settings).map_err(|error| error.to_string())
}

/// What is read from the sources of a plugin, one after the other, and what the server is asked for.
fn asked(server: &Server, url: &str, variables: &[(&str, &str)]) -> Vec<bool> {
    let settings = settings(std::path::Path::new("/nowhere"), variables);
    let wanted = wanted(url);
    let found = sources(&wanted, &places(server), &settings).expect("sources");
    let http = Http::new(&Limits::default());
    let version = wanted.version.clone().expect("a version");
    let found = found.iter().map(|source| {
        let Ok(mut body) = source.open(&wanted, &version, &http) else { return false };
        let mut bytes = Vec::new();
        body.reader.read_to_end(&mut bytes).expect("a body");
        bytes == plugin()
    });
    found.collect()
}

/// A server with GitHub's interface, whose release has the archive at another path.
fn github(elsewhere: bool) -> Server {
    let (sender, receiver) = std::sync::mpsc::channel::<String>();
    let own = std::sync::Mutex::new((receiver, String::new()));
    let server = Server::new(move |path, _| {
        let mut own = own.lock().expect("no panic");
        if own.1.is_empty() {
            own.1 = own.0.recv().expect("an address");
        }
        let address = &own.1;
        match path {
            "/api/repos/pulumi/pulumi-x/releases/tags/v1.2.3" | "/repos/acme/own/releases/tags/v1.2.3" => {
                let base = if path.starts_with("/api") { format!("{address}/api") } else { address.clone() };
                let asset =
                    serde_json::json!({ "name": archive_name("x", "1.2.3"), "url": format!("{base}/assets/7") });
                Reply::Whole(
                    serde_json::json!({ "assets": [{ "name": "other", "url": "" }, asset] }).to_string().into(),
                )
            }
            "/api/assets/7" if elsewhere => {
                Reply::Elsewhere(format!("{}/stored", address.replace("127.0.0.1", "localhost")))
            }
            "/api/assets/7" | "/assets/7" | "/stored" => Reply::Whole(plugin()),
            "/api/repos/pulumi/pulumi-x/releases/latest" => Reply::Whole(br#"{"tag_name": "v2.0.1"}"#.to_vec()),
            _ => Reply::Status(404),
        }
    });
    sender.send(server.address.clone()).expect("the server runs");
    server
}

#[test]
fn the_usual_places_are_asked_one_after_the_other() {
    let server = github(false);
    assert_eq!(asked(&server, "", &[]), [false, true, false]);
    let archive = archive_name("x", "1.2.3");
    assert_eq!(
        server.paths(),
        [
            format!("/github/pulumi/pulumi-x/releases/download/v1.2.3/{archive}"),
            "/api/repos/pulumi/pulumi-x/releases/tags/v1.2.3".to_owned(),
            "/api/assets/7".to_owned(),
            format!("/pulumi/releases/plugins/{archive}"),
        ]
    );
}

#[test]
fn a_token_goes_to_its_own_host_alone() {
    let secret = ("GITHUB_TOKEN", "very-well-kept");
    let server = github(true);
    let settings = settings(std::path::Path::new("/nowhere"), &[secret]);
    let wanted = wanted("github://api.github.com/pulumi");
    let found = sources(&wanted, &places(&server), &settings).expect("sources");
    assert!(!format!("{found:?}").contains("very-well-kept"));
    let version = wanted.version.clone().expect("a version");
    found[0].open(&wanted, &version, &Http::new(&Limits::default())).expect("an archive");
    let heard = server.heard();
    let with_token: Vec<&str> = heard
        .split("GET ")
        .filter(|request| request.contains("token very-well-kept"))
        .filter_map(|it| it.lines().next())
        .collect();
    assert_eq!(
        with_token,
        ["/api/repos/pulumi/pulumi-x/releases/tags/v1.2.3 HTTP/1.1", "/api/assets/7 HTTP/1.1"],
        "{heard}"
    );
    assert!(heard.contains("GET /stored"), "{heard}");

    let host = server.address.strip_prefix("http://").expect("an address");
    for (url, variables) in [
        (format!("github://{host}/acme/own"), vec![secret]),
        (format!("gitlab://{host}/42"), vec![("GITLAB_TOKEN", "very-well-kept")]),
        (server.address.clone(), vec![secret]),
    ] {
        let server = &server;
        asked(server, &url, &variables);
    }
    assert_eq!(
        server.heard().matches("very-well-kept").count(),
        2,
        "a package names hosts, and does not get the token"
    );

    let own = [secret, ("GITHUB_API_URL", server.address.as_str())];
    assert_eq!(asked(&server, &format!("github://{host}/acme/own"), &own), [true]);
    assert_eq!(server.heard().matches("very-well-kept").count(), 4);
}

#[test]
fn releases_of_gitlab_are_at_their_project() {
    let server = Server::new(|_, _| Reply::Whole(plugin()));
    let host = server.address.strip_prefix("http://").expect("an address").to_owned();
    let variables = [("GITLAB_TOKEN", "own"), ("CI_SERVER_URL", server.address.as_str())];
    assert_eq!(asked(&server, &format!("gitlab://{host}/42"), &variables), [true]);
    let archive = archive_name("x", "1.2.3");
    assert_eq!(server.paths(), [format!("/api/v4/projects/42/releases/v1.2.3/downloads/{archive}")]);
    assert!(server.heard().to_lowercase().contains("authorization: bearer own"), "{}", server.heard());
}

#[test]
fn names_in_an_address_are_filled_in() {
    let server = Server::new(|_, _| Reply::Whole(plugin()));
    asked(&server, &format!("{}/${{NAME}}/${{VERSION}}/${{OS}}-${{ARCH}}/", server.address), &[]);
    let (os, arch) = platform();
    assert_eq!(server.paths(), [format!("/x/1.2.3/{os}-{arch}/{}", archive_name("x", "1.2.3"))]);
}

#[test]
fn the_newest_version_is_asked_for_where_somebody_knows_it() {
    let server = github(false);
    let settings = settings(std::path::Path::new("/nowhere"), &[]);
    let found = sources(&wanted(""), &places(&server), &settings).expect("sources");
    let http = Http::new(&Limits::default());
    assert_eq!(found[1].latest(&http).map(|version| version.to_string()), Ok("2.0.1".to_owned()));
    let said = found[0].latest(&http).expect_err("nobody says").to_string();
    assert!(said.contains("does not say which version is the newest"), "{said}");
}

#[test]
fn overrides_take_the_place_of_sources() {
    let with = |text: &str, url: &str| sources_of(url, &[("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES", text)]);
    let address = |text: &str| Ok(vec![Source::Address(text.to_owned())]);
    assert_eq!(with("^github://=https://mirror.test/${NAME}", ""), address("https://mirror.test/${NAME}"));
    assert_eq!(
        with("^nothing=https://a.test,^https://(?P<host>[^/]+)/(.*)$=https://m.test/${host}/$2", "https://h.test/path"),
        address("https://m.test/h.test/path")
    );
    let third = with("^https://get.pulumi.com=https://mirror.test", "").expect("sources");
    assert_eq!((third.len(), &third[2]), (3, &Source::Address("https://mirror.test".to_owned())));
    for wrong in ["no-address", "=https://a.test", "(=https://a.test"] {
        let said = with(wrong, "").expect_err("wrong");
        assert!(said.contains("PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES"), "{said}");
    }
}

#[test]
fn a_source_that_cannot_be_asked_is_named_without_its_password() {
    for (url, words) in [
        ("git://github.com/acme/own", "does not clone repositories"),
        ("ftp://user:very-well-kept@host.test/path", "addresses begin with"),
        ("github.com/acme/own", "this is no address"),
        ("github://api.github.com", "github://api.github.com/OWNER"),
        ("gitlab://gitlab.com/group/project", "gitlab://gitlab.com/PROJECT_ID"),
    ] {
        let said = sources_of(url, &[]).expect_err("wrong");
        assert!(said.contains(words) && !said.contains("very-well-kept"), "{said}");
    }
    assert_eq!(shown("https://user:secret@host.test/path?key=secret"), "https://host.test/path");
}
