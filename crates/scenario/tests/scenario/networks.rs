//! Networks: graphs, shorthands, routes.

use crate::common::parse;
use sojourn_scenario::{Diagnostics, Scenario};
use sojourn_units::Span;

const HEAD: &str = "title = 'A network'\nduration = '10 s'\n";
const FLOWS: &str = "[[flows]]\n";

fn network(tables: &str, flows: &str) -> Result<Scenario, Diagnostics> {
    parse(&format!("{HEAD}{tables}\n[[flows]]\n{flows}"))
}

/// Links of 1 Mbit/s and 1 ms; the first one has a qdisc.
fn graph(links: &[(&str, &str)], flows: &str) -> Result<Scenario, Diagnostics> {
    let link = |(place, (from, to)): (usize, &(&str, &str))| {
        let qdisc = if place == 0 { "qdisc = 'codel'\n" } else { "" };
        format!("[[links]]\nfrom = '{from}'\nto = '{to}'\nrate = '1 Mbit/s'\ndelay = '1 ms'\n{qdisc}")
    };
    network(&links.iter().enumerate().map(link).collect::<String>(), flows)
}

fn check_error(read: Result<Scenario, Diagnostics>, message: &str) {
    let errors = read.expect_err(message);
    let [line] = &errors.lines()[..] else { panic!("{message}: {:?}", errors.lines()) };
    assert!(
        line.contains(message) && (line.contains("expected") || line.contains("write it like")),
        "{line}"
    );
}

fn links(scenario: &Scenario) -> Vec<&str> {
    scenario.topology.links.iter().map(|link| link.name.as_str()).collect()
}

fn managed(scenario: &Scenario) -> Vec<&str> {
    scenario.topology.managed().map(|number| scenario.topology.links[number].name.as_str()).collect()
}

fn ways(scenario: &Scenario) -> [Vec<&str>; 2] {
    let flows = &scenario.flows[0];
    [&flows.route, &flows.back].map(|route| scenario.topology.nodes_of(route).collect())
}

#[test]
fn a_graph_has_both_directions_of_its_links_and_the_shortest_ways() {
    let scenario = graph(&[("a", "b"), ("b", "c"), ("a", "d"), ("d", "c")], "from = 'a'\nto = 'c'").unwrap();
    assert_eq!(links(&scenario)[..4], ["a-b", "a-b.back", "b-c", "b-c.back"]);
    assert_eq!(managed(&scenario), ["a-b"]);
    // Among equals the one whose links come first.
    assert_eq!(ways(&scenario), [vec!["a", "b", "c"], vec!["c", "b", "a"]]);
    assert_eq!(scenario.base_rtts(), (Span::from_millis(4), Span::from_millis(4)));
    assert_eq!(scenario.flows[0].access, None);
    assert_eq!(parse(&scenario.to_toml()), Ok(scenario));
}

#[test]
fn routes_may_be_given_and_differ_there_and_back() {
    let ring = [("a", "b"), ("b", "c"), ("a", "d"), ("d", "c")];
    let scenario =
        graph(&ring, "from = 'a'\nto = 'c'\nback = ['c', 'd', 'a']\naccess.delay = '5 ms'").unwrap();
    assert_eq!(ways(&scenario), [vec!["a", "b", "c"], vec!["c", "d", "a"]]);
    assert_eq!(scenario.base_rtts().0, Span::from_millis(24));
    assert_eq!(parse(&scenario.to_toml()), Ok(scenario));
    let given = |key: &str| graph(&ring, &format!("from = 'a'\nto = 'c'\n{key}"));
    check_error(given("route = ['a', 'c']"), "there is no link from \"a\" to \"c\"");
    check_error(given("route = ['a', 'b', 'a', 'd', 'c']"), "passes \"a\" twice, a loop");
    check_error(given("route = ['b', 'c']"), "does not go from \"a\" to \"c\"");
    check_error(given("route = ['a', 'x', 'c']"), "\"x\" is no node");
    check_error(given("route = 'a'"), "is not a list of names");
}

