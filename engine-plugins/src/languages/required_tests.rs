use super::*;
use maloko_core::wire::language::SchemaParameter;

fn dependency(name: &str, kind: &str, version: &str) -> PackageDependency {
    PackageDependency { name: name.into(), kind: kind.into(), version: version.into(), ..Default::default() }
}

fn taken(packages_: Vec<PackageDependency>, specs: Vec<PackageSpec>) -> Result<Vec<PackageRequest>, String> {
    packages(RequiredPackagesResponse { packages: packages_, specs })
}

#[test]
fn packages_of_resources_are_taken_and_others_are_left_out() {
    let whole = PackageDependency {
        server: "https://example.org/".into(),
        checksums: [("linux-amd64".to_owned(), vec![0x0a, 0xff])].into(),
        ..dependency("mini", "resource", "v1.2")
    };
    let made = PackageDependency {
        parameterization: Some(SchemaParameter { name: "made".into(), version: "v3.0.0".into(), value: vec![7] }),
        ..dependency("base", "resource", "2.0.0")
    };
    let found = taken(vec![whole, dependency("go", "language", "nonsense"), made], Vec::new()).expect("it is taken");
    assert_eq!(
        found,
        [
            PackageRequest {
                name: "mini".into(),
                version: "1.2.0".into(),
                download_url: "https://example.org".into(),
                checksums: [("linux-amd64".to_owned(), "0aff".to_owned())].into(),
                ..PackageRequest::default()
            },
            PackageRequest {
                name: "made".into(),
                version: "3.0.0".into(),
                parameter: Some(PackageParameter { plugin: "base".into(), version: "2.0.0".into(), value: vec![7] }),
                ..PackageRequest::default()
            },
        ]
    );
}

#[test]
fn what_is_no_kind_and_no_version_is_refused() {
    assert_eq!(
        taken(vec![dependency("mini", "spaceship", "")], Vec::new()).expect_err("it is refused"),
        "unrecognized plugin kind 'spaceship' of 'mini'"
    );
    let refused = taken(vec![dependency("mini", "resource", "newest")], Vec::new()).expect_err("it is refused");
    assert!(refused.starts_with("'newest' is no version of the package 'mini'"), "{refused}");
}

#[test]
fn a_package_by_its_source_is_taken_by_name_alone() {
    let spec = |source: &str, parameters: &[&str]| PackageSpec {
        source: source.into(),
        parameters: parameters.iter().map(|it| (*it).to_owned()).collect(),
        ..PackageSpec::default()
    };
    let found = taken(Vec::new(), vec![spec("mini@1.0.0", &[])]).expect("it is taken");
    assert_eq!((found[0].name.as_str(), found[0].version.as_str()), ("mini", "1.0.0"));
    for source in ["./folder", "example.org/provider", ""] {
        let refused = taken(Vec::new(), vec![spec(source, &[])]).expect_err("it is refused");
        assert!(refused.contains("under `plugins.providers` of Pulumi.yaml"), "{refused}");
    }
    let refused = taken(Vec::new(), vec![spec("base", &["a", "b"])]).expect_err("it is refused");
    assert!(refused.contains("is made of parameters (a b)"), "{refused}");
}
