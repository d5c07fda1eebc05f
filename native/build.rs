//! Compiles the layout hook's C core, which is the kernel module's, too.

/// From the folder of the crate.
const FOLDER: &str = "../layout_hint";

fn main() {
    let sources = ["hook/bm_hook.c", "hook/bm_sync.c"].map(|file| format!("{FOLDER}/{file}"));
    let home = "src/hook/home.c".to_owned();
    for path in [format!("{FOLDER}/hook"), format!("{FOLDER}/include"), home.clone()] {
        println!("cargo:rerun-if-changed={path}");
    }
    cc::Build::new()
        .std("c99")
        .warnings(true)
        .include(format!("{FOLDER}/include"))
        .include(format!("{FOLDER}/hook"))
        .files(sources)
        .file(home)
        .compile("birthmark_hook");
}