#[test]
fn an_unreachable_node_is_one_error() {
    check_error(
        graph(&[("a", "b"), ("c", "d")], "from = 'a'\nto = 'd'"),
        "there is no way from \"a\" to \"d\"",
    );
    check_error(graph(&[("a", "b")], "from = 'a'\nto = 'a'"), "is where the flows begin");
    check_error(graph(&[("a", "b")], "from = 'a'"), "is missing");
    check_error(graph(&[("a", "b")], "from = 'a'\nto = 'bb'"), "\"bb\" is no node; did you mean \"b\"?");
    check_error(graph(&[("a", "b"), ("a", "a")], "from = 'a'\nto = 'b'"), "is where the link begins");
    check_error(graph(&[("a", "b"), ("b", "a")], "from = 'a'\nto = 'b'"), "there is a link from");
    check_error(
        graph(&[("a", "b"), ("b", "b c")], "from = 'a'\nto = 'b'"),
        "\"b c\" is not allowed; expected letters, digits, - and _, at most 32",
    );
    let one_way =
        "[[links]]\nfrom = 'a'\nto = 'b'\nrate = '1 Mbit/s'\ndelay = '1 ms'\nqdisc = 'red'\none_way = true";
    check_error(network(one_way, "from = 'a'\nto = 'b'"), "there is no way from \"b\" to \"a\"");
    check_error(
        network("[bottleneck]\nrate = '1 Mbit/s'\ndelay = '0 s'\n[parking_lot]", ""),
        "stands beside [bottleneck]",
    );
    let dull = "[[links]]\nfrom = 'a'\nto = 'b'\nrate = '1 Mbit/s'\ndelay = '1 ms'\nbuffer = '9 packets'";
    check_error(network(dull, "from = 'a'\nto = 'b'"), "have no qdisc");
    check_error(network(&dull.replace("1 Mbit/s", "0 Mbit/s"), "from = 'a'\nto = 'b'"), "out of range");
}

#[test]
fn datagrams_need_no_way_back() {
    let one_way =
        "[[links]]\nfrom = 'a'\nto = 'b'\nrate = '1 Mbit/s'\ndelay = '1 ms'\nqdisc = 'red'\none_way = true";
    let ends = "from = 'a'\nto = 'b'\napp = ";
    let scenario = network(one_way, &format!("{ends}'cbr:rate=1 kbit/s'")).unwrap();
    assert!(scenario.flows[0].back.is_empty());
    assert_eq!(parse(&scenario.to_toml()), Ok(scenario));
    check_error(network(one_way, &format!("{ends}'ping'")), "there is no way from \"b\" to \"a\"");
}

#[test]
fn a_link_to_itself_is_one_error() {
    let text = "[[links]]\nfrom = 'a'\nto = 'a'\nrate = '1 Mbit/s'\ndelay = '1 ms'\nqdisc = 'red'";
    let lines = network(text, "from = 'a'\nto = 'b'").unwrap_err();
    assert_eq!(lines.lines().len(), 1, "{lines}");
}

#[test]
fn a_buffer_holds_at_least_one_packet() {
    let line = "[bottleneck]\nrate = '10 Mbit/s'\ndelay = '5 ms'";
    let cbr = "app = { cbr = { rate = '1 Mbit/s', size = '9000 B' } }";
    let buffer = |size: &str, flows: &str| network(&format!("{line}\nbuffer = '{size}'"), flows);
    check_error(buffer("2000 B", cbr), "2000 B holds 2000 B, less than one packet; expected 9000 B or more");
    assert!(buffer("1000 B", "app = 'ping'").is_ok());
    check_error(buffer("80 B", "app = 'ping'"), "less than one packet; expected 84 B or more");
}

#[test]
fn the_other_direction_may_be_a_link_of_its_own_kind() {
    let text = "[[links]]\nname = 'dsl'\nfrom = 'a'\nto = 'b'\nrate = '1 Mbit/s'\ndelay = '1 ms'\nqdisc = 'codel'\n\
                back = { rate = '8 Mbit/s', buffer = '50 packets' }";
    let scenario = network(text, "from = 'a'\nto = 'b'").unwrap();
    assert_eq!(managed(&scenario), ["dsl", "dsl.back"]);
    let back = &scenario.topology.links[1];
    assert!(back.is_fixed && back.delay == Span::from_millis(1) && back.rate.bits_per_second() == 8e6);
    assert_eq!(scenario.topology.replaceable().collect::<Vec<_>>(), [0]);
    assert_eq!(scenario.with_qdisc("red").unwrap().qdisc_label(), "red");
    assert_eq!(parse(&scenario.to_toml()), Ok(scenario));
}

#[test]
fn shorthands_are_networks_like_others() {
    let line = "rate = '10 Mbit/s'\ndelay = '5 ms'\nbuffer = '200 packets'\nqdisc = 'red'";
    let lot = network(&format!("[parking_lot]\n{line}"), "").unwrap();
    assert_eq!(lot.topology.nodes, ["r1", "r2", "r3", "r4", "r5"]);
    assert_eq!(managed(&lot), ["r1-r2", "r2-r3", "r3-r4", "r4-r5"]);
    assert_eq!(ways(&lot)[0], ["r1", "r2", "r3", "r4", "r5"]);
    let sqm = network(&format!("[two_bottlenecks]\n{line}"), "from = 'r6'\nto = 'r4'").unwrap();
    assert_eq!(managed(&sqm), ["r2-r3", "r3-r4"]);
    assert_eq!(ways(&sqm), [vec!["r6", "r3", "r4"], vec!["r4", "r3", "r6"]]);
    let home = "[home]\nup = { rate = '2 Mbit/s', delay = '5 ms' }\n\
                down = { rate = '20 Mbit/s', delay = '5 ms', qdisc = 'codel' }";
    let home = network(home, "").unwrap();
    assert_eq!((managed(&home), home.qdisc_label().as_str()), (vec!["up", "down"], "tail_drop + codel"));
    assert_eq!(ways(&home), [vec!["lan", "modem", "isp"], vec!["isp", "modem", "lan"]]);
    for scenario in [lot, sqm, home] {
        assert_eq!(parse(&scenario.to_toml()), Ok(scenario));
    }
}

