//! Tells the linker that Node itself provides the Node-API symbols, and that the addon is never to be unloaded.
fn main() {
    napi_build::setup();
    // Node unloads an addon when the worker thread that loaded it ends, but threads of the addon, and what the allocator
    // keeps per thread, may outlive that worker. (macOS never unloads what has thread-local variables.)
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
