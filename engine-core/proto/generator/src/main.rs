//! Writes the Rust types of the messages: one module for each `.proto` file beside this crate.
//!
//! `cargo run -p maloko-proto -- PROTO_FOLDER OUTPUT_FOLDER`. A new protocol is a new `.proto` file with a package of its own.

use std::error::Error;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let (Some(protos), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: maloko-proto PROTO_FOLDER OUTPUT_FOLDER".into());
    };
    let mut files: Vec<PathBuf> = fs::read_dir(&protos)?
        .map(|entry| entry.map(|entry| entry.path()))
        // An error is kept, for `collect` to give it back.
        .filter(|path| !path.as_ref().is_ok_and(|path| path.extension() != Some(OsStr::new("proto"))))
        .collect::<Result<_, _>>()?;
    files.sort();
    let mut config = prost_build::Config::new();
    // Maps in one order: what is written must not depend on a hash.
    config.btree_map(["."]);
    // Values are written by hand: they may be nested more deeply than generated code decodes.
    config.extern_path(".values", "crate::wire::nested");
    config.out_dir(&output);
    config.compile_fds(protox::compile(&files, [&protos])?)?;
    Ok(())
}
