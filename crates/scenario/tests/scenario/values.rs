//! What a scenario says is what is read; what it leaves out has the documented default.

use crate::common::{LEAST, WHOLE, access, as_toml, bottleneck, disc, parse, parse_with};
use sojourn_aqm::Limit;
use sojourn_scenario::{
    App, Change, DiscSpec, Key, Preset, Scenario, Setting, Source, Spread, Start, explain, schema,
};
use sojourn_tcp::Profile;
use sojourn_tcp::knobs::KNOBS;
use sojourn_units::{Bytes, Rate, Span};

fn mbit(rate: f64) -> Rate {
    Rate::from_bits_per_second(rate * 1e6)
}

#[test]
fn every_key_is_read() {
    let scenario = parse(WHOLE).unwrap();
    assert_eq!(scenario.title, "Everything at once");
    assert_eq!((scenario.duration, scenario.warmup), (Span::from_secs(60), Span::from_secs(10)));
    assert_eq!(scenario.sample, Some(Span::from_millis(50)));
    let bottleneck = bottleneck(&scenario);
    assert_eq!((bottleneck.rate, bottleneck.delay), (mbit(10.0), Span::from_millis(20)));
    assert_eq!(bottleneck.buffer, Some(Limit::Packets(300)));
    assert_eq!(disc(&scenario).to_string(), "pi:target=100 packets,a=1.822e-5,b=1.816e-5");
    let flows = &scenario.flows[0];
    assert_eq!((flows.count, &flows.app, flows.cc.to_string().as_str()), (50, &App::Bulk, "newreno"));
    assert_eq!((flows.ecn, flows.segment), (true, Bytes::new(1000)));
    let (first, last) = (Span::from_millis(38), Span::from_millis(42));
    assert_eq!((access(flows).rate, access(flows).delay), (mbit(10.0), Spread { from: first, to: last }));
    assert_eq!(flows.start, Start::Even(Spread { from: Span::ZERO, to: Span::from_secs(5) }));
    assert_eq!(flows.stop, Some(Span::from_secs(50)));
    let expected = Profile {
        initial_window: 4,
        delayed_ack: true,
        min_rto: Span::from_secs(1),
        ..Profile::named("ns2").unwrap()
    };
    assert_eq!(flows.profile, expected);
    let set = Setting::Rate(vec![0, 1], mbit(6.0));
    let name = "bottleneck".into();
    assert_eq!(scenario.at, [Change { time: Span::from_secs(40), every: None, until: None, name, set }]);
}

#[test]
fn options_of_tcp_are_read_and_told() {
    let group = |sets: &[(&str, &str)]| {
        let sets: Vec<_> =
            sets.iter().map(|(key, value)| (format!("flows[0].{key}"), (*value).into())).collect();
        Scenario::parse(WHOLE.as_bytes(), "f.toml", &sets).unwrap()
    };
    let plain = &group(&[]).flows[0].profile;
    assert_eq!((plain.sack, plain.timestamps), (None, false));
    let scenario = group(&[("cc", "cubic"), ("sack", "false"), ("timestamps", "true")]);
    let profile = &scenario.flows[0].profile;
    assert_eq!((profile.sack, profile.timestamps), (Some(false), true));
    assert!(scenario.describe().contains("50 x cubic without SACK bulk, ns2 profile with timestamps, "));
    assert_eq!(parse(&as_toml(&scenario)).unwrap(), scenario);
    assert!(group(&[("sack", "true")]).describe().contains("50 x newreno with SACK bulk, ns2 profile, "));
}

