//! Values of a scenario are read; others have the documented defaults.

use crate::common::{LEAST, WHOLE, access, bottleneck, datagrams, parse, parse_with, qdisc};
use sojourn_aqm::Limit;
use sojourn_aqm::QdiscSpec;
use sojourn_params::Described;
use sojourn_scenario::{App, Change, Key, Scenario, Setting, Source, Spread, Start, keys};
use sojourn_tcp::Profile;
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
    assert_eq!(qdisc(&scenario).to_string(), "pi:target=100 packets,a=1.822e-5,b=1.816e-5");
    let flows = &scenario.flows[0];
    assert_eq!((flows.count, &flows.app, flows.cc.to_string().as_str()), (50, &App::default(), "newreno"));
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
fn options_of_tcp_are_read() {
    let group = |sets: &[(&str, &str)]| {
        let sets: Vec<_> =
            sets.iter().map(|(key, value)| (format!("flows[0].{key}"), (*value).into())).collect();
        Scenario::parse(WHOLE.as_bytes(), "f.toml", &sets).unwrap()
    };
    let plain = &group(&[]).flows[0].profile;
    assert_eq!((plain.sack, plain.timestamps), (None, false));
    let scenario = group(&[("cc", "cubic"), ("tcp.sack", "false"), ("tcp.timestamps", "true")]);
    let profile = &scenario.flows[0].profile;
    assert_eq!((profile.sack, profile.timestamps), (Some(false), true));
    assert_eq!(parse(&scenario.to_toml()).unwrap(), scenario);
}

/// Every setting is a key of `[flows.tcp]`, is read to its field, and is written.
#[test]
fn every_setting_of_tcp_is_a_key() {
    // The settings of one profile set to the values of the other.
    let (from, to) = (Profile::named("default").unwrap(), Profile::named("ns2").unwrap());
    for setting in to.changes_from("default") {
        let (key, value) = (setting.key, to.value(setting.key));
        // Some apply to recovery by SACK, some to recovery without.
        let with = |cc: &str| parse(&format!("{LEAST}cc = \"{cc}\"\necn = true\ntcp.{key} = {value}\n"));
        let scenario = with("cubic").or_else(|_| with("newreno")).unwrap_or_else(|errors| panic!("{errors}"));
        let mut expected = from.clone();
        expected.take(key, &to);
        assert_eq!(scenario.flows[0].profile, expected);
        assert_eq!(parse(&scenario.to_toml()), Ok(scenario.clone()));
    }
}

#[test]
fn a_slow_reader_has_a_rate() {
    let scenario = parse(&format!("{LEAST}app = \"bulk:reads=100 packets/s\"\n")).unwrap();
    assert_eq!(scenario.flows[0].reads, Some(mbit(1.2)));
    assert_eq!(parse(&scenario.to_toml()), Ok(scenario.clone()));
}

