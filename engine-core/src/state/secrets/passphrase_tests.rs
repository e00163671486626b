#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;

use super::*;
use crate::environment::Environment;

fn find(variables: &[(&str, &str)], key_file: Option<&Path>) -> Result<Option<Passphrase>> {
    let lookup = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
    Passphrase::find(&lookup, &StackName::new("net-work", "prod.1").unwrap(), key_file)
}

fn error_of<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error.to_string(),
    }
}

fn of_file(variable: &str, path: &Path) -> PassphraseSource {
    PassphraseSource::VariableFile { variable: variable.to_owned(), path: path.to_owned() }
}

#[test]
fn sources_are_tried_in_pulumis_order() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pass");
    fs::write(&file, " from file\n\n").unwrap();
    let key_file = directory.path().join("key");
    fs::write(&key_file, "from key file\n").unwrap();
    let path = file.to_str().unwrap();

    let both = [(PASSPHRASE_VARIABLE, ""), (PASSPHRASE_FILE_VARIABLE, path)];
    let found = find(&both, Some(&key_file)).unwrap().unwrap();
    assert_eq!(
        (found.text(), found.source()),
        ("", &PassphraseSource::Variable(PASSPHRASE_VARIABLE.to_owned())),
        "an empty passphrase is one"
    );
    let found = find(&both[1..], Some(&key_file)).unwrap().unwrap();
    assert_eq!((found.text(), found.source()), ("from file", &of_file(PASSPHRASE_FILE_VARIABLE, &file)));
    let found = find(&[(PASSPHRASE_FILE_VARIABLE, "")], Some(&key_file)).unwrap().unwrap();
    assert_eq!((found.text(), found.source()), ("from key file", &PassphraseSource::KeyFile(key_file)));
    assert_eq!(find(&[], None).unwrap(), None);
    assert_eq!(find(&[], Some(&directory.path().join("none"))).unwrap(), None);
}

#[test]
fn a_missing_passphrase_file_is_named() {
    let message = error_of(find(&[(PASSPHRASE_FILE_VARIABLE, "no/such/file")], None));
    assert!(message.contains("no/such/file") && message.contains(PASSPHRASE_FILE_VARIABLE), "{message}");
}

#[test]
fn a_key_file_is_made_once_and_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(".maloko").join("passphrase");
    let entropy = Environment::system().entropy;
    let made = Passphrase::read_or_create_key_file(&path, &*entropy).unwrap();
    assert!(made.text().len() > 40);
    assert_eq!(Passphrase::read_or_create_key_file(&path, &*entropy).unwrap(), made);
    // The file can be handed to Pulumi.
    let variables = [(PASSPHRASE_FILE_VARIABLE, path.to_str().unwrap())];
    assert_eq!(find(&variables, None).unwrap().unwrap().text(), made.text());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let bits = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((bits(&path), bits(path.parent().unwrap())), (0o600, 0o700));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        find(&[], Some(&path)).unwrap();
        assert_eq!(bits(&path), 0o600, "a looser file is made private");
    }
}

#[test]
fn an_empty_key_file_is_not_an_empty_passphrase() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    fs::write(&path, "\n").unwrap();
    assert!(error_of(find(&[], Some(&path))).contains("is empty"));
}

#[test]
fn a_stacks_own_variables_come_first() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("own");
    fs::write(&file, "from own file\n").unwrap();
    let path = file.to_str().unwrap();
    let (text_variable, file_variable) =
        ("MALOKO_PASSPHRASE_NET_WORK_PROD_1", "MALOKO_PASSPHRASE_FILE_NET_WORK_PROD_1");
    let set = [(text_variable, "own"), (file_variable, path), (PASSPHRASE_VARIABLE, "of all")];
    let found = find(&set, None).unwrap().unwrap();
    assert_eq!((found.text(), found.source()), ("own", &PassphraseSource::Variable(text_variable.to_owned())));
    let found = find(&set[1..], None).unwrap().unwrap();
    assert_eq!((found.text(), found.source()), ("from own file", &of_file(file_variable, &file)));
    assert_eq!(find(&set[2..], None).unwrap().unwrap().text(), "of all");
    assert!(error_of(find(&[(file_variable, "/nowhere")], None)).contains(file_variable));
}

#[test]
fn the_variable_that_names_a_file_is_no_passphrase_of_another_stack() {
    let file = passphrase_variables(&StackName::new("shop", "dev").unwrap()).file;
    let other = StackName::new("file-shop", "dev").unwrap();
    assert_eq!(passphrase_variables(&other).text, None);
    let of_other = Passphrase::find_own(&|name| (name == file).then(|| "/run/secrets/shop".into()), &other);
    assert_eq!(of_other.unwrap(), None);
    let variable = passphrase_variables(&other).file;
    let missing = Passphrase::find_own(&|name| (name == variable).then(|| "/nowhere".into()), &other);
    assert!(error_of(missing).ends_with("write the passphrase into it"));
}
