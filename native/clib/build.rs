//! Names the library as programs that are linked with it will look for it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libbirthmark.so.0");
}
