//! What flows over TCP transfer, and how they come and go.

use crate::common::{LEAST, parse};
use serde_json::Value as Json;
use sojourn_scenario::{App, Arrivals, Faults, Files, Scenario, Transfers};
use sojourn_units::{Rate, Span};
use std::rc::Rc;

/// The least scenario with these lines in its group of flows, and a file of arrivals beside it.
fn with(lines: &str) -> Result<Scenario, Faults> {
    let text = LEAST.replace("[[flows]]", &format!("[[flows]]\n{}", lines.replace("; ", "\n")));
    let files: Files = Rc::new(|name: &str| match name {
        "a.csv" => Ok(b"1 s, 10 kB\n2 s\n".to_vec()),
        "late.csv" => Ok(b"60 s\n".to_vec()),
        _ => Err(format!("{name} is not there")),
    });
    Scenario::parse_beside(text.as_bytes(), "f.toml", &[], &files)
}

fn without_nulls(json: Json) -> Json {
    match json {
        Json::Object(table) => table
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Json::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

const GROUPS: &[&str] = &[
    "app = \"transfer\"; size = \"1 MB\"; arrivals = { poisson = \"50 ms\" }",
    "app = \"transfer\"; size = { pareto = \"10 kB\", shape = 1.2 }; arrivals = { every = \"1 s\", batch = [0, 5] }; count = 9",
    "app = \"transfer\"; size = \"12 packets\"; arrivals = { file = \"a.csv\" }",
    "app = \"mice\"",
    "app = \"mice\"; size = { exponential = \"20 packets\" }; idle = \"1 s\"; lifetime = { exponential = \"10 s\" }",
    "app = \"http\"; count = 150",
    "app = \"web\"; objects = 60; connections = 4; size = \"1 kB\"; request = \"300 B\"",
    "app = \"video\"; ladder = [\"1 Mbit/s\", \"3 Mbit/s\"]; chunk = \"2 s\"; reservoir = \"8 s\"; cushion = \"20 s\"",
    "app = \"video\"",
    "app = \"game\"; every = \"50 ms\"",
    "app = \"bulk\"; arrivals = { poisson = \"1 s\" }; lifetime = \"20 s\"",
    "app = \"rrul\"; cc = \"cubic\"; ecn = true; stop = \"50 s\"",
    "app = \"voip\"; arrivals = { poisson = \"1 s\" }; lifetime = { exponential = \"20 s\" }",
];

#[test]
fn the_json_reads_back() {
    for lines in GROUPS {
        let scenario = with(lines).unwrap_or_else(|faults| panic!("{lines}: {faults}"));
        let json = toml::to_string(&without_nulls(scenario.to_json())).unwrap();
        let files: Files = Rc::new(|_: &str| Ok(b"1 s, 10 kB\n2 s\n".to_vec()));
        let back = Scenario::parse_beside(json.as_bytes(), "f.toml", &[], &files);
        assert_eq!(back.unwrap_or_else(|faults| panic!("{json}: {faults}")), scenario, "{json}");
        assert!(!scenario.describe().is_empty());
    }
}

/// Where the file says nothing, it is as the papers have it.
#[test]
fn presets_are_those_of_the_papers() {
    let of = |lines: &str| with(lines).unwrap().flows[0].app.clone();
    let App::Transfers(Transfers::Mice(mice)) = of("app = \"mice\"") else { panic!() };
    assert_eq!(
        (mice.size.to_string(), mice.idle.to_string()),
        ("exponential of mean 12 packets".into(), "0 s".into())
    );
    let App::Transfers(Transfers::Mice(http)) = of("app = \"http\"") else { panic!() };
    assert_eq!((http.size, http.idle.to_string()), (mice.size, "exponential of mean 3 s".into()));
    let App::Transfers(Transfers::Web(web)) = of("app = \"web\"") else { panic!() };
    assert_eq!((web.objects, web.connections, web.size.to_string()), (50, 6, "10 kB".into()));
    let App::Transfers(Transfers::Video(video)) = of("app = \"video\"") else { panic!() };
    assert_eq!((video.ladder.len(), video.ladder[9]), (10, Rate::parse("5.8 Mbit/s").unwrap()));
    assert_eq!([video.chunk, video.reservoir, video.cushion], [4, 90, 126].map(Span::from_secs));
    let arriving = with(GROUPS[0]).unwrap();
    assert_eq!(
        (arriving.flows[0].count, &arriving.flows[0].arrivals),
        (1000, &Some(Arrivals::Poisson(Span::from_millis(50))))
    );
    assert_eq!(parse(LEAST).unwrap().flows[0].arrivals, None);
}

/// Six classes; the flows down and their ACKs go the other way.
#[test]
fn a_response_under_load_is_six_classes() {
    let scenario = with("app = \"rrul\"; count = 2; sack = true").unwrap();
    let names: Vec<(&str, u32)> = scenario.flows.iter().map(|class| (&class.name[..], class.count)).collect();
    let pings = ["rrul-ping_be", "rrul-ping_bk", "rrul-ping_ef", "rrul-ping_icmp"].map(|name| (name, 2));
    assert_eq!(names[..2], [("rrul-up", 8), ("rrul-down", 8)]);
    assert_eq!(names[2..], pings);
    let [up, down, ping, ..] = &scenario.flows[..] else { panic!() };
    assert_eq!((&up.route, &up.back), (&down.back, &down.route));
    assert_eq!((&ping.route, ping.app.name()), (&up.route, "ping"));
    assert!(up.profile.sack == Some(true) && down.profile.sack == Some(true));
}

/// The law is told of flows that stay; of those that arrive nobody knows the number.
#[test]
fn a_site_counts_those_that_stay() {
    let site = |text: &str| with(text).unwrap().site(0);
    assert_eq!(site("app = \"mice\"; count = 7").flows, Some(7.0));
    let arriving = site(
        "app = \"transfer\"; size = \"1 MB\"; arrivals = { poisson = \"1 s\" }; access = { delay = \"5 ms\" }",
    );
    assert_eq!((arriving.flows, arriving.base_rtt), (None, Some(Span::from_millis(60))));
    let both = site(
        "app = \"transfer\"; size = \"1 MB\"; arrivals = { poisson = \"1 s\" }; [[flows]]; count = 3; access = { delay = \"1 ms\" }",
    );
    assert_eq!((both.flows, both.base_rtt), (Some(3.0), Some(Span::from_millis(44))));
}

#[test]
fn what_cannot_be_is_told_in_one_line() {
    for (lines, said) in [
        ("app = \"transfer\"", "size: app = \"transfer\" needs a size; legal: size = \"1 MB\", for example"),
        (
            "app = \"transfer\"; size = \"0 B\"",
            "size: is a transfer of nothing; legal: more than 0 on average, at most 1000 GB",
        ),
        (
            "app = \"mice\"; size = \"2e12 B\"",
            "size: 2000 GB is out of range; legal: more than 0 on average, at most 1000 GB",
        ),
        (
            "size = \"1 MB\"",
            "size: is not for app = \"bulk\"; legal: with app = \"transfer\", \"mice\", \"http\", \"web\", \"game\", \"cbr\", \"poisson\", \"on_off\", \"lrd\", \"ping\"",
        ),
        ("idle = \"1 s\"", "idle: is not for app = \"bulk\"; legal: with app = \"mice\", \"http\", \"web\""),
        (
            "app = \"mice\"; reads = \"1 Mbit/s\"",
            "reads: is not for app = \"mice\"; legal: with app = \"bulk\"",
        ),
        (
            "app = \"mice\"; rate = \"1 Mbit/s\"",
            "rate: is not for app = \"mice\"; legal: with app = \"cbr\", \"poisson\", \"on_off\", \"lrd\"",
        ),
        ("app = \"web\"; objects = 0", "objects: 0 is out of range; legal: 1 to 100000"),
        ("app = \"web\"; request = \"20 B\"", "request: \"20 B\" is out of range; legal: 28 B to 65535 B"),
        (
            "app = \"video\"; ladder = [\"2 Mbit/s\", \"1 Mbit/s\"]",
            "ladder: [\"2 Mbit/s\", \"1 Mbit/s\"] is out of range; legal: 1 kbit/s to 100 Gbit/s, each more than the one before",
        ),
        (
            "app = \"video\"; ladder = []",
            "ladder: [] is out of range; legal: 1 kbit/s to 100 Gbit/s, each more than the one before",
        ),
        (
            "app = \"video\"; chunk = \"200 s\"",
            "chunk: 200 s, two of which are more than reservoir and cushion of 216 s; legal: at most half",
        ),
        (
            "arrivals = { poisson = \"1 s\" }; start = \"0 s\"",
            "start: is given beside arrivals; legal: one of the two",
        ),
        (
            "arrivals = { poisson = \"1 s\" }; stop = \"0 s\"",
            "stop: 0 s is before any arrival; legal: more than 0",
        ),
        ("arrivals = { file = \"none.csv\" }", "arrivals: none.csv is not there"),
        (
            "arrivals = { file = \"late.csv\" }",
            "arrivals: the first is at 60 s, after the end of the run at 60 s; legal: one below",
        ),
        ("lifetime = \"0 s\"", "lifetime: \"0 s\" is out of range; legal: more than 0 on average"),
        (
            "app = \"rrul\"; lifetime = \"1 s\"",
            "lifetime: is not for app = \"rrul\"; legal: with app = \"bulk\", \"transfer\", \"mice\", \"http\", \"web\", \"video\", \"game\", \"cbr\", \"poisson\", \"on_off\", \"lrd\", \"voip\", \"ping\"",
        ),
    ] {
        let told = with(lines).expect_err(lines).to_string();
        assert_eq!(told.split_once("flows[0].").unwrap().1, said, "{lines}");
    }
    let clash = with("app = \"rrul\"; name = \"a\"; [[flows]]; name = \"a-up\"").unwrap_err();
    assert!(clash.to_string().contains("its class \"a-up\" has the name of another"), "{clash}");
}
