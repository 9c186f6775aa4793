//! Applications, arrivals and lifetimes of flows.

use crate::common::{LEAST, missing};
use sojourn_scenario::{App, Diagnostics, Files, Scenario};
use std::rc::Rc;

/// The least scenario with these lines in its group of flows, and a file of arrivals beside it.
fn with(lines: &str) -> Result<Scenario, Diagnostics> {
    let text = LEAST.replace("[[flows]]", &format!("[[flows]]\n{}", lines.replace("; ", "\n")));
    let files: Files = Rc::new(|name: &str| match name {
        "a.csv" => Ok(b"1,10000\n2\n".to_vec()),
        "late.csv" => Ok(b"60\n".to_vec()),
        _ => Err(missing(name)),
    });
    Scenario::parse_beside(text.as_bytes(), "f.toml", &[], &files)
}

const GROUPS: &[&str] = &[
    "app = { transfer = { size = \"1 MB\" } }; arrivals = { poisson = \"50 ms\" }",
    "app = { transfer = { size = { pareto = \"10 kB\", shape = 1.2 } } }; arrivals = { every = \"1 s\", batch = [0, 5] }; count = 9",
    "app = { transfer = { size = \"12 packets\" } }; arrivals = { file = \"a.csv\" }",
    "app = \"mice\"",
    "app = { mice = { size = { exponential = \"20 packets\" }, idle = \"1 s\" } }; lifetime = { exponential = \"10 s\" }",
    "app = { mice = { preset = \"arm_pfc\" } }; count = 150",
    "app = { web = { objects = 60, connections = 4, size = \"1 kB\", request = \"300 B\" } }",
    "app = { video = { ladder = [\"1 Mbit/s\", \"3 Mbit/s\"], chunk = \"2 s\", reservoir = \"8 s\", cushion = \"20 s\" } }",
    "app = \"video\"",
    "app = { game = { every = \"50 ms\" } }",
    "app = \"bulk\"; arrivals = { poisson = \"1 s\" }; lifetime = \"20 s\"",
    "app = \"rrul\"; cc = \"cubic\"; ecn = true; stop = \"50 s\"",
    "app = \"voip\"; arrivals = { poisson = \"1 s\" }; lifetime = { exponential = \"20 s\" }",
];

/// The parts are all of the class, in order, with its mean base RTT.
#[test]
fn parts_by_rtt_are_the_class() {
    for (count, from, to, parts) in
        [(40, 5, 80, 8), (7, 20, 40, 2), (7, 20, 35, 1), (3, 80, 5, 3), (9, 40, 42, 1), (1, 5, 80, 1)]
    {
        let access = format!(
            "access = {{ rate = \"1 Gbit/s\", delay = {{ spread = [\"{from} ms\", \"{to} ms\"] }} }}"
        );
        let scenario = with(&format!("count = {count}; {access}")).unwrap();
        let of = scenario.parts_by_rtt(&scenario.flows[0], 1.5);
        assert_eq!(of.len(), parts, "{from} {to}: {of:?}");
        let flows = &scenario.flows[0];
        assert_eq!(of.iter().cloned().flatten().collect::<Vec<u32>>(), (0..count).collect::<Vec<u32>>());
        let rtts = of.iter().map(|part| part.len() as f64 * scenario.mean_base_rtt_of(flows, part.clone()));
        let mean = rtts.sum::<f64>() / f64::from(count);
        assert!((mean - scenario.mean_base_rtt(flows)).abs() < 1e-9, "{of:?}");
    }
}

#[test]
fn the_json_reads_back() {
    for lines in GROUPS {
        let scenario = with(lines).unwrap_or_else(|errors| panic!("{lines}: {errors}"));
        let json = scenario.to_toml();
        let files: Files = Rc::new(|_: &str| Ok(b"1,10000\n2\n".to_vec()));
        let back = Scenario::parse_beside(json.as_bytes(), "f.toml", &[], &files);
        let back = back.unwrap_or_else(|errors| panic!("{json}: {errors}"));
        assert!(back == scenario, "{json}");
    }
}

