//! Files of earlier versions, whose keys have moved, are rewritten.

use crate::common::{LEAST, WHOLE, missing, parse, rewritten};
use sojourn_params::Described;
use sojourn_scenario::apps::App;
use sojourn_scenario::{Files, Scenario};
use sojourn_tcp::Profile;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Scenario files of the gallery.
fn gallery() -> Vec<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios"));
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries(folder).partition(|path| path.is_dir());
    let files = files.into_iter().chain(folders.iter().flat_map(|folder| entries(folder)));
    files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect()
}

fn read(path: &Path, text: &str) -> Scenario {
    let folder = path.parent().unwrap().to_path_buf();
    let files: Files = Rc::new(move |name| std::fs::read(folder.join(name)).map_err(|_| missing(name)));
    let name = path.display().to_string();
    let read = Scenario::parse_beside(text.as_bytes(), &name, &[], &files);
    read.unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Every file is read once it is rewritten; only lines with keys that have moved change.
#[test]
fn the_gallery_is_read() {
    let gallery = gallery();
    assert!(gallery.len() > 80, "{gallery:?}");
    for path in gallery {
        let before = std::fs::read_to_string(&path).unwrap();
        let after = rewritten(&before).unwrap();
        let text = after.as_ref().unwrap_or(&before);
        read(&path, text);
        assert_eq!(rewritten(text), Ok(None));
        // All other lines are as they were, and in their order.
        let mut left = text.lines();
        for line in before.lines().filter(|line| !is_moved(line)) {
            assert!(left.any(|now| now == line), "{}: {line}", path.display());
        }
    }
}

/// True for a line with a key that a rewritten file has elsewhere.
fn is_moved(line: &str) -> bool {
    let key = line.split('=').next().unwrap_or_default().trim();
    ["app", "tcp", "trace"].contains(&key)
        || Profile::has(key)
        || App::ENTRIES.iter().any(|entry| entry.has(key))
}

/// A group of flows of an earlier version, and the same as it is written now.
#[test]
fn a_rewritten_group_is_the_same_traffic() {
    for (before, after) in [
        ("app = \"web\"\nobjects = 20", "app = { web = { objects = 20 } }"),
        ("objects = 20\napp = \"web\"", "app = \"web:objects=20\""),
        ("reads = \"1 Mbit/s\"", "app = { bulk = { reads = \"1 Mbit/s\" } }"),
        ("app = \"mice\"\npreset = \"arm_pfc\"\ncount = 3", "app = \"mice:preset=arm_pfc\"\ncount = 3"),
        (
            "app = \"cbr\"\nrate = \"1 Mbit/s\"\nsize.table = [[\"100 B\", 0.5], [\"1 kB\", 0.5]]",
            "app.cbr = { rate = \"1 Mbit/s\", size = { table = [[\"100 B\", 0.5], [\"1 kB\", 0.5]] } }",
        ),
        (
            "app = \"transfer\"\n[flows.size]\npareto = \"10 kB\"\nshape = 1.2",
            "app.transfer.size = { pareto = \"10 kB\", shape = 1.2 }",
        ),
        (
            "app = \"video\"\nladder = [\n  \"1 Mbit/s\", # low\n  \"2 Mbit/s\",\n]",
            "app.video.ladder = [\"1 Mbit/s\", \"2 Mbit/s\"]",
        ),
        ("sack = true\nmin_rto = \"1 s\"", "tcp = { sack = true, min_rto = \"1 s\" }"),
        ("sack = true\ntcp.min_rto = \"1 s\"", "tcp = { sack = true, min_rto = \"1 s\" }"),
        ("sack = true\n[flows.tcp]\nmin_rto = \"1 s\"", "tcp = { sack = true, min_rto = \"1 s\" }"),
        (
            "app = \"rrul\"\nreads = \"1 Mbit/s\"\ntimestamps = true",
            "app = \"rrul:reads=1 Mbit/s\"\ntcp.timestamps = true",
        ),
    ] {
        let file = |lines: &str| format!("{LEAST}{lines}\n");
        let now = rewritten(&file(before)).unwrap().expect(before);
        let now = parse(&now).unwrap_or_else(|errors| panic!("{errors}\n{now}"));
        assert_eq!(Ok(now), parse(&file(after)), "{before}");
        assert_eq!(rewritten(&file(after)), Ok(None), "{after}");
    }
}

/// A comment at a key that has moved stays in the file.
#[test]
fn comments_stay() {
    let before = format!(
        "{LEAST}# the pages\napp = \"web\" # of a shop\n# as measured\nobjects = 20 # small ones\nsize = \"1 kB\" # each\n\
         # old hosts\nsack = false # of 1995\n# all at once\nstart = \"0 s\"\n"
    );
    let now = rewritten(&before).unwrap().unwrap();
    assert!(parse(&now).is_ok(), "{now}");
    for comment in
        ["the pages", "of a shop", "as measured", "small ones", "each", "old hosts", "of 1995", "all at once"]
    {
        assert_eq!(now.matches(&format!("# {comment}\n")).count(), 1, "{comment}:\n{now}");
    }
    assert!(
        now.ends_with("# all at once\nstart = \"0 s\"\n") || now.contains("# all at once\nstart = \"0 s\"\n"),
        "{now}"
    );
}

#[test]
fn ends_of_lines_stay() {
    let before = format!("{LEAST}# the pages\napp = \"web\"\nobjects = 20\n");
    let after = rewritten(&before).unwrap().unwrap();
    assert_eq!(rewritten(&before.replace('\n', "\r\n")), Ok(Some(after.replace('\n', "\r\n"))));
}

#[test]
fn a_file_of_today_stays_as_it_is() {
    assert_eq!(rewritten(WHOLE), Ok(None));
    assert_eq!(rewritten(LEAST), Ok(None));
}
