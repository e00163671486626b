use super::names::{argument, class, is_name, member, module, package, snake, wire_by_rule};

#[test]
fn names_are_split_where_words_begin() {
    for (name, wanted) in [
        ("length", "length"),
        ("minLower", "min_lower"),
        ("HTTPServer", "http_server"),
        ("sha256Hash", "sha256_hash"),
        ("SHA256Hash", "sha256_hash"),
        ("publicIPs", "public_ips"),
        ("GetPublicIPs", "get_public_i_ps"),
        ("openXJsonSerDe", "open_x_json_ser_de"),
        ("clusterIPAddress", "cluster_ip_address"),
        ("$ref", "_ref"),
        ("x-kubernetes-int-or-string", "x_kubernetes_int_or_string"),
        ("1st", "_1st"),
        ("already_snake", "already_snake"),
        ("dnsSECName", "dns_sec_name"),
        ("Ärger", "ärger"),
    ] {
        assert_eq!(snake(name), wanted, "{name}");
    }
}

#[test]
fn keywords_get_an_underscore() {
    assert_eq!(snake("from"), "from_");
    assert_eq!(snake("print"), "print_");
    assert_eq!(module("import/v1"), "import_/v1");
}

#[test]
fn arguments_stand_beside_those_of_every_resource() {
    assert_eq!(argument("resourceName"), "resource_name_");
    assert_eq!(argument("opts"), "opts_");
    assert_eq!(argument("name"), "name");
}

#[test]
fn classes_begin_with_a_capital_and_have_no_hyphens() {
    assert_eq!(class("randomPet"), "RandomPet");
    assert_eq!(class("some-thing"), "SomeThing");
    assert!(is_name("RandomPet"));
    assert!(!is_name("Random.Pet"));
    assert!(!is_name("None"));
    assert!(!is_name("1st"));
    assert!(!is_name(""));
}

#[test]
fn members_of_enumerations_are_in_capitals() {
    for (name, wanted) in [
        ("stdoutAndStderr", "STDOUT_AND_STDERR"),
        ("*", "ASTERISK"),
        ("8", "EIGHT"),
        ("8.3", "KIND_8_3"),
        ("t3.micro", "T3_MICRO"),
        ("a--b", "A_B"),
        ("None", "NONE"),
    ] {
        assert_eq!(member(name, "Kind").as_deref(), Some(wanted), "{name}");
    }
    assert_eq!(member("-", "Kind"), None);
}

#[test]
fn names_on_the_wire_follow_from_those_in_python() {
    assert_eq!(wire_by_rule("min_lower"), "minLower");
    assert_eq!(wire_by_rule("length"), "length");
    assert_ne!(wire_by_rule(&snake("clusterIP")), "clusterIP");
}

#[test]
fn packages_have_no_hyphens() {
    assert_eq!(package("", "aws-native"), "pulumi_aws_native");
    assert_eq!(package("my-team", "dns"), "my_team_dns");
    assert_eq!(module("S3/Bucket.v2"), "s3/bucket_v2");
}
