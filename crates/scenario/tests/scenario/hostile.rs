//! Any file is read or rejected with error lines; nothing panics.

use crate::common::{LEAST, WHOLE, parse, qdisc, rewritten};
use proptest::prelude::*;
use sojourn_scenario::Scenario;

/// Reads and, where that succeeds, uses all of it.
fn survives(text: &[u8], overrides: &[(String, String)]) {
    match Scenario::parse(text, "f.toml", overrides) {
        Ok(scenario) => {
            assert!(scenario.to_json().is_object());
            let label = qdisc(&scenario).to_string();
            assert_eq!(scenario.with_qdisc(&label), Ok(scenario.clone()));
            assert_eq!(parse(&scenario.to_toml()), Ok(scenario));
        }
        Err(errors) => {
            assert!(!errors.lines().is_empty());
            for line in errors.lines() {
                assert!(line.starts_with("f.toml:") || line.starts_with("--set "), "{line}");
                assert!(!line.contains(['\n', '\r', '\0']), "{line}");
            }
        }
    }
}

/// Pieces of scenarios, and foreign ones.
fn piece() -> impl Strategy<Value = String> {
    let pieces = [
        "[[flows]]\n",
        "[bottleneck]\n",
        "[[at]]\n",
        "[at.set]\n",
        "[flows.access]\n",
        "count = ",
        "rate = ",
        "set = ",
        "delay = ",
        "buffer = ",
        "qdisc = ",
        "time = ",
        "\"",
        "'''",
        "{",
        "}",
        "[",
        "]",
        "=",
        ",",
        ".",
        "\n",
        "#",
        "-",
        "nan",
        "inf",
        "1e999",
        "0x7fffffffffffffff",
        "99999999999999999999",
        "1979-05-27",
        "true",
        "\"1e400 s\"",
        "\"18446744073709551615 ns\"",
        "\"0 packets\"",
        "\"1e-300 Mbit/s\"",
        "\"1 ns\"",
        "\"584 h\"",
        "\u{feff}",
        "spread = [\"1 s\", \"0 s\"]",
        "law = \"red\"",
        "\"pi:a=1,b=0\"",
        "\"red:weight=nan\"",
        "bottleneck.rate",
        "app = ",
        "app = { web = { objects = 2 } }\n",
        "objects = 20\n",
        "tcp = { sack = true }\n",
        "sack = true\n",
        "trace = { lte = { mean = \"1 Mbit/s\" } }\n",
        "trace = { model = \"lte\" }\n",
    ];
    prop_oneof![prop::sample::select(pieces.to_vec()).prop_map(String::from), "[ -~]{0,6}", "\\PC{0,3}",]
}

/// A scenario with an entry of each catalogue in a table of its own, and a graph.
const ENTRIES: &str = r#"title = "Entries with parameters"
duration = "30 s"
[bottleneck]
trace = { satellite = { mean = "20 Mbit/s", interval = "5 s" } }
delay = "20 ms"
buffer = "200 packets"
qdisc = { law = "red", min = "50 packets", max = "150 packets" }
impairments = { loss = 0.01, bursts = { enter = 0.002, leave = 0.2 }, jitter = "2 ms" }
framing = { overhead = "44 B", cells = true }
back = { rate = "2 Mbit/s", delay = "5 ms" }
[[flows]]
app = { web = { objects = 20, size = { exponential = "2 kB" } } } # pages
cc = { name = "cubic", hystart = true }
tcp = { sack = true, min_rto = "1 s" }
[[flows]]
app.video.ladder = ["1 Mbit/s", "2 Mbit/s"]
arrivals = { every = "5 s", batch = [0, 2] }
lifetime = { exponential = "10 s" }
[[flows]]
app = "lrd:rate=1 Mbit/s,hurst=0.7"
[[flows]]
[flows.app.cbr]
rate = "100 packets/s"
size = { table = [["100 B", 0.5], ["1 kB", 0.5]] }
[[at]]
time = "10 s"
set.bottleneck.qdisc = { max = "160 packets" }
"#;

