//! `import`: from what the user wrote to the list that the engine works through.

pub(super) mod file;

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use maloko_core::operation::{AdoptedPackage, Adoption, ProviderChoice};
use maloko_core::provider::{ProviderReference, Revision};
use maloko_core::served_by::{ServedBy, served_by};
use maloko_core::state::StackName;
use maloko_core::urn::{Urn, package_of};
use maloko_plugins::{DeclaredPlugin, newest_of};

use crate::arguments::ImportArguments;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::language_host::Language;

use file::{ImportFile, ImportSpec, PLACEHOLDER, properties};

/// What `import` was asked for, beyond what all operations are.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImportRequest {
    file: Option<PathBuf>,
    single: ImportSpec,
    protect: bool,
    /// Write code for the program?
    pub(super) generate_code: bool,
    /// Where to; `None`: stdout.
    pub(super) out: Option<PathBuf>,
}

impl From<ImportArguments> for ImportRequest {
    fn from(arguments: ImportArguments) -> Self {
        // `NAME=URN`: Pulumi wants a name for the variable in its code; ours is the resource's own.
        let urn_of = |text: String| match text.split_once("=urn:") {
            Some((_, urn)) => format!("urn:{urn}"),
            None => text,
        };
        Self {
            file: arguments.file,
            single: ImportSpec {
                kind: arguments.r#type.unwrap_or_default(),
                name: arguments.name.unwrap_or_default(),
                id: arguments.id.unwrap_or_default(),
                parent: arguments.parent.map(urn_of).unwrap_or_default(),
                provider: arguments.provider.map(urn_of).unwrap_or_default(),
                properties: arguments.properties,
                ..ImportSpec::default()
            },
            protect: arguments.protect,
            generate_code: arguments.generate_code,
            out: arguments.out,
        }
    }
}

impl ImportRequest {
    /// The objects to take over into the stack. `sdks` says what the SDKs of packages ask for; it is asked once, and only where
    /// a package is to be found.
    pub(super) fn adoptions(
        &self,
        context: &Context,
        stack: &StackName,
        sdks: impl Fn() -> Vec<DeclaredPlugin>,
    ) -> Result<Vec<Adoption>> {
        let (list, place) = match &self.file {
            Some(file) => (ImportFile::read(context, file)?, format!("{}: ", file.display())),
            None => (ImportFile { resources: vec![self.single.clone()], ..ImportFile::default() }, String::new()),
        };
        let language = context.language_host.language();
        let sdks = LazyCell::new(&sdks as Sdks<'_>);
        Reader { list: &list, place, stack, language, protect: self.protect, sdks }.adoptions()
    }
}

type Sdks<'a> = &'a dyn Fn() -> Vec<DeclaredPlugin>;

struct Reader<'a> {
    list: &'a ImportFile,
    /// What messages begin with.
    place: String,
    stack: &'a StackName,
    language: Language,
    protect: bool,
    /// What the SDKs of packages ask for.
    sdks: LazyCell<Vec<DeclaredPlugin>, Sdks<'a>>,
}

