//! Networks as `sojourn check` prints them.

use crate::common::parse;
use proptest::prelude::*;
use sojourn_describe::{describe, describe_under};
use sojourn_scenario::Scenario;

const HEAD: &str = "title = 'A network'\nduration = '10 s'\n";

fn scenario(text: &str) -> Scenario {
    parse(&format!("{HEAD}{text}")).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The tables of links and classes.
fn tables(text: &str) -> String {
    let text = describe(&scenario(text));
    let start = text.find("\n\n").expect("a title") + 2;
    let end = [text.find("\nmedium "), text.find("\nqdisc ")].into_iter().flatten().min();
    text[start..end.expect("facts")].to_string()
}

/// A link of 1 Mbit/s and 1 ms with more keys.
fn link(from: &str, to: &str, more: &str) -> String {
    format!("[[links]]\nfrom = '{from}'\nto = '{to}'\nrate = '1 Mbit/s'\ndelay = '1 ms'\n{more}\n")
}

fn class(name: &str, count: u32, from: &str, to: &str) -> String {
    format!("[[flows]]\nname = '{name}'\ncount = {count}\nfrom = '{from}'\nto = '{to}'\n")
}

const LINE: &str = "rate = '10 Mbit/s'\ndelay = '5 ms'\nbuffer = '200 packets'\nqdisc = 'red'\n";

#[track_caller]
fn listed(text: &str, lines: &[&str]) {
    let found = tables(text);
    assert!(found.lines().eq(lines.iter().copied()), "\n{found}");
}

fn ring() -> String {
    let links =
        [link("a", "b", "qdisc = 'codel'"), link("b", "c", ""), link("c", "d", ""), link("d", "a", "")];
    links.concat()
}

#[test]
fn a_parking_lot() {
    let classes =
        [class("long", 10, "r1", "r5"), class("cross", 3, "r2", "r3"), class("home", 1, "r4", "r1")];
    let text = format!("[parking_lot]\n{LINE}{}", classes.concat());
    listed(
        &text,
        &[
            "  link   from > to  rate       delay  buffer       qdisc  back",
            "  r1-r2  r1 > r2    10 Mbit/s  5 ms   200 packets  red    no qdisc",
            "  r2-r3  r2 > r3    10 Mbit/s  5 ms   200 packets  red    no qdisc",
            "  r3-r4  r3 > r4    10 Mbit/s  5 ms   200 packets  red    no qdisc",
            "  r4-r5  r4 > r5    10 Mbit/s  5 ms   200 packets  red    no qdisc",
            "",
            "  class  flows  path",
            "  long   10     r1 > r2 > r3 > r4 > r5",
            "  cross  3      r2 > r3",
            "  home   1      r4 > r3 > r2 > r1",
        ],
    );
    let output = describe(&scenario(&text));
    for part in [
        "qdisc       fifo under red, at each of 4 links\n",
        "base RTT    long: 40 ms\n            cross: 10 ms\n            home: 30 ms\n",
        "rate x RTT  r1-r2, r3-r4, r4-r5: 33.3 packets of 1500 B\n            r2-r3: 27.6 packets of 1500 B\n",
        "at most 33333 packets over the links with qdiscs, at their first rates\n",
    ] {
        assert!(output.contains(part), "{part:?} is not in:\n{output}");
    }
    // Common parameters appear once.
    assert_eq!(output.matches("max_p = ").count(), 1);
    let own = describe_under(&scenario(&text), "Mine:x=1", "  x = 1\n");
    assert!(own.contains("  Mine   no qdisc\n") && own.contains("fifo under Mine:x=1, at each of 4 links\n"));
}

const SLOW: &str = "[bottleneck]\nrate = '10 Mbit/s'\ndelay = '5 ms'\nbuffer = '200 packets'\n";

#[test]
fn a_dumbbell_lists_classes_that_arrive_during_the_run() {
    let mice = "[[flows]]\napp = 'mice'\narrivals = { poisson = '50 ms' }\n";
    let text = format!("{SLOW}{}{mice}", class("long", 3, "left", "right"));
    listed(
        &text,
        &[
            "  link        from > to     rate       delay  buffer       qdisc      back",
            "  bottleneck  left > right  10 Mbit/s  5 ms   200 packets  tail_drop  no qdisc",
            "",
            "  class  flows          path",
            "  long   3              left > right",
            "  mice   at most 10000  left > right",
        ],
    );
    let output = describe(&scenario(&text));
    assert!(output.contains("flows       long: 3 x newreno bulk"), "{output}");
    assert!(output.contains("            mice: newreno mice"), "{output}");
}

#[test]
fn a_direction_back_that_differs_has_a_row() {
    let back = "back = { rate = '2 Mbit/s', buffer = '50 packets', qdisc = 'codel' }\n";
    let text = format!("{SLOW}{back}{}", class("x", 2, "right", "left"));
    listed(
        &text,
        &[
            "  link             from > to     rate       delay  buffer       qdisc      back",
            "  bottleneck       left > right  10 Mbit/s  5 ms   200 packets  tail_drop  below",
            "  bottleneck.back  right > left  2 Mbit/s   5 ms   50 packets   codel",
            "",
            "  class  flows  path",
            "  x      2      right > left",
        ],
    );
    let output = describe(&scenario(&text));
    for part in ["fifo under tail_drop, at bottleneck\n", "fifo under codel, at bottleneck.back\n"] {
        assert!(output.contains(part), "{part:?} is not in:\n{output}");
    }
    let home = "[home]\nup = { rate = '2 Mbit/s', delay = '5 ms', buffer = '50 packets' }\n\
                down = { rate = '20 Mbit/s', delay = '5 ms', qdisc = 'codel', framing = 'ethernet' }\n[[flows]]\n";
    listed(
        home,
        &[
            "  link       from > to    rate       delay  buffer      qdisc      back",
            "  up         modem > isp  2 Mbit/s   5 ms   50 packets  tail_drop  none",
            "  down       isp > modem  20 Mbit/s  5 ms   no limit    codel      none",
            "  lan-modem  lan > modem  1 Gbit/s   0 s    no limit    none       same",
            "",
            "  class  flows  path",
            "  bulk   1      lan > modem > isp",
        ],
    );
    assert!(describe(&scenario(home)).contains("medium      down: framing ethernet\n"));
}

#[test]
fn a_separate_path_back_is_listed() {
    let back = "back = ['c', 'd', 'a']\naccess.delay = '5 ms'";
    let text = format!("{}{}{back}", ring(), class("x", 1, "a", "c"));
    listed(
        &text,
        &[
            "  link  from > to  rate      delay  buffer    qdisc  back",
            "  a-b   a > b      1 Mbit/s  1 ms   no limit  codel  no qdisc",
            "  b-c   b > c      1 Mbit/s  1 ms   no limit  none   same",
            "  c-d   c > d      1 Mbit/s  1 ms   no limit  none   same",
            "  d-a   d > a      1 Mbit/s  1 ms   no limit  none   same",
            "",
            "  class  flows  path",
            "  x      1      a > b > c",
            "                back c > d > a",
        ],
    );
    let output = describe(&scenario(&text));
    assert!(output.contains(", access 10 Mbit/s, 5 ms\n"), "{output}");
}

#[test]
fn twenty_of_a_kind_are_all_listed() {
    let qdisc = |n: usize| format!("qdisc = 'red:max={}packets'", 100 + n);
    let links: String = (0..20).map(|n| link(&format!("n{n}"), &format!("n{}", n + 1), &qdisc(n))).collect();
    let classes: String = (0..20).map(|n| class(&format!("class{n}"), 7, &format!("n{n}"), "n20")).collect();
    let output = describe(&scenario(&format!("{links}{classes}")));
    assert!(output.contains("fifo under red:max=119 packets, at n19-n20\n"), "{output}");
    assert!(output.contains("  class19: 7 x") && !output.contains(" more "), "{output}");
}

#[test]
fn long_lists_end_with_a_count() {
    let qdisc = |n: usize| format!("qdisc = 'red:max={}packets'", 100 + n);
    let long = |n: usize| format!("a-node-with-a-name-of-32-l-{n:05}");
    let links: String = (0..1000).map(|n| link(&long(n), &long(n + 1), &qdisc(n))).collect();
    let classes: String =
        (0..100).map(|n| class(&format!("class{n}"), 7, &long(n), &long(n + 500))).collect();
    let output = describe(&scenario(&format!("{links}{classes}")));
    assert!(output.lines().count() < 140, "{output}");
    assert!(output.lines().all(|line| line.len() < 700), "{output}");
    for part in
        ["and 984 more links\n", "and 92 more classes\n", "and 996 more kinds of qdiscs\n", " > ... > "]
    {
        assert!(output.contains(part), "{part:?} is not in:\n{output}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every link of a random network has a row, and rows fit 80 columns.
    #[test]
    fn any_network(pairs in prop::collection::vec((0..12_usize, 0..12_usize, 0..4_u8), 1..16), ends in (0..12_usize, 0..12_usize)) {
        let mut links = String::new();
        let mut known = std::collections::BTreeSet::new();
        for (from, to, kind) in pairs {
            if from != to && known.insert([from.min(to), from.max(to)]) {
                let more = ["", "qdisc = 'red'", "back = { rate = '2 Mbit/s', qdisc = 'pi' }", "one_way = true"];
                links += &link(&format!("n{from}"), &format!("n{to}"), more[usize::from(kind)]);
            }
        }
        let class = class("x", 3, &format!("n{}", ends.0), &format!("n{}", ends.1));
        if let Ok(scenario) = parse(&format!("{HEAD}{links}{class}")) {
            let text = describe(&scenario);
            let tables = &text[..text.find("\nqdisc ").unwrap()];
            for link in &scenario.topology.links {
                let row = tables.lines().any(|line| line.trim_start().starts_with(&format!("{} ", link.name)));
                prop_assert!(row || link.is_back, "{} is not in:\n{tables}", link.name);
            }
            prop_assert!(tables.lines().all(|line| line.len() <= 80), "{tables}");
        }
    }
}
