//! `package`: SDKs of packages, made here from the schemas of their plugins.

mod add;
mod link;
mod listed;
mod rm;
mod sdk;
mod show;
mod source;

use maloko_packages::SdkLanguage;

use crate::arguments::{PackageCommand, PackageGenSdk, SdkLanguage as Asked};
use crate::context::Context;
use crate::failure::Result;
use crate::language_host::Language;
use crate::project::RunBy;

pub(crate) use add::{make_listed, use_made};

/// Runs a command of `package`.
pub(crate) async fn run(context: &Context, command: &PackageCommand) -> Result<()> {
    match command {
        PackageCommand::Add(arguments) => add::run(context, arguments).await,
        PackageCommand::GenSdk(arguments) => generate(context, arguments).await,
        PackageCommand::GetSchema(source) => show::schema(context, source).await,
        PackageCommand::Info(arguments) => show::info(context, arguments).await,
        PackageCommand::Ls(arguments) => listed::run(context, arguments),
        PackageCommand::Rm(arguments) => rm::run(context, arguments),
    }
}

async fn generate(context: &Context, arguments: &PackageGenSdk) -> Result<()> {
    let mut found = show::find(context, &arguments.source).await?;
    if let Some(version) = &arguments.version
        && found.package.version.is_empty()
    {
        found.package.version.clone_from(version);
    }
    let languages: &[SdkLanguage] = match arguments.language {
        Some(Asked::Python) => &[SdkLanguage::Python],
        Some(Asked::Nodejs) => &[SdkLanguage::Node],
        Some(Asked::All) => &[SdkLanguage::Python, SdkLanguage::Node],
        None => match context.project().map(|project| project.run_by()) {
            Ok(RunBy::Binding(language)) => &[of(language)],
            _ => &[SdkLanguage::Python, SdkLanguage::Node],
        },
    };
    for language in languages {
        let folder = context.directory.join(&arguments.out).join(language.name());
        let how = sdk::How { generator: arguments.generator, origin: "", force: arguments.force };
        sdk::make(context, &found, *language, &folder, how).await?;
        context.console.line(&format!("made: {}", folder.display()));
    }
    Ok(())
}

/// The SDK that a language's programs use.
fn of(language: Language) -> SdkLanguage {
    match language {
        Language::Python => SdkLanguage::Python,
        Language::NodeJs => SdkLanguage::Node,
    }
}
