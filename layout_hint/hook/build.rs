//! Compiles the layout hook's C core, which is the kernel module's, too, and what the helper calls.

const CORE: [&str; 3] = ["bm_hook.c", "bm_sync.c", "src/home.c"];
const DEVICE: [&str; 1] = ["src/device.c"];
const HEADERS: [&str; 3] = ["bm_hook.h", "bm_sync.h", "../include"];

fn main() {
    for path in CORE.iter().chain(&DEVICE).chain(&HEADERS) {
        println!("cargo:rerun-if-changed={path}");
    }
    for (feature, sources) in [("CARGO_FEATURE_CORE", &CORE[..]), ("CARGO_FEATURE_DEVICE", &DEVICE)]
    {
        if std::env::var_os(feature).is_some() {
            cc::Build::new()
                .std("c99")
                .warnings(true)
                .include("../include")
                .include(".")
                .files(sources)
                .compile(&feature.replace("CARGO_FEATURE", "birthmark").to_lowercase());
        }
    }
}
