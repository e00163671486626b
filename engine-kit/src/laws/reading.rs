//! Laws of `read`, `delete`, import and of what was kept.

use super::Finding;
use super::exchange::{End, Held, Host, Operation, broken, broken_by_error};

/// L8.
pub(super) async fn deleted_is_gone(host: &Host) -> Held {
    let id = host.make().await?.id.unwrap_or_default();
    host.save().await;
    destroyed(host, |error| Finding::DeleteFails { error }).await?;
    if let Some(ids) = host.ids().await
        && ids.contains(&id)
    {
        return Err(broken(&Finding::StillThere { ids }));
    }
    host.restore().await;
    destroyed(host, |error| Finding::SecondDeleteFails { error }).await?;
    host.need("read", "to see whether it says that the object is gone")?;
    host.restore().await;
    let ran = host.run(Operation::Refresh).await;
    if let Some(error) = ran.error {
        return Err(broken_by_error(&Finding::ReadFailsWhenGone { error }));
    }
    if ran.id.is_some() { Err(broken(&Finding::ReadFindsDeleted { id })) } else { Ok(()) }
}

async fn destroyed(host: &Host, otherwise: impl Fn(String) -> Finding) -> Result<(), End> {
    match host.run(Operation::Destroy).await.error {
        None => Ok(()),
        Some(error) => Err(broken_by_error(&otherwise(error))),
    }
}
