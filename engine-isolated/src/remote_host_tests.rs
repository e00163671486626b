use maloko_core::provider::ProviderErrorKind;
use tokio::runtime::{Builder, Handle};

use super::RemoteHost;
use crate::messages::Question;

fn host() -> RemoteHost {
    RemoteHost::new(Handle::current(), |_| "code")
}

async fn refused(host: &RemoteHost) -> (ProviderErrorKind, String) {
    let error = host.ask(Question::ResourceClasses).await.err().unwrap();
    (error.kind, error.message.to_string())
}

#[test]
fn the_last_words_of_a_process_go_with_the_first_error_after_its_end() {
    Builder::new_current_thread().build().unwrap().block_on(async {
        let host = host();
        host.lose("it ended", "\nits last words");
        let first = (ProviderErrorKind::NoProvider, "nothing was called: it ended\nits last words".to_owned());
        let second = (ProviderErrorKind::NoProvider, "nothing was called: it ended".to_owned());
        assert_eq!((refused(&host).await, refused(&host).await), (first, second));
    });
}

#[test]
fn a_question_under_way_has_them_and_is_told_that_its_outcome_is_unknown() {
    Builder::new_current_thread().build().unwrap().block_on(async {
        let host = host();
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        host.open(crate::connection::begin(ours.into(), |(): (), _| {}, |_| {}).unwrap());
        let (asked, ()) = futures::join!(refused(&host), async { host.lose("it ended", "\nits last words") });
        let unknown = "it ended in the middle of the call; what that has done is not known\nits last words";
        assert_eq!(asked, (ProviderErrorKind::Died, unknown.to_owned()));
        assert_eq!(refused(&host).await.1, "nothing was called: it ended");
    });
}