impl Reader<'_> {
    fn adoptions(&self) -> Result<Vec<Adoption>> {
        let mut by_urn: BTreeMap<Urn, &str> = BTreeMap::new();
        let mut adoptions = Vec::with_capacity(self.list.resources.len());
        for spec in &self.list.resources {
            let adoption = self.adoption(spec)?;
            if by_urn.insert(adoption.urn.clone(), &spec.name).is_some() {
                return Err(self.wrong(spec, "another entry has the same type, name and parent; remove one of them"));
            }
            adoptions.push(adoption);
        }
        Ok(adoptions)
    }

    fn wrong(&self, spec: &ImportSpec, what: &str) -> Failure {
        Failure::configuration(format!("{}resource '{}': {what}", self.place, spec.name))
    }

    fn adoption(&self, spec: &ImportSpec) -> Result<Adoption> {
        if spec.name.is_empty() {
            return Err(self.wrong(spec, "it has no name; give it one"));
        }
        if !spec.component && (spec.id.is_empty() || spec.id == PLACEHOLDER) {
            return Err(
                self.wrong(spec, "it has no id yet: write the id of the object that exists, or take the entry out")
            );
        }
        if spec.component && !spec.id.is_empty() {
            return Err(self.wrong(spec, "a component has no id; take the id out, or \"component\""));
        }
        let (kind, by_type) = self.kind(spec)?;
        let typed_by_provider = matches!(by_type, ProviderChoice::Named(_));
        let parent = (!spec.parent.is_empty()).then(|| self.resource(spec, "parent", &spec.parent, 0)).transpose()?;
        let provider = if spec.provider.is_empty() { by_type } else { self.provider(spec)? };
        let package = self.package(spec, &kind)?;
        Ok(Adoption {
            urn: self.urn_of(&kind, spec, parent.as_ref()),
            kind,
            typed_by_provider,
            custom: !spec.component,
            id: spec.id.clone(),
            parent,
            provider,
            package,
            properties: spec.properties.clone(),
            inputs: properties(&spec.inputs),
            outputs: properties(&spec.outputs),
            protect: self.protect,
        })
    }

    /// What the list tells of its package, else what an SDK of that does.
    fn package(&self, spec: &ImportSpec, kind: &str) -> Result<Option<Box<AdoptedPackage>>> {
        if spec.component || served_by(kind) != ServedBy::Plugin {
            return Ok(None);
        }
        let name = package_of(kind);
        let of_sdk = || newest_of(&self.sdks, name).map(DeclaredPlugin::adopted_package);
        let told = spec.package(name).map_err(|reason| self.wrong(spec, &reason))?;
        Ok(told.or_else(of_sdk).map(Box::new))
    }

    fn urn_of(&self, kind: &str, spec: &ImportSpec, parent: Option<&Urn>) -> Urn {
        let name = if spec.logical_name.is_empty() { &spec.name } else { &spec.logical_name };
        let above = parent.map_or("", Urn::qualified_type);
        Urn::new(self.stack.stack(), self.stack.project(), above, kind, name)
    }

    /// The type token, and the provider if the type was named by that.
    fn kind(&self, spec: &ImportSpec) -> Result<(String, ProviderChoice)> {
        if spec.kind.split(':').count() == 3 && !spec.kind.contains('#') {
            return Ok((spec.kind.clone(), ProviderChoice::OfItsType));
        }
        match self.named(&spec.kind) {
            Some(named) if !spec.component => {
                Ok((format!("pulumi-{}:dynamic:Resource", self.language.name()), ProviderChoice::Named(named)))
            }
            _ => Err(self.wrong(
                spec,
                &format!(
                    "'{}' is not a type: write a type token (package:module:Name) or the place of the provider ({})",
                    spec.kind,
                    self.form()
                ),
            )),
        }
    }

    fn form(&self) -> &'static str {
        match self.language {
            Language::Python => "module:Class",
            Language::NodeJs => "file#export",
        }
    }

    /// The reference to a provider at a place that the user wrote.
    fn named(&self, text: &str) -> Option<Arc<ProviderReference>> {
        let separator = match self.language {
            Language::Python => ':',
            Language::NodeJs => '#',
        };
        let (module, name) = text.split_once(separator)?;
        if module.is_empty() || name.is_empty() || name.contains(separator) {
            return None;
        }
        Some(Arc::new(ProviderReference {
            maloko: 1,
            language: self.language.name().to_owned(),
            module: module.to_owned(),
            name: name.to_owned(),
            attributes: None,
            incomplete: None,
            lacks_delete: false,
            revision: Revision::default(),
        }))
    }

    fn provider(&self, spec: &ImportSpec) -> Result<ProviderChoice> {
        let text = &spec.provider;
        let is_known = self.list.name_table.contains_key(text) || text.starts_with("urn:");
        if !is_known && let Some(named) = self.named(text) {
            return Ok(ProviderChoice::Named(named));
        }
        let urn = self.resource(spec, "provider", text, 0)?;
        // A provider resource of a dynamic package, as Pulumi's lists name it, says nothing of the object that serves.
        let of_type = urn.provider_package().is_some() && served_by(urn.own_type()) != ServedBy::ItsPlugin;
        Ok(if of_type { ProviderChoice::OfItsType } else { ProviderChoice::OfResource(urn) })
    }

    /// The URN of a resource by the name table, by the name of an entry, or written out.
    fn resource(&self, spec: &ImportSpec, member: &str, text: &str, depth: usize) -> Result<Urn> {
        let unknown = || {
            let what = format!(
                "its {member} '{text}' is neither a URN nor a name of \"nameTable\" or of an entry{}",
                if member == "provider" {
                    format!(", nor the place of a provider ({})", self.form())
                } else {
                    String::new()
                }
            );
            self.wrong(spec, &what)
        };
        if let Some(urn) =
            self.list.name_table.get(text).map(String::as_str).or_else(|| text.starts_with("urn:").then_some(text))
        {
            return Urn::parse(urn).ok_or_else(|| self.wrong(spec, &format!("its {member} '{urn}' is not a URN")));
        }
        let entry = self.list.resources.iter().find(|entry| entry.name == text).ok_or_else(unknown)?;
        if depth > self.list.resources.len() {
            return Err(self.wrong(spec, "its parents go round in a circle"));
        }
        let (kind, _) = self.kind(entry)?;
        let parent = if entry.parent.is_empty() {
            None
        } else {
            Some(self.resource(entry, "parent", &entry.parent, depth + 1)?)
        };
        Ok(self.urn_of(&kind, entry, parent.as_ref()))
    }
}