#[test]
fn presets_are_those_of_the_papers() {
    let of = |lines: &str| with(lines).unwrap().flows[0].app.clone();
    for lines in
        ["app = { mice = { preset = \"pi_pd\" } }", "app = { mice = { preset = \"pi_pd\", idle = \"0 s\" } }"]
    {
        let App::Mice(mice) = of(lines) else { panic!() };
        let draws = (mice.size().to_string(), mice.idle().to_string());
        assert_eq!(draws, ("exponential of mean 12 packets".into(), "0 s".into()));
    }
    let App::Mice(http) = of("app = { mice = { preset = \"arm_pfc\", size = \"5 kB\" } }") else { panic!() };
    assert_eq!(
        (http.size().to_string(), http.idle().to_string()),
        ("5000 B".into(), "exponential of mean 3 s".into())
    );
    let App::Web(web) = of("app = \"web\"") else { panic!() };
    assert_eq!((web.objects, web.connections, web.size.to_string()), (50, 6, "10 kB".into()));
}

/// Six classes; flows down and their ACKs have the opposite routes.
#[test]
fn a_response_under_load_is_six_classes() {
    let scenario = with("app = \"rrul\"; tcp.sack = true").unwrap();
    let names: Vec<(&str, u32)> = scenario.flows.iter().map(|class| (&class.name[..], class.count)).collect();
    assert_eq!(names[..2], [("rrul-up", 4), ("rrul-down", 4)]);
    let pings = ["rrul-ping", "rrul-ping-be", "rrul-ping-bk", "rrul-ping-ef"].map(|name| (name, 1));
    assert_eq!(names[2..], pings);
    let [up, down, ping, ..] = &scenario.flows[..] else { panic!() };
    assert_eq!((&up.route, &up.back), (&down.back, &down.route));
    assert_eq!((&ping.route, ping.app.name()), (&up.route, "ping"));
    assert!(up.profile.sack == Some(true) && down.profile.sack == Some(true));
}

#[test]
fn arrivals_of_a_file_and_names_of_classes_are_checked() {
    for (lines, expected) in [
        ("arrivals = { file = \"none.csv\" }", "arrivals.file: none.csv is not there"),
        (
            "arrivals = { file = \"late.csv\" }",
            "arrivals: the first is at 60 s, after the end; expected a time before duration and stop",
        ),
    ] {
        let errors = with(lines).expect_err(lines).to_string();
        assert_eq!(errors.split_once("flows[0].").unwrap().1, expected, "{lines}");
    }
    let clash = with("app = \"rrul\"; name = \"a\"; [[flows]]; name = \"a-up\"").expect_err("a clash");
    let expected = "flows[1].name: \"a-up\" is the name of a class before it; expected a name of its own";
    assert!(clash.to_string().contains(expected), "{clash}");
    let clash = with("name = \"rrul-up\"; [[flows]]; app = \"rrul\"").expect_err("a clash");
    let expected = "flows[1].name: makes classes, and \"rrul-up\" is the name of a class before it";
    assert!(clash.to_string().contains(expected), "{clash}");
    assert!(with("arrivals = { poisson = \"1 s\" }; stop = \"500 ms\"").is_ok());
}

/// The bound is on flows of a run: connections of web, sources of lrd, classes of rrul, and all possible arrivals.
#[test]
fn a_million_flows_are_a_million_connections() {
    let many = |flows: u64| {
        format!(
            "makes {flows} flows so far, each connection of web and each source of lrd for one; expected at most 1000000"
        )
    };
    let change = |count: u32| format!("; [[at]]; time = \"1 s\"; set = {{ \"a.count\" = {count} }}");
    let web = "name = \"a\"; app = { web = { connections = 50 } }; count = 10000";
    let lrd = "name = \"a\"; app = { lrd = { rate = \"1 Mbit/s\", sources = 1000 } }; count = 1000";
    let rrul = "app = \"rrul\"; count = 499998; start = \"0 s\"";
    for (valid, invalid, key, flows) in [
        (web.to_string(), web.replace("10000", "20001"), "flows[0].count", 1_000_050),
        (lrd.to_string(), lrd.replace("sources = 1000", "sources = 1001"), "flows[0].count", 1_001_000),
        (rrul.to_string(), rrul.replace("8;", "9;"), "flows[0].count", 1_000_002),
        (
            format!("{web}{}", change(20_000)),
            format!("{web}{}", change(20_001)),
            "at[0].set.a.count",
            1_000_050,
        ),
    ] {
        let parse = |lines: &str| {
            // The flows of the least scenario precede the schedule.
            let (group, at) = lines.split_once("; [[at]]").map_or((lines, String::new()), |(group, at)| {
                (group, format!("\n[[at]]{}", at.replace("; ", "\n")))
            });
            let text = LEAST.replace("[[flows]]", &format!("[[flows]]\n{}", group.replace("; ", "\n")));
            Scenario::parse(format!("{text}{at}").as_bytes(), "f.toml", &[])
        };
        parse(&valid).unwrap_or_else(|errors| panic!("{valid}: {errors}"));
        let errors = parse(&invalid).expect_err(&invalid);
        let [line] = &errors.lines()[..] else { panic!("{invalid}: {:?}", errors.lines()) };
        assert!(line.ends_with(&format!(" {key}: {}", many(flows))), "{line}");
    }
}