#[test]
fn the_other_direction_of_a_chain_is_given_once() {
    let chain = |name: &str, back: &str| {
        let line = "rate = '10 Mbit/s'\ndelay = '5 ms'\nbuffer = '200 packets'";
        network(&format!("[{name}]\n{line}\nback = {{ {back} }}"), "")
    };
    let lot = chain("parking_lot", "rate = '1 Mbit/s', buffer = '20 packets', qdisc = 'codel'").unwrap();
    assert_eq!(managed(&lot).len(), 8);
    assert_eq!(lot.qdisc_label(), "tail_drop + codel");
    let sqm = chain("two_bottlenecks", "buffer = '20 packets'").unwrap();
    assert_eq!(managed(&sqm), ["r2-r3", "r2-r3.back", "r3-r4", "r3-r4.back"]);
    assert_eq!(sqm.topology.replaceable().count(), 2);
    for scenario in [lot, sqm] {
        assert_eq!(parse(&scenario.to_toml()), Ok(scenario));
    }
    // Reported once, although it concerns four links.
    let wrong = chain("parking_lot", "buffer = '20 packets', qdisc = 'codel:target=0ms'").unwrap_err();
    assert_eq!(wrong.lines().len(), 1, "{wrong}");
}

#[test]
fn a_home_has_a_lan_of_some_rate() {
    let home = "[home]\nlan = '0 bit/s'\nup = { rate = '2 Mbit/s', delay = '5 ms' }\n\
                down = { rate = '20 Mbit/s', delay = '5 ms' }";
    check_error(network(home, ""), "home.lan: \"0 bit/s\" is out of range");
}

#[test]
fn each_law_gets_its_own_context() {
    let text = "[parking_lot]\nrate = '10 Mbit/s'\ndelay = '5 ms'\nbuffer = '200 packets'\nrouters = 3";
    let cross = "count = 3\n[[flows]]\ncount = 5\nfrom = 'r2'\nto = 'r3'\n[[flows]]\nname = 'x'\nfrom = 'r3'\nto = 'r1'";
    let scenario = network(text, cross).unwrap();
    let flows = |name: &str| scenario.context(scenario.topology.link(name).unwrap()).flows;
    assert_eq!((flows("r1-r2"), flows("r2-r3"), flows("r2-r3.back")), (Some(3.0), Some(8.0), Some(1.0)));
    // 3 flows of 20 ms and 5 of 10 ms.
    let context = scenario.context(scenario.topology.link("r2-r3").unwrap());
    assert_eq!(context.base_rtt, Some(Span::from_seconds((3.0 * 0.02 + 5.0 * 0.01) / 8.0)));
}

#[test]
fn classes_have_names_of_their_own() {
    let dumbbell = "[bottleneck]\nrate = '1 Mbit/s'\ndelay = '0 s'\n";
    let named = |flows: &str| parse(&format!("{HEAD}{dumbbell}{flows}"));
    let scenario =
        named(&format!("{FLOWS}{FLOWS}name = 'bulk2'\nstream = 'other'\n{FLOWS}{FLOWS}name = 'mine'"))
            .unwrap();
    let names: Vec<&str> = scenario.flows.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["bulk", "bulk2", "bulk3", "mine"]);
    check_error(named(&format!("{FLOWS}name = 'a'\n{FLOWS}name = 'a'")), "is the name of a class before it");
    check_error(named(&format!("{FLOWS}name = 'bottleneck'")), "is the name of a link");
}

