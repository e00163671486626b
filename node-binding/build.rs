//! Tells the linker that Node itself provides the Node-API symbols.
fn main() {
    napi_build::setup();
}