#[test]
fn a_control_that_needs_marks_turns_ecn_on() {
    let dctcp = parse(&format!("{LEAST}cc = \"dctcp\"\n")).unwrap();
    assert!(dctcp.flows[0].ecn);
    assert_eq!(parse(&dctcp.to_toml()), Ok(dctcp));
    assert!(!parse(&format!("{LEAST}cc = \"cubic\"\n")).unwrap().flows[0].ecn);
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
fn scenarios_are_equal_by_values() {
    let with = |key: &str, value: &str| parse_with(key, value).unwrap();
    for (key, plain, given, other) in [
        ("bottleneck.qdisc", "red", "red:gentle=true", "red:gentle=false"),
        ("flows[0].cc", "cubic", "cubic:abe=false", "cubic:abe=true"),
        ("flows[0].app", "web", "web:objects=50", "web:objects=51"),
    ] {
        assert_eq!(with(key, plain), with(key, given));
        assert_eq!(with(key, plain).shortest().to_toml(), with(key, given).shortest().to_toml());
        assert_ne!(with(key, plain), with(key, other));
    }
    assert_eq!(with("bottleneck.qdisc", "red:gentle=true").qdisc_label(), "red:gentle=true");
    let changed = |change: &str| {
        let at = format!("[[at]]\ntime = '1 s'\nset = {{ 'bottleneck.qdisc.{change} }}\n");
        parse(&(LEAST.replace("[[flows]]", "qdisc = 'red'\n[[flows]]") + &at)).unwrap()
    };
    assert_ne!(changed("gentle' = true"), changed("max_p' = 0.1"));
}

#[test]
fn every_default_is_as_documented() {
    let scenario = parse(LEAST).unwrap();
    assert_eq!((scenario.warmup, scenario.sample), (Span::ZERO, None));
    assert_eq!(bottleneck(&scenario).buffer, None);
    assert_eq!(qdisc(&scenario), &QdiscSpec::parse("tail_drop").unwrap());
    assert!(scenario.at.is_empty());
    let flows = &scenario.flows[0];
    assert_eq!((flows.count, &flows.app, flows.cc.to_string().as_str()), (1, &App::default(), "newreno"));
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
    let context = parse(WHOLE).unwrap().context(0);
    assert_eq!((context.rate, context.flows), (mbit(10.0), Some(51.0)));
    assert!((context.packet - 51_500.0 / 51.0).abs() < 1e-9);
    assert_eq!(context.limit, 300.0);
    // 50 flows with 2 (20 + 80) ms and one with 40 ms.
    let base = context.base_rtt.unwrap().seconds();
    assert!((base - (50.0 * 0.2 + 0.04) / 51.0).abs() < 1e-9, "{base}");
    assert_eq!(parse(LEAST).unwrap().context(0).limit, f64::INFINITY);
}

#[test]
fn changes_are_sorted_and_keep_the_files_order_at_one_time() {
    let text = format!(
        "{LEAST}[[at]]\ntime = \"30 s\"\nset.bottleneck.rate = \"1 Mbit/s\"\n\
         [[at]]\ntime = \"20 s\"\nset = {{ \"bottleneck.delay\" = \"1 ms\", \"bottleneck.rate\" = \"2 Mbit/s\" }}\n\
         [[at]]\ntime = \"20 s\"\nset = {{ \"bottleneck.rate\" = \"3 Mbit/s\" }}\n"
    );
    let changes: Vec<String> = parse(&text).unwrap().at.iter().map(ToString::to_string).collect();
    assert_eq!(
        changes,
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
    assert_eq!(qdisc(&parse_with("bottleneck.qdisc", "red:min=50packets").unwrap()).name(), "red");
    let set = parse_with("bottleneck.qdisc.target", "50 packets").unwrap();
    assert_eq!(qdisc(&set).to_string(), "pi:target=50 packets,a=1.822e-5,b=1.816e-5");
    let at = parse_with("at[0].set.bottleneck.rate", "5 Mbit/s").unwrap().at;
    assert_eq!(at[0].set, Setting::Rate(vec![0, 1], mbit(5.0)));
    let both = parse_with("at[0].set.bottleneck.delay", "5 ms").unwrap().at;
    assert_eq!(both.len(), 2);
    let text =
        WHOLE.replace("{ law = \"pi\", target = \"100 packets\", a = 1.822e-5, b = 1.816e-5 }", "\"red\"");
    let set = [("bottleneck.qdisc.min".to_string(), "40 packets".to_string())];
    let scenario = Scenario::parse(text.as_bytes(), "f.toml", &set).unwrap();
    assert_eq!(qdisc(&scenario).to_string(), "red:min=40 packets");
}

#[test]
fn another_qdisc_changes_nothing_else() {
    let scenario = parse(WHOLE).unwrap();
    let red = scenario.with_qdisc("red:min=50packets,max=150packets").unwrap();
    assert_eq!(qdisc(&red).to_string(), "red:min=50 packets,max=150 packets");
    assert_eq!(red.with_qdisc(&qdisc(&scenario).to_string()), Ok(scenario));
}

#[test]
fn the_json_reads_back_as_the_same_scenario() {
    for text in [WHOLE, LEAST] {
        let scenario = parse(text).unwrap();
        assert_eq!(parse(&scenario.to_toml()), Ok(scenario));
    }
}

#[test]
fn windows_read_back_from_json() {
    let text = LEAST.replacen(
        "[bottleneck]",
        "windows = [\"0 s..500 ms\", \"phases\", \"every 1 s\"]\n[bottleneck]",
        1,
    );
    let scenario = parse(&text).unwrap();
    assert_eq!(scenario.to_json()["windows"], serde_json::json!(["0 s..500 ms", "phases", "every 1 s"]));
    assert_eq!(parse(&scenario.to_toml()), Ok(scenario));
}

#[test]
fn the_json_has_every_key() {
    let json = parse(LEAST).unwrap().to_json();
    // A file has one network, as a dumbbell or link by link.
    // Without windows it is that of versions that had none.
    let other =
        ["parking_lot", "two_bottlenecks", "home", "links", "bottleneck.back", "flows.tcp", "at.", "windows"];
    let of_this = |key: &&Key| !other.iter().any(|table| format!("{}.", key.path()).starts_with(table));
    for key in keys().iter().filter(of_this).filter(|key| key.table != "at") {
        let mut at = &json;
        for step in key.path().split('.') {
            // A table that is not given.
            if at.is_null() {
                break;
            }
            let inner = if at.is_array() { &at[0] } else { at };
            at = inner.get(step).unwrap_or_else(|| panic!("{}", key.path()));
        }
    }
}

/// Every source of datagrams, with all its keys and with required ones alone, reads back from its JSON.
#[test]
fn datagrams_read_back_from_json() {
    for lines in [
        "app = { cbr = { rate = \"1 Mbit/s\", size = { table = [[\"100 B\", 0.5], [\"1 kB\", 0.5]] } } }",
        "app = { poisson = { rate = \"100 packets/s\", size = { lognormal = \"500 B\", sigma = 1.5 } } }",
        "app = { on_off = { rate = \"20 kB/s\" } }; segment = \"210 B\"",
        "app = { on_off = { rate = \"20 kB/s\", on = { pareto = \"500 ms\", shape = 1.5 }, off = \"1 s\" } }",
        "app = { lrd = { rate = \"1 Mbit/s\" } }",
        "app = { lrd = { rate = \"1 Mbit/s\", hurst = 0.7, sources = 10, on = \"100 ms\", off = \"1 s\", size = \"99 B\" } }",
        "app = \"voip\"",
        "app = { voip = { spurts = true } }; ecn = true",
        "app = \"ping\"",
        "app = { ping = { every = \"1 s\", size = \"1000 B\" } }",
    ] {
        let scenario =
            parse(&LEAST.replace("[[flows]]", &format!("[[flows]]\n{}", lines.replace("; ", "\n")))).unwrap();
        assert_eq!(parse(&scenario.to_toml()).unwrap(), scenario, "{lines}");
    }
    let ping = parse(&LEAST.replace("[[flows]]", "[[flows]]\napp = \"ping\"")).unwrap();
    assert_eq!(ping.context(0).packet, 84.0);
}

/// UDP groups: the rate is that of whole packets; keys of TCP are null; contexts of laws exclude them.
#[test]
fn datagrams_have_a_rate_and_nothing_of_tcp() {
    let text =
        LEAST.replace("[[flows]]", "[[flows]]\napp = \"poisson:rate=100 packets/s\"\nsegment = \"1000 B\"\n");
    let scenario = parse(&text).unwrap();
    let datagrams = datagrams(&scenario);
    assert_eq!((&datagrams.source, datagrams.mean_size()), (&Source::Poisson(mbit(0.8)), 1000.0));
    let context = scenario.context(0);
    assert_eq!((context.flows, context.base_rtt), (None, None));
    let json = scenario.to_json();
    assert_eq!(
        (&json["flows"][0]["app"], &json["flows"][0]["cc"]),
        (&serde_json::json!({ "poisson": { "rate": "100 packets/s" } }), &serde_json::Value::Null)
    );
    assert_eq!(parse(&scenario.to_toml()).unwrap(), scenario);
    let both = parse(&format!("{text}\n[[flows]]\ncount = 3\n")).unwrap();
    assert_eq!((both.context(0).flows, both.flow_count()), (Some(3.0), 4.0));
}

#[test]
fn a_list_of_a_law_is_written_as_in_toml() {
    let law = "{ law = \"arm_pfc\", delay = 4, coincidence = [5, 9], form = \"paper\" }";
    let scenario = parse_with("bottleneck.qdisc", law).unwrap();
    assert_eq!(qdisc(&scenario).to_string(), "arm_pfc:form=paper,delay=4,coincidence=[5, 9]");
    assert_eq!(parse(&scenario.to_toml()), Ok(scenario.clone()));
    assert_eq!(scenario.with_qdisc("arm_pfc:form=paper,delay=4,coincidence=[5,9]"), Ok(scenario));
    let refused = parse_with("bottleneck.qdisc.coincidence", "[5, 9]").unwrap_err();
    assert!(refused.lines()[0].contains("bottleneck.qdisc.coincidence"), "{:?}", refused.lines());
}
