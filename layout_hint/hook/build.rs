//! Compiles the layout hook's C core, which is the kernel module's, too.

const SOURCES: [&str; 3] = ["bm_hook.c", "bm_sync.c", "src/home.c"];
const HEADERS: [&str; 3] = ["bm_hook.h", "bm_sync.h", "../include"];

fn main() {
    for path in SOURCES.iter().chain(&HEADERS) {
        println!("cargo:rerun-if-changed={path}");
    }
    cc::Build::new()
        .std("c99")
        .warnings(true)
        .include("../include")
        .include(".")
        .files(SOURCES)
        .compile("birthmark_hook");
}
