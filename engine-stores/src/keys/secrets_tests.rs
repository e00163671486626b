use super::secrets;

fn hidden(url: &str, set: &[(&str, &str)]) -> Vec<String> {
    secrets(url, &|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
}

#[test]
fn what_is_secret_in_the_variables_of_a_service_is_hidden() {
    let set = [("VAULT_TOKEN", "of-vault"), ("AZURE_CLIENT_SECRET", "of-azure"), ("AWS_SESSION_TOKEN", "")];
    assert_eq!(hidden("hashivault://one", &set), ["of-vault"]);
    assert_eq!(hidden("azurekeyvault://vault/keys/one", &set), ["of-azure"]);
    assert!(hidden("awskms://alias/one", &set).is_empty());
}

#[test]
fn of_google_s_credentials_what_proves_who_one_is() {
    let user =
        r#"{"type":"impersonated_service_account","source_credentials":{"client_secret":"s","refresh_token":"r"}}"#;
    assert_eq!(hidden("gcpkms://one", &[("GOOGLE_CREDENTIALS", user)]), ["s", "r"]);
    let account = r#"{"type":"service_account","private_key":"pem","client_email":"a@b"}"#;
    assert_eq!(hidden("gcpkms://one", &[("GOOGLE_CREDENTIALS", account)]), ["pem"]);
    assert!(hidden("gcpkms://one", &[("GOOGLE_CREDENTIALS", "/run/key.json")]).is_empty());
}
