//! The scripts of the project.

use std::fs;
use std::path::Path;

/// Name (topic/script) and text of each script, in order of names.
pub(crate) fn all() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let entries = |place: &Path| {
        let mut paths: Vec<_> = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let name = |path: &Path| {
        path.strip_prefix(&folder).unwrap().with_extension("").to_str().unwrap().replace('\\', "/")
    };
    let files = entries(&folder).into_iter().flat_map(|topic| entries(&topic));
    files.map(|file| (name(&file), fs::read_to_string(&file).unwrap())).collect()
}
