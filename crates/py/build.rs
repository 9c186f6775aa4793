//! Hashes the sources of the compiled half, which names its build: two builds of one version differ by it.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let crates = own.parent().unwrap_or(&own);
    let mut files = Vec::new();
    for entry in fs::read_dir(crates)? {
        let folder = entry?.path();
        let source = folder.join("src");
        if source.is_dir() {
            println!("cargo:rerun-if-changed={}", source.display());
            collect(&source, &mut files)?;
            files.push(folder.join("Cargo.toml"));
        }
    }
    // Versions of dependencies, where the tree is whole.
    let lock = crates.join("..").join("Cargo.lock");
    if lock.is_file() {
        println!("cargo:rerun-if-changed={}", lock.display());
        files.push(lock);
    }
    let mut named = Vec::new();
    for file in files {
        let name = file.strip_prefix(crates).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        named.push((name, fs::read(&file)?));
    }
    // The order of a folder's entries is that of the machine.
    named.sort();
    let mut hash = Fnv::default();
    for (name, content) in &named {
        for part in [name.as_bytes(), content] {
            hash.add(&(part.len() as u64).to_be_bytes());
            hash.add(part);
        }
    }
    println!("cargo:rustc-env=SOJOURN_BUILD={:032x}", hash.0);
    Ok(())
}

/// Adds the files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a of 128 bits (draft-eastlake-fnv, section 5).
struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    fn add(&mut self, data: &[u8]) {
        for &byte in data {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}