/// A qdisc for one of several links: the others keep theirs; it may replace a buffer alone.
#[test]
fn a_qdisc_for_one_link() {
    let home = "title = 'a home'\nduration = '10 s'\n[home]\n\
                up = { rate = '2 Mbit/s', delay = '5 ms', buffer = '50 packets', qdisc = 'codel' }\n\
                down = { rate = '20 Mbit/s', delay = '5 ms', qdisc = 'pie' }\n[[flows]]\n";
    let scenario = parse(home).unwrap();
    let laws = |scenario: &Scenario| {
        let laws = ["up", "down"].map(|name| scenario.topology.link(name).unwrap());
        laws.map(|link| scenario.topology.links[link].qdisc.as_ref().unwrap().name())
    };
    let up = scenario.at_link("up").unwrap().with_qdisc("red").unwrap();
    assert_eq!((laws(&up), up.qdisc_label()), (["red", "pie"], "red".into()));
    let all = up.at_link("down").unwrap().with_qdisc("pi").unwrap();
    assert_eq!(laws(&all), ["red", "pi"]);
    assert_eq!(laws(&scenario.with_qdisc("pi").unwrap()), ["pi", "pi"]);
    let refused = |result: Result<Scenario, Diagnostics>| result.unwrap_err().lines();
    assert_eq!(
        refused(scenario.at_link("uo")),
        ["\"uo\" is no link with a qdisc; did you mean \"up\"? (expected up, down)"]
    );
    let line = "rate = '1 Mbit/s'\ndelay = '1 ms'\nbuffer = '9 packets'\nqdisc = 'red'\n";
    let both =
        network(&format!("[bottleneck]\n{line}back = {{ buffer = '9 packets', qdisc = 'codel' }}"), "");
    let errors = refused(both.unwrap().at_link("back"));
    assert!(errors[0].contains("; did you mean \"bottleneck.back\"? (expected bottleneck, "), "{errors:?}");
    // For several links, an error names its link.
    let spec = "red:min=20packets,max=60packets";
    let message = "red.max: 60 packets is above the buffer of 50 packets";
    let errors = refused(scenario.with_qdisc(spec));
    assert!(errors.len() == 1 && errors[0].starts_with(&format!("up.{message}")), "{errors:?}");
    let errors = refused(scenario.at_link("up").unwrap().with_qdisc(spec));
    assert!(errors.len() == 1 && errors[0].starts_with(message), "{errors:?}");
    assert!(scenario.at_link("down").unwrap().with_qdisc(spec).is_ok());
    let links = "title = 'a line'\nduration = '10 s'\n[[links]]\nname = 'down'\nfrom = 'a'\nto = 'b'\nrate = '2 Mbit/s'\n\
                 delay = '5 ms'\nqdisc = 'pie'\n[[links]]\nname = 'up'\nfrom = 'b'\nto = 'c'\nrate = '2 Mbit/s'\ndelay = '5 ms'\n\
                 buffer = '50 packets'\n[[flows]]\nfrom = 'a'\nto = 'c'\n";
    let buffer = parse(links).unwrap();
    assert_eq!(laws(&buffer.with_qdisc("pi").unwrap()), ["tail_drop", "pi"]);
    assert_eq!(laws(&buffer.at_link("up").unwrap().with_qdisc("pi").unwrap()), ["pi", "pie"]);
}

/// A chain with a qdisc at each of 99 links.
fn chain(flows: &str) -> Result<Scenario, Diagnostics> {
    let tables = "[parking_lot]\nrouters = 100\nrate = '10 Mbit/s'\ndelay = '1 ms'\nbuffer = '100 packets'";
    network(tables, flows)
}

#[test]
fn a_series_is_bounded_over_all_links() {
    let scenario = chain("").unwrap();
    // 99 links of 15 columns and a class each: 20 000 000 values are 12 626 steps.
    assert_eq!(scenario.step(), Span::from_millis(5));
    let sampled = |sample: &str| parse(&format!("sample = '{sample}'\n{}", scenario.to_toml()));
    assert_eq!(sampled("1 ms").unwrap().step(), Span::from_millis(1));
    check_error(
        sampled("100 us"),
        "sample: 100 us is too short for the series of so many links; expected 792.017 us to",
    );
    let large = network(
        "[parking_lot]\nrouters = 1000\nrate = '10 Mbit/s'\ndelay = '1 ms'\nbuffer = '100 packets'",
        "from = 'r1'\nto = 'r2'",
    );
    assert_eq!(large.unwrap().step(), Span::from_millis(10), "1000 steps, not 2000");
}

#[test]
fn rows_of_classes_at_links_are_bounded() {
    let flows = |classes: usize| "[[flows]]\n".repeat(classes - 1);
    assert!(chain(&flows(1010)).is_ok());
    check_error(
        chain(&flows(1011)),
        "flows: the data of 1011 classes cross links with qdiscs 100089 times in all",
    );
}

#[test]
fn the_contexts_of_all_links_are_those_of_each() {
    let flows = "count = 3\n[[flows]]\nfrom = 'r2'\nto = 'r9'\nsegment = '500 B'\n[[flows]]\napp = 'ping'\n\
                 [[flows]]\nfrom = 'r9'\nto = 'r3'\ncount = 2\naccess.delay = '3 ms'";
    let scenario = chain(flows).unwrap();
    for (link, context) in scenario.contexts().into_iter().enumerate() {
        assert_eq!(context, scenario.context(link), "{}", scenario.topology.links[link].name);
    }
}
