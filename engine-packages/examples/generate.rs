//! Writes the SDK of a schema into a folder: `generate Python SCHEMA OUT`.

use std::path::Path;
use std::process::ExitCode;

use maloko_packages::{SdkFile, python, schema};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [language, document, out] = &arguments[..] else {
        eprintln!("usage: generate Python SCHEMA OUT");
        return ExitCode::FAILURE;
    };
    match written(language, Path::new(document), Path::new(out)) {
        Ok(files) => {
            println!("{files} files");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn written(language: &str, document: &Path, out: &Path) -> Result<usize, Box<dyn std::error::Error>> {
    let package = schema::read(&std::fs::read_to_string(document)?)?;
    let files: Vec<SdkFile> = match language {
        "Python" => python::generate(&package)?,
        other => return Err(format!("no SDKs are made for '{other}'").into()),
    };
    for file in &files {
        let path = out.join(&file.path);
        std::fs::create_dir_all(path.parent().unwrap_or(out))?;
        std::fs::write(path, &file.text)?;
    }
    Ok(files.len())
}
