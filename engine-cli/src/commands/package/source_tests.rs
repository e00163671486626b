#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use super::*;

#[test]
fn what_a_user_wrote_is_a_name_a_place_or_a_schema() {
    let there = tempfile::tempdir().unwrap();
    let directory = there.path();
    std::fs::create_dir(directory.join("comp")).unwrap();
    std::fs::write(directory.join("comp/PulumiPlugin.yaml"), "name: parts\nruntime: python\n").unwrap();
    std::fs::write(directory.join("pulumi-resource-probe"), "").unwrap();
    let read = |text: &str| Source::read(text, directory).unwrap();
    let named = |name: &str, version: &str| {
        let (name, version) = (name.to_owned(), version.to_owned());
        Source::Plugin(PackageRequest { name, version, ..PackageRequest::default() })
    };
    assert_eq!(read("random"), named("random", ""));
    assert_eq!(read("random@v4.1.0"), named("random", "4.1.0"));
    assert_eq!(read("./comp"), Source::Place("parts".to_owned(), directory.join("./comp")));
    let file = directory.join("./pulumi-resource-probe");
    assert_eq!(read("./pulumi-resource-probe"), Source::Place("probe".to_owned(), file));
    assert_eq!(read("schema.json"), Source::Schema(directory.join("schema.json")));
    let said = Source::read("./nowhere", directory).unwrap_err().message;
    assert!(said.contains("there is nothing at"), "{said}");
}
