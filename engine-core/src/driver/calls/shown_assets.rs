//! The assets that a provider was shown: what it returns of them is what it was given.

use crate::assets;
use crate::provider::Method;
use crate::value::PropertyMap;

/// The property bags of a call that hold assets.
pub(crate) fn shown_assets(method: &Method) -> Vec<PropertyMap> {
    let bags: &[&PropertyMap] = match method {
        Method::Configure { .. } | Method::Diff { .. } | Method::Delete { .. } | Method::Close => &[],
        Method::Check { olds, news } | Method::Update { olds, news, .. } => &[news, olds],
        Method::Create { inputs, .. } | Method::Find { inputs, .. } => &[inputs],
        Method::Read { props, .. } => &[props],
    };
    bags.iter().filter(|bag| assets::any_in(bag)).map(|bag| (*bag).clone()).collect()
}
