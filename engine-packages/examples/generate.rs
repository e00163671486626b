//! `generate python|nodejs SCHEMA OUT` writes an SDK into the folder OUT.

use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [language, schema, out] = &words[..] else { return Err("generate python|nodejs SCHEMA OUT".into()) };
    let package = maloko_packages::schema::read(&fs::read_to_string(schema)?)?;
    let files = match language.as_str() {
        "nodejs" => maloko_packages::nodejs::generate(&package)?,
        other => return Err(format!("no generator for {other}").into()),
    };
    for file in files {
        let path = Path::new(out).join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new(out)))?;
        fs::write(path, file.text)?;
    }
    Ok(())
}