/// Every knob is a key of `[flows.tcp]`, is read to its field, and is written and told where it is set.
#[test]
fn every_knob_of_tcp_is_a_key() {
    // One profile's knobs set to the values of the other's.
    let (from, to) = (Profile::named("default").unwrap(), Profile::named("ns2").unwrap());
    for knob in KNOBS.iter().filter(|knob| (knob.get)(&from) != (knob.get)(&to)) {
        let value = (knob.get)(&to);
        // Some are of recovery by SACK, some of recovery without.
        let with =
            |cc: &str| parse(&format!("{LEAST}cc = \"{cc}\"\necn = true\ntcp.{} = {value}\n", knob.name));
        let scenario = with("cubic").or_else(|_| with("newreno")).unwrap_or_else(|faults| panic!("{faults}"));
        let flows = &scenario.flows[0];
        let mut expected = from.clone();
        (knob.set)(&mut expected, &value);
        assert_eq!(flows.profile, expected);
        assert_eq!(flows.profile.knobs_set().collect::<Vec<_>>(), [knob]);
        assert_eq!(parse(&as_toml(&scenario)), Ok(scenario.clone()));
        let said = scenario.describe();
        assert!(said.contains(&format!("default profile, {} = ", knob.name)), "{said}");
    }
}

#[test]
fn a_slow_reader_has_a_rate() {
    let scenario = parse(&format!("{LEAST}reads = \"100 packets/s\"\n")).unwrap();
    assert_eq!(scenario.flows[0].reads, Some(mbit(1.2)));
    assert_eq!(parse(&as_toml(&scenario)), Ok(scenario.clone()));
    assert!(scenario.describe().contains("newreno bulk, default profile, read at 1.2 Mbit/s, segments of"));
}

#[test]
fn a_control_that_is_made_of_marks_turns_ecn_on() {
    let dctcp = parse(&format!("{LEAST}cc = \"dctcp\"\n")).unwrap();
    assert!(dctcp.flows[0].ecn);
    assert_eq!(parse(&as_toml(&dctcp)), Ok(dctcp));
    assert!(!parse(&format!("{LEAST}cc = \"cubic\"\n")).unwrap().flows[0].ecn);
}

#[test]
fn five_knobs_may_stand_in_the_group_itself() {
    let both =
        |line: &str| parse(&format!("{LEAST}{line}\n")).map(|scenario| scenario.flows[0].profile.clone());
    for line in
        ["min_rto = \"1 s\"", "initial_window = 3", "sack = true", "timestamps = true", "delayed_ack = false"]
    {
        assert_eq!(both(line), both(&format!("tcp.{line}")), "{line}");
        let twice = both(&format!("{line}\ntcp.{line}")).unwrap_err().to_string();
        assert!(
            twice.contains("is given twice, here and in the group itself; legal: each key once"),
            "{twice}"
        );
    }
}

#[test]
fn a_congestion_control_has_parameters() {
    let label = |value: &str| parse_with("flows[0].cc", value).unwrap().flows[0].cc.to_string();
    assert_eq!(label("cubic"), "cubic");
    assert_eq!(label("\"dctcp: alpha=0, g=0.5\""), "dctcp:g=0.5,alpha=0");
    assert_eq!(label("{ name = \"dctcp\", g = 0.5 }"), "dctcp:g=0.5");
    assert_eq!(parse_with("flows[0].cc.abe", "true").unwrap().flows[0].cc.to_string(), "newreno:abe=true");
}

#[test]
fn every_default_is_as_documented() {
    let scenario = parse(LEAST).unwrap();
    assert_eq!((scenario.warmup, scenario.sample), (Span::ZERO, None));
    assert_eq!(bottleneck(&scenario).buffer, None);
    assert_eq!(disc(&scenario), &DiscSpec::parse("tail_drop").unwrap());
    assert!(scenario.at.is_empty());
    let flows = &scenario.flows[0];
    assert_eq!((flows.count, &flows.app, flows.cc.to_string().as_str()), (1, &App::Bulk, "newreno"));
    assert_eq!(flows.profile, Profile::default());
    assert_eq!((flows.ecn, flows.segment, flows.stop), (false, Bytes::new(1500), None));
    assert_eq!((access(flows).rate, access(flows).delay), (mbit(100.0), Spread::constant(Span::ZERO)));
    assert_eq!(flows.start, Start::Random(Spread { from: Span::ZERO, to: Span::from_secs(1) }));
}

