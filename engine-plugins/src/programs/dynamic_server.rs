//! The servers of the SDKs that run the code of dynamic resources, for those that components' plugins made: in the
//! environments of these plugins, which have what the code needs.

use std::ffi::OsString;
use std::path::Path;

use maloko_core::plugin::PackageRequest;

use crate::programs::runtime_command::{PluginCommand, PluginRuntime, in_node_modules};
use crate::settings::PluginSettings;

/// Runs the module of Python's server with the folder of the component's plugin, in place of the program's, before all else
/// that is searched for modules: so the plugin itself is run.
const PYTHON: &str = "import runpy, sys; sys.path = [sys.argv.pop(1)] + [path for path in sys.path if path]; \
                      runpy.run_module('pulumi.dynamic', run_name='__main__', alter_sys=True)";

/// Has code look for its packages from the folder of the component's plugin on, and not from the program's, in which the
/// server works. The server makes modules of code without a place of their own.
const NODE: &str = "const [folder, server] = process.argv.splice(1, 2, 'dynamic-provider'); \
                    const Module = require('module'); const paths = Module._nodeModulePaths; \
                    Module._nodeModulePaths = (from) => paths(from === '.' ? folder : from); require(server)";

/// The command of the server for the code of `package` (`pulumi-python`, `pulumi-nodejs`) beside a component's plugin. The
/// error says why there is none.
pub(crate) fn beside(
    plugin: &PluginCommand,
    of: &PackageRequest,
    package: &str,
    settings: &PluginSettings,
) -> Result<PluginCommand, String> {
    let Some((runtime, folder)) = &plugin.runtime else {
        let what = format!("is the executable {}", plugin.program.display());
        return Err(unknown_environment(of, package, &what));
    };
    let (program, arguments): (_, Vec<OsString>) = match (package, runtime) {
        ("pulumi-python", PluginRuntime::Python) => {
            (plugin.program.clone(), vec!["-u".into(), "-c".into(), PYTHON.into(), folder.into()])
        }
        ("pulumi-nodejs", PluginRuntime::Node) => {
            let server = in_node_modules(folder, Path::new("@pulumi/pulumi/cmd/dynamic-provider"))?;
            (plugin.program.clone(), vec!["-e".into(), NODE.into(), "--".into(), folder.into(), server.into()])
        }
        _ => {
            return Err(format!(
                "the plugin of the package '{}' in {} runs with {runtime}, and the code is for {package}",
                of.name,
                folder.display()
            ));
        }
    };
    let variables = vec![("PULUMI_NODEJS_PROJECT", settings.project.clone())];
    Ok(PluginCommand { program, arguments, variables, runtime: None })
}

/// Why the server cannot run beside a plugin that is no program of a known runtime; `what` says what the plugin is.
pub(crate) fn unknown_environment(of: &PackageRequest, package: &str, what: &str) -> String {
    format!(
        "the plugin of the package '{}' {what}, so that the environment of its code is not known. Use a folder with a \
         PulumiPlugin.yaml, or start the SDK's server yourself and name its port: PULUMI_DEBUG_PROVIDERS={package}:PORT",
        of.name
    )
}

#[cfg(test)]
#[path = "dynamic_server_tests.rs"]
mod tests;
