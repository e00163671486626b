//! Who a registration is: its URN, and the state that it had, perhaps under a former one (docs/rules 2).

use crate::program::Resource;
use crate::rules::Rule;
use crate::urns;

use super::packages::is_default;
use super::{Halt, Model};

impl Model<'_> {
    /// The URNs of a resource's parent and of itself.
    pub(crate) fn place(&self, resource: &Resource) -> (String, String) {
        let token = urns::token(resource, resource.other_type);
        if is_default(resource) {
            return (String::new(), urns::urn(None, &token, &resource.name));
        }
        let parent = resource.parent.as_ref().and_then(|name| self.known.get(name));
        let parent = parent.map_or_else(urns::stack, |known| known.urn.clone());
        let urn = urns::urn(Some(&parent), &token, &resource.name);
        (parent, urn)
    }

    /// The same for a resource that registers now: no other one of the run may have its URN, or have had it.
    pub(crate) fn free_place(&mut self, resource: &Resource) -> Result<(String, String), Halt> {
        let (parent, urn) = self.place(resource);
        if self.registered.contains_key(&urn) {
            self.counts.hit(Rule::DuplicateUrn);
            return Err(Halt);
        }
        if self.claimed.contains(&urn) {
            self.counts.hit(Rule::AliasClash);
            return Err(Halt);
        }
        Ok((parent, urn))
    }

    /// The state that the resource had, perhaps under a former URN.
    pub(crate) fn find_old(
        &mut self,
        urn: &str,
        parent: &str,
        resource: &Resource,
    ) -> Result<(Option<usize>, Option<String>), Halt> {
        if let Some(slot) = self.find(urn) {
            return Ok((Some(slot), None));
        }
        for former in self.former(urn, parent, resource) {
            let Some(slot) = self.find(&former) else { continue };
            if self.registered.contains_key(&former) || !self.claimed.insert(former.clone()) {
                self.counts.hit(Rule::AliasClash);
                return Err(Halt);
            }
            return Ok((Some(slot), Some(former)));
        }
        Ok((None, None))
    }

    fn former(&self, urn: &str, parent: &str, resource: &Resource) -> Vec<String> {
        let old_parent = self.registered.get(parent).and_then(|earlier| earlier.formerly.clone());
        let own_name = crate::show::name(parent);
        let inherit = |child: &str| -> Option<String> {
            let former = old_parent.as_ref()?;
            let name = crate::show::name(child);
            let name = match name.strip_prefix(own_name) {
                Some(rest) => format!("{}{rest}", crate::show::name(former)),
                None => name.to_owned(),
            };
            Some(urns::urn(Some(former), urns::own_type(child), &name))
        };
        let mut found = Vec::new();
        let mut inherited = Vec::new();
        for alias in &resource.aliases {
            let above = match alias.parent.as_ref().and_then(|name| self.known.get(name)) {
                Some(known) => known.urn.clone(),
                None if alias.no_parent => urns::stack(),
                None => parent.to_owned(),
            };
            let formerly =
                self.registered.get(&above).and_then(|earlier| earlier.formerly.clone()).filter(|_| !alias.as_urn);
            let kind = urns::token(resource, alias.other_type);
            let name = alias.name.as_ref().unwrap_or(&resource.name);
            let former = urns::urn(Some(&formerly.unwrap_or(above)), &kind, name);
            inherited.extend(inherit(&former));
            found.push(former);
        }
        found.extend(inherit(urn));
        found.extend(inherited);
        found.retain(|former| former != urn);
        found
    }
}