#[test]
fn the_default_start_fits_a_short_run() {
    let scenario = parse(&LEAST.replace("60 s", "0.5 s")).unwrap();
    assert_eq!(scenario.flows[0].start.latest(), Span::from_millis(500));
}

#[test]
fn packets_are_segments() {
    let scenario = parse_with("bottleneck.rate", "1250 packets/s").unwrap();
    // 50 flows of 1000 B and one of 1500 B.
    let mean = (50.0 * 1000.0 + 1500.0) / 51.0;
    assert_eq!(bottleneck(&scenario).rate.bits_per_second(), 1250.0 * mean * 8.0);
    let least = LEAST.replace("10 Mbit/s", "1000 packets/s");
    assert_eq!(bottleneck(&parse(&least).unwrap()).rate, mbit(12.0));
    let fast = parse_with("flows[0].access.rate", "1000 packets/s").unwrap();
    assert_eq!(access(&fast.flows[0]).rate, mbit(8.0));
}

#[test]
fn a_buffer_has_three_units() {
    let buffer = |text| bottleneck(&parse_with("bottleneck.buffer", text).unwrap()).buffer;
    assert_eq!(buffer("300 packets"), Some(Limit::Packets(300)));
    assert_eq!(buffer("0.3 MB"), Some(Limit::Bytes(300_000)));
    assert_eq!(buffer("200 ms"), Some(Limit::Bytes(250_000)));
}

#[test]
fn a_law_sees_the_means_over_the_flows() {
    let site = parse(WHOLE).unwrap().site(0);
    assert_eq!((site.rate, site.flows), (mbit(10.0), Some(51.0)));
    assert!((site.packet - 51_500.0 / 51.0).abs() < 1e-9);
    assert_eq!(site.limit, 300.0);
    // 50 flows with 2 (20 + 80) ms and one with 40 ms.
    let base = site.base_rtt.unwrap().seconds();
    assert!((base - (50.0 * 0.2 + 0.04) / 51.0).abs() < 1e-9, "{base}");
    assert_eq!(parse(LEAST).unwrap().site(0).limit, f64::INFINITY);
}

#[test]
fn changes_are_sorted_and_keep_the_files_order_at_one_time() {
    let text = format!(
        "{LEAST}[[at]]\ntime = \"30 s\"\nset.bottleneck.rate = \"1 Mbit/s\"\n\
         [[at]]\ntime = \"20 s\"\nset = {{ \"bottleneck.delay\" = \"1 ms\", \"bottleneck.rate\" = \"2 Mbit/s\" }}\n\
         [[at]]\ntime = \"20 s\"\nset = {{ \"bottleneck.rate\" = \"3 Mbit/s\" }}\n"
    );
    let said: Vec<String> = parse(&text).unwrap().at.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "at 20 s: bottleneck.rate = 2 Mbit/s",
            "at 20 s: bottleneck.delay = 1 ms",
            "at 20 s: bottleneck.rate = 3 Mbit/s",
            "at 30 s: bottleneck.rate = 1 Mbit/s",
        ]
    );
}

