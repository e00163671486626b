//! A credential that is kept until shortly before it runs out.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Mutex;

/// So long before its end a credential is got anew.
const BEFORE_THE_END: Duration = Duration::from_secs(60);
/// So long one counts that does not say when it ends.
const WITHOUT_AN_END: Duration = Duration::from_secs(15 * 60);

/// The credential, and when it is to be got anew.
#[derive(Debug)]
pub(super) struct KeptCredential<C>(Mutex<Option<(Arc<C>, Timestamp)>>);

impl<C> Default for KeptCredential<C> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<C> KeptCredential<C> {
    /// The one that is kept, else what `get` gets, with its end where that is known. Who comes meanwhile waits for it.
    pub(super) async fn or_get<E>(
        &self,
        now: impl Fn() -> Timestamp,
        get: impl Future<Output = Result<(C, Option<Timestamp>), E>>,
    ) -> Result<Arc<C>, E> {
        let mut kept = self.0.lock().await;
        if let Some((credential, end)) = kept.as_ref()
            && *end > now()
        {
            return Ok(Arc::clone(credential));
        }
        let (credential, end) = get.await?;
        let end = end.map_or_else(|| now().saturating_add(WITHOUT_AN_END), |end| end.saturating_sub(BEFORE_THE_END));
        let credential = Arc::new(credential);
        if let Ok(end) = end {
            *kept = Some((Arc::clone(&credential), end));
        }
        Ok(credential)
    }
}