/// The same as earlier versions had it.
const EARLIER: &str = r#"title = "Keys that have moved"
duration = "30 s"
[bottleneck]
trace = { model = "satellite", mean = "20 Mbit/s", interval = "5 s" }
delay = "20 ms"
[[flows]]
app = "web" # pages
objects = 20
size = { exponential = "2 kB" }
sack = true
tcp = { prr = false }
[[flows]]
app = "cbr"
rate = "100 packets/s"
[flows.size]
table = [["100 B", 0.5], ["1 kB", 0.5]]
"#;

/// A valid text with some of its bytes replaced by pieces.
fn mutated() -> impl Strategy<Value = String> {
    let text = prop::sample::select(vec![WHOLE, LEAST, ENTRIES, EARLIER]);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, piece()), 1..4);
    (text, edits).prop_map(|(text, edits)| {
        let mut text = text.to_string();
        for (at, length, piece) in edits {
            let at = boundary(&text, at.index(text.len() + 1));
            let end = boundary(&text, (at + length).min(text.len()));
            text.replace_range(at..end.max(at), &piece);
        }
        text
    })
}

/// The last boundary of a character at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn mutated_scenarios(text in mutated()) {
        survives(text.as_bytes(), &[]);
        // A scenario of today stays as it is.
        if let Ok(Some(now)) = rewritten(&text) {
            prop_assert!(parse(&text).is_err(), "{now}");
            prop_assert!(!now.is_empty());
        }
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&bytes, &[]);
    }

    #[test]
    fn random_pieces(pieces in prop::collection::vec(piece(), 0..30)) {
        survives(pieces.concat().as_bytes(), &[]);
    }

    #[test]
    fn any_override(
        key in prop_oneof![
            "[a-z.\\[\\]0-9]{0,24}",
            prop::sample::select(vec!["title", "duration", "bottleneck", "bottleneck.qdisc", "bottleneck.qdisc.law", "flows",
                "flows.0", "flows[1].access", "flows.0.start", "flows.0.count", "at", "at[0].set", "at.0.time"])
                .prop_map(String::from),
        ],
        value in piece(),
    ) {
        survives(WHOLE.as_bytes(), &[(key, value)]);
    }

    #[test]
    fn any_qdisc(spec in prop_oneof!["\\PC{0,24}", "(red|pi|tail_drop|fifo):[a-z_]{0,6}=[0-9a-z.e-]{0,12}(,min=[0-9]{1,3}packets)?"]) {
        if let Err(errors) = parse(WHOLE).unwrap().with_qdisc(&spec) {
            prop_assert!(errors.lines().iter().all(|line| !line.is_empty() && !line.contains('\n')));
        }
    }
}

#[test]
fn the_texts_are_scenarios() {
    assert!(parse(ENTRIES).is_ok(), "{:?}", parse(ENTRIES));
    let now = rewritten(EARLIER).unwrap().unwrap();
    assert!(parse(&now).is_ok(), "{now}");
}

#[test]
fn deep_nesting_is_refused() {
    survives(format!("title = {}{}", "[".repeat(100_000), "]".repeat(100_000)).as_bytes(), &[]);
    survives(format!("{} = 1", vec!["a"; 10_000].join(".")).as_bytes(), &[]);
    survives(WHOLE.as_bytes(), &[(vec!["a"; 10_000].join("."), "{".repeat(10_000))]);
}

#[test]
fn large_files_take_little_time() {
    survives("[[flows]]\n".repeat(400_000).as_bytes(), &[]);
    let keys: Vec<String> = (0..150_000).map(|n| format!("qdisc.k{n} = 1")).collect();
    survives(format!("[bottleneck]\n{}", keys.join("\n")).as_bytes(), &[]);
    survives(format!("title = \"{}\"", "x".repeat(4 << 20)).as_bytes(), &[]);
    survives(format!("title = \"{}\"", "x".repeat(4_000_000)).as_bytes(), &[]);
    survives(format!("{} = 1", "x".repeat(4_000_000)).as_bytes(), &[]);
    survives(format!("x = {}", "\"=\" ".repeat(1_000_000)).as_bytes(), &[]);
    survives(format!("x = [{}", "=a".repeat(2_000_000)).as_bytes(), &[]);
}