#[test]
fn overrides_reach_every_key() {
    assert_eq!(bottleneck(&parse_with("bottleneck.rate", "6 Mbit/s").unwrap()).rate, mbit(6.0));
    assert_eq!(bottleneck(&parse_with("bottleneck.rate", "\"6 Mbit/s\"").unwrap()).rate, mbit(6.0));
    assert_eq!(parse_with("flows.0.count", "20").unwrap().flows[0].count, 20);
    assert_eq!(
        access(&parse_with("flows[1].access.delay", "3 ms").unwrap().flows[1]).delay.to,
        Span::from_millis(3)
    );
    assert_eq!(disc(&parse_with("bottleneck.disc", "red:min=50packets").unwrap()).law, "red");
    let set = parse_with("bottleneck.disc.target", "50 packets").unwrap();
    assert_eq!(disc(&set).to_string(), "pi:target=50 packets,a=1.822e-5,b=1.816e-5");
    let at = parse_with("at[0].set.bottleneck.rate", "5 Mbit/s").unwrap().at;
    assert_eq!(at[0].set, Setting::Rate(vec![0, 1], mbit(5.0)));
    let both = parse_with("at[0].set.bottleneck.delay", "5 ms").unwrap().at;
    assert_eq!(both.len(), 2);
    let text =
        WHOLE.replace("{ law = \"pi\", target = \"100 packets\", a = 1.822e-5, b = 1.816e-5 }", "\"red\"");
    let set = [("bottleneck.disc.min".to_string(), "40 packets".to_string())];
    let scenario = Scenario::parse(text.as_bytes(), "f.toml", &set).unwrap();
    assert_eq!(disc(&scenario).to_string(), "red:min=40 packets");
}

#[test]
fn another_disc_changes_nothing_else() {
    let scenario = parse(WHOLE).unwrap();
    let red = scenario.with_disc("red:min=50packets,max=150packets").unwrap();
    assert_eq!(disc(&red).to_string(), "red:min=50 packets,max=150 packets");
    assert_eq!(red.with_disc(&disc(&scenario).to_string()), Ok(scenario));
}

#[test]
fn the_json_reads_back_as_the_same_scenario() {
    for text in [WHOLE, LEAST] {
        let scenario = parse(text).unwrap();
        assert_eq!(parse(&as_toml(&scenario)), Ok(scenario));
    }
}

#[test]
fn the_json_has_every_key() {
    let json = parse(LEAST).unwrap().to_json();
    // A file has one network, and it stands as a dumbbell or link by link.
    let other = ["parking_lot", "two_bottlenecks", "home", "links", "bottleneck.back", "flows.tcp", "at."];
    let of_this = |key: &&Key| !other.iter().any(|table| format!("{}.", key.path()).starts_with(table));
    for key in explain().iter().filter(of_this).filter(|key| key.table != "at") {
        let mut at = &json;
        for step in key.path().split('.') {
            let inner = if at.is_array() { &at[0] } else { at };
            at = inner.get(step).unwrap_or_else(|| panic!("{}", key.path()));
        }
    }
}

/// The network of Hollot et al. 2002: N = 60, C = 3750 packets/s, R = 246 ms.
const HOLLOT: &str = r#"
title = "Hollot's example"
duration = "60 s"
[bottleneck]
rate = "3750 packets/s"
delay = "23 ms"
buffer = "800 packets"
disc = { law = "pi", target = "0 packets" }
[[flows]]
count = 60
segment = "1000 B"
access = { delay = "50 ms" }
"#;

#[test]
fn the_description_shows_what_a_law_derived_from_its_place() {
    let scenario = parse(HOLLOT).unwrap();
    let said = scenario.describe();
    let gain = |key: &str| {
        let line = said.lines().find(|line| line.trim().starts_with(&format!("{key} = "))).unwrap();
        assert!(line.ends_with(" 1/packet (designed by the rule of Hollot et al. 2002)"), "{line}");
        line.split_whitespace().nth(2).unwrap().to_string()
    };
    // maths.json, hollot.PI: K and z to all their digits.
    let (a, b) = (gain("a"), gain("b"));
    assert!((a.parse::<f64>().unwrap() - 1.852_781e-5).abs() < 1e-11, "{a}");
    let given = scenario.with_disc(&format!("pi:target=0packets,a={a},b={b}")).unwrap().describe();
    assert!(given.contains(&format!("a = {a}\n")), "{given}");
    assert!(given.contains(&format!("b = {b}\n")), "{given}");
    let red = scenario.with_disc("red:max=150packets").unwrap().describe();
    assert!(red.contains("min = 50 packets (a third of max"), "{red}");
    assert!(red.contains("max = 150 packets\n"), "{red}");
    let pfc = scenario.with_disc("arm_pfc:delay=5,base=ramp").unwrap().describe();
    assert!(pfc.contains("coincidence = 12, 14 periods (2.5 d for indep"), "{pfc}");
}

