//! Compiles the check of images, which is the one that the kernel makes.

fn main() {
    let include = "../include";
    cc::Build::new()
        .file("src/image.c")
        .include(include)
        .flag_if_supported("-std=c99")
        .warnings(true)
        .extra_warnings(true)
        .compile("image");
    println!("cargo::rerun-if-changed=src/image.c");
    println!("cargo::rerun-if-changed={include}/birthmark.h");
    println!("cargo::rerun-if-changed={include}/birthmark_hint.h");
}
