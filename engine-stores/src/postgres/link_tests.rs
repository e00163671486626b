use tokio_postgres::error::SqlState;

use super::advice;

#[test]
fn a_password_is_asked_for_only_when_it_is_what_the_server_wants() {
    let refused = advice(Some(&SqlState::INVALID_PASSWORD), "password authentication failed for user \"ada\"");
    let missing = advice(None, "invalid configuration: password missing");
    assert!(refused.contains("PGPASSWORD") && missing.contains("PGPASSWORD"), "{refused}, {missing}");
    let nobody = advice(Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION), "role \"nouser\" does not exist");
    assert!(!nobody.contains("PGPASSWORD") && nobody.contains("name a user"), "{nobody}");
    assert!(advice(None, "Connection refused").contains("check host and port"));
}