#[test]
fn the_description_tells_what_would_run() {
    let said = parse(WHOLE).unwrap().describe();
    for part in [
        "Everything at once\n",
        "50 x bulk --- 10 Mbit/s, 38 ms to 42 ms --+[ pi | 300 packets ]== 10 Mbit/s, 20 ms ==+-- 50 sinks\n",
        "target = 100 packets\n",
        "rate = 160 Hz (160 Hz, the example of Hollot et al. 2002, or",
        "50 x newreno bulk, ns2 profile, initial_window = 4, min_rto = 1 s, delayed_ack = true, segments of 1000 B, ECN, \
         start evenly from 0 s to 5 s, stop at 50 s\n",
        "1 x reno bulk, default profile, segments of 1500 B, no ECN, start at random between 0 s and 1 s\n",
        "base RTT    40 ms to 208 ms, mean 196.862745 ms\n",
        "at 40 s: bottleneck.rate = 6 Mbit/s\n",
        "60 s simulated, measured from 10 s",
    ] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
}

#[test]
fn one_is_told_as_one_and_like_round_trips_once() {
    let one = [("flows[0].count", "1"), ("bottleneck.buffer", "1 packet"), ("flows[0].access.delay", "5 ms")];
    let more = one.map(|(key, value)| (key.to_string(), value.to_string()));
    let small = b"title = \"small\"\nduration = \"9 s\"\n[bottleneck]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[[flows]]\n";
    let said = Scenario::parse(small, "small.toml", &more).unwrap().describe();
    for part in ["  1 x bulk --- ", "[ tail_drop | 1 packet ]", "+-- 1 sink\n", "buffer      1 packet\n"] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
    let line = said.lines().find(|line| line.starts_with("base RTT")).unwrap();
    assert_eq!(line, "base RTT    22 ms");
}

#[test]
fn every_key_is_explained_and_in_the_schema() {
    let schema = schema();
    for key in explain() {
        assert!(!key.about.is_empty(), "{}", key.path());
        let property = property_of(&schema, key);
        assert_eq!(property["description"].as_str().unwrap().split(';').next(), key.about.split(';').next());
        if key.table == "at.set" {
            continue;
        }
        let table = table_of(&schema, key.table);
        let required = table["required"].as_array().unwrap();
        // One of two keys must be given.
        let either = table["oneOf"].as_array().is_some_and(|ways| ways[0]["required"][0] == key.name);
        assert_eq!(either || required.iter().any(|name| name == key.name), key.preset == Preset::Required);
    }
    assert_eq!(schema["properties"]["flows"]["items"]["properties"]["count"]["maximum"], 1_000_000);
    assert_eq!(schema["properties"]["warmup"]["default"], "0 s");
    let set = table_of(&schema, "at.set")["patternProperties"].as_object().unwrap();
    let nested = &set["^[A-Za-z0-9_-]+$"]["properties"];
    assert_eq!(nested["rate"], set[r"^[A-Za-z0-9_-]+(\.back)?\.rate$"]);
}

fn property_of<'a>(schema: &'a serde_json::Value, key: &Key) -> &'a serde_json::Value {
    let table = table_of(schema, key.table);
    assert_eq!(table["additionalProperties"], false, "{}", key.table);
    let patterns = table["patternProperties"].as_object();
    let ending = key.name.split('.').nth(1).unwrap_or_default();
    // Keys that hold names stand under patterns.
    patterns
        .and_then(|all| all.iter().find(|(pattern, _)| pattern.contains(&format!(r"\.{ending}"))))
        .map_or(&table["properties"][key.name], |(_, property)| property)
}

fn table_of<'a>(schema: &'a serde_json::Value, table: &str) -> &'a serde_json::Value {
    table.split('.').filter(|step| !step.is_empty()).fold(schema, |at, step| {
        let inner = &at["properties"][step];
        if inner["type"] == "array" { &inner["items"] } else { inner }
    })
}