#[test]
fn the_random_streams_of_a_class_depend_on_it_alone() {
    let streams = |lines: &str| -> Vec<String> {
        with(lines)
            .unwrap_or_else(|errors| panic!("{errors}"))
            .flows
            .into_iter()
            .map(|class| class.stream)
            .collect()
    };
    let back = "from = \"right\"; to = \"left\"";
    assert_eq!(
        streams(&format!("{back}; [[flows]]; [[flows]]; {back}; [[flows]]")),
        ["bulk right-left", "bulk", "bulk right-left 2", "bulk2"]
    );
    assert_eq!(
        streams("name = \"mine\"; [[flows]]; name = \"other\"; stream = \"bulk 7\""),
        ["mine", "bulk 7"]
    );
    // A class without a name is numbered.
    assert_eq!(streams("[[flows]]; name = \"bulk\""), ["bulk2", "bulk"]);
    assert_eq!(streams("name = \"bulk\"; [[flows]]"), ["bulk", "bulk2"]);
    let calls = streams("app = \"rrul\"; [[flows]]; stream = \"rrul-up\"");
    assert_eq!((calls[0].as_str(), calls[6].as_str()), ("rrul2-up", "rrul-up"));
    assert_eq!(
        streams(&format!("app = \"rrul\"; {back}"))[..2],
        ["rrul right-left-up", "rrul right-left-down"]
    );
    for (lines, expected) in [
        (
            "stream = \"a\"; [[flows]]; name = \"a\"",
            "flows[1].name: \"a\" is what the random streams of \"bulk\" go by; expected another one",
        ),
        (
            "stream = \"a/b\"",
            "flows[0].stream: \"a/b\" is not allowed; expected letters, digits, -, _ and spaces",
        ),
    ] {
        let errors = with(lines).expect_err(lines).to_string();
        assert!(errors.contains(expected), "{errors}");
    }
}

/// A law is designed for the flows that always send, whatever the number of small packets.
#[test]
fn a_probe_changes_no_design() {
    let packet = |lines: &str| {
        let scenario = with(lines).unwrap_or_else(|errors| panic!("{errors}"));
        scenario.context(0).packet
    };
    let bulk = "count = 2";
    let pings = "app = { ping = { every = \"1 s\" } }; count = 20";
    let mice = "app = { mice = { preset = \"pi_pd\" } }; segment = \"500 B\"; count = 9";
    assert_eq!(packet(&format!("{bulk}; [[flows]]; {pings}; [[flows]]; {mice}")), 1500.0);
    assert_eq!(packet(&format!("{pings}; [[flows]]; {mice}")), 500.0);
    // Without TCP each datagram counts once: 1 Mbit/s of 1000 B, 125 a second, and 20 pings of 84 B.
    let sends = "app = { cbr = { rate = \"1 Mbit/s\", size = \"1000 B\" } }";
    let mean = (125.0 * 1000.0 + 20.0 * 84.0) / 145.0;
    assert!((packet(&format!("{sends}; [[flows]]; {pings}")) - mean).abs() < 1e-9);
}

#[test]
fn arrivals_without_end_are_refused() {
    for arrivals in ["{ poisson = \"1 ns\" }", "{ every = \"1 ns\", batch = [1000, 1000] }"] {
        let errors = with(&format!("app = {{ transfer = {{ size = \"3 kB\" }} }}; arrivals = {arrivals}"))
            .expect_err(arrivals);
        assert!(errors.to_string().contains("expected at most 1e8 in a run"), "{errors}");
    }
}