/// Every source of datagrams with all its keys, and with none that it can do without, is what its JSON says.
#[test]
fn datagrams_read_back_from_json() {
    for lines in [
        "app = \"cbr\"; rate = \"1 Mbit/s\"; size = { table = [[\"100 B\", 0.5], [\"1 kB\", 0.5]] }",
        "app = \"poisson\"; rate = \"100 packets/s\"; size = { lognormal = \"500 B\", sigma = 1.5 }",
        "app = \"on_off\"; rate = \"20 kB/s\"; segment = \"210 B\"",
        "app = \"on_off\"; rate = \"20 kB/s\"; on = { pareto = \"500 ms\", shape = 1.5 }; off = \"1 s\"",
        "app = \"lrd\"; rate = \"1 Mbit/s\"",
        "app = \"lrd\"; rate = \"1 Mbit/s\"; hurst = 0.7; sources = 10; on = \"100 ms\"; off = \"1 s\"; size = \"99 B\"",
        "app = \"voip\"",
        "app = \"voip\"; spurts = true; ecn = true",
        "app = \"ping\"",
        "app = \"ping\"; every = \"1 s\"; size = \"1000 B\"",
    ] {
        let scenario =
            parse(&LEAST.replace("[[flows]]", &format!("[[flows]]\n{}", lines.replace("; ", "\n")))).unwrap();
        assert_eq!(parse(&as_toml(&scenario)).unwrap(), scenario, "{lines}");
    }
    let ping = parse(&LEAST.replace("[[flows]]", "[[flows]]\napp = \"ping\"")).unwrap();
    assert_eq!(ping.site(0).packet, 84.0);
    assert!(
        ping.describe().contains("1 x ping of one datagram each 200 ms, which comes back, packets of 84 B")
    );
}

/// UDP groups: the rate is that of whole packets; what speaks of TCP is null; laws are not told of them.
#[test]
fn datagrams_have_a_rate_and_nothing_of_tcp() {
    let text = LEAST.replace(
        "[[flows]]",
        "[[flows]]\napp = \"poisson\"\nrate = \"100 packets/s\"\nsegment = \"1000 B\"\n",
    );
    let scenario = parse(&text).unwrap();
    let datagrams = scenario.flows[0].app.datagrams().unwrap();
    assert_eq!((&datagrams.source, datagrams.mean_size()), (&Source::Poisson(mbit(0.8)), 1000.0));
    let site = scenario.site(0);
    assert_eq!((site.flows, site.base_rtt), (None, None));
    let json = scenario.to_json();
    assert_eq!(
        (&json["flows"][0]["app"], &json["flows"][0]["cc"]),
        (&"poisson".into(), &serde_json::Value::Null)
    );
    assert_eq!(parse(&as_toml(&scenario)).unwrap(), scenario);
    let both = parse(&format!("{text}\n[[flows]]\ncount = 3\n")).unwrap();
    assert_eq!((both.site(0).flows, both.flow_count()), (Some(3.0), 4.0));
}

#[test]
fn a_list_of_a_law_is_written_as_toml_writes_lists() {
    let law = "{ law = \"arm_pfc\", delay = 4, coincidence = [5, 9], form = \"paper\" }";
    let scenario = parse_with("bottleneck.disc", law).unwrap();
    assert_eq!(disc(&scenario).to_string(), "arm_pfc:form=paper,delay=4,coincidence=[5, 9]");
    assert_eq!(parse(&as_toml(&scenario)), Ok(scenario.clone()));
    assert_eq!(scenario.with_disc("arm_pfc:form=paper,delay=4,coincidence=[5,9]"), Ok(scenario));
    let refused = parse_with("bottleneck.disc.coincidence", "[5, 9]").unwrap_err();
    assert!(refused.lines()[0].contains("bottleneck.disc.coincidence"), "{:?}", refused.lines());
}
