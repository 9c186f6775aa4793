//! Networks as people see them before a run.

use crate::common::parse;
use proptest::prelude::*;
use sojourn_scenario::Scenario;

const HEAD: &str = "title = 'A network'\nduration = '10 s'\n";

fn scenario(text: &str) -> Scenario {
    parse(&format!("{HEAD}{text}")).unwrap_or_else(|faults| panic!("{faults}"))
}

/// The drawing alone: what stands between the title and the facts.
fn drawing(text: &str) -> String {
    let said = scenario(text).describe();
    let start = said.find("\n\n").expect("a title") + 2;
    let end = said.find("\nlinks ").or_else(|| said.find("\nbottleneck ")).expect("facts");
    said[start..end].to_string()
}

/// A link of 1 Mbit/s and 1 ms with more keys.
fn link(from: &str, to: &str, more: &str) -> String {
    format!("[[links]]\nfrom = '{from}'\nto = '{to}'\nrate = '1 Mbit/s'\ndelay = '1 ms'\n{more}\n")
}

fn class(name: &str, count: u32, from: &str, to: &str) -> String {
    format!("[[flows]]\nname = '{name}'\ncount = {count}\nfrom = '{from}'\nto = '{to}'\n")
}

const LINE: &str = "rate = '10 Mbit/s'\ndelay = '5 ms'\nbuffer = '200 packets'\ndisc = 'red'\n";

/// What is drawn, line by line.
#[track_caller]
fn drawn(text: &str, lines: &[&str]) {
    let found = drawing(text);
    assert!(found.lines().eq(lines.iter().copied()), "\n{found}");
}

fn ring() -> String {
    let links =
        [link("a", "b", "disc = 'codel'"), link("b", "c", ""), link("c", "d", ""), link("d", "a", "")];
    links.concat()
}

#[test]
fn a_parking_lot() {
    let classes =
        [class("long", 10, "r1", "r5"), class("cross", 3, "r2", "r3"), class("home", 1, "r4", "r1")];
    let text = format!("[parking_lot]\n{LINE}{}", classes.concat());
    drawn(
        &text,
        &[
            "            r1 --[ red ]--> r2 --[ red ]--> r3 --[ red ]--> r4 --[ red ]--> r5",
            "",
            "  10 x long o--------------------------------------------------------------->",
            "  3 x cross                 o--------------->",
            "  1 x home  <-----------------------------------------------o",
        ],
    );
    // What the links have in common is told once.
    let said = scenario(&text).describe();
    for part in [
        "links       r1-r2, r2-r3, r3-r4, r4-r5: 10 Mbit/s, 5 ms, buffer 200 packets; back the same, without a disc\n",
        "disc        fifo under red, at each of 4 links\n",
        "              way r4 > r3 > r2 > r1\n",
        "base RTT    long: 40 ms\n            cross: 10 ms\n            home: 30 ms\n",
        "rate x RTT  r1-r2, r3-r4, r4-r5: 33.3 packets of 1500 B\n            r2-r3: 27.6 packets of 1500 B\n",
        "at most 33333 packets over the links with discs, at their first rates\n",
    ] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
    assert_eq!(said.matches("max_p = ").count(), 1);
    let own = scenario(&text).describe_under("Mine:x=1", "  x = 1\n");
    assert!(
        own.contains("r1 --[ Mine ]--> r2")
            && own.contains("disc        fifo under Mine:x=1, at each of 4 links\n")
    );
}

const SLOW: &str = "[bottleneck]\nrate = '10 Mbit/s'\ndelay = '5 ms'\nbuffer = '200 packets'\n";

#[test]
fn classes_of_a_plain_dumbbell_have_names() {
    let mice = "[[flows]]\napp = 'mice'\narrivals = { poisson = '50 ms' }\n";
    let text = format!("{SLOW}{}{mice}", class("long", 3, "left", "right"));
    drawn(
        &text,
        &[
            "  3 x long --- 100 Mbit/s, 0 s --------------+[ tail_drop | 200 packets ]== 10 Mbit/s, 5 ms ==+-- 3 sinks",
            "  at most 10000 x mice --- 100 Mbit/s, 0 s --+                                                +-- at most 10000 sinks",
        ],
    );
    let said = scenario(&text).describe();
    assert!(said.contains("flows       long: 3 x newreno bulk"), "{said}");
    assert!(said.contains("            mice: newreno mice"), "{said}");
}

#[test]
fn a_dumbbell_with_data_both_ways_is_a_graph() {
    let back = "back = { rate = '2 Mbit/s', buffer = '50 packets', disc = 'codel' }\n";
    let text = format!("{SLOW}{back}[[flows]]\napp = 'rrul'\n");
    drawn(
        &text,
        &[
            "                                10 Mbit/s, 5 ms",
            "                   left --[ tail_drop | 200 packets ]--> right",
            "                        <----[ codel | 50 packets ]-----",
            "                                 2 Mbit/s, 5 ms",
            "",
            "  4 x rrul-up      o------------------------------------->",
            "  4 x rrul-down    <-------------------------------------o",
            "  1 x rrul-ping    o------------------------------------->",
            "  1 x rrul-ping-be o------------------------------------->",
            "  1 x rrul-ping-bk o------------------------------------->",
            "  1 x rrul-ping-ef o------------------------------------->",
        ],
    );
    let said = scenario(&text).describe();
    for part in [
        "links       bottleneck: 10 Mbit/s, 5 ms, buffer 200 packets; back 2 Mbit/s, 5 ms, buffer 50 packets\n",
        "disc        fifo under tail_drop, at bottleneck\n",
        "disc        fifo under codel, at bottleneck.back\n",
        ", access 100 Mbit/s, 0 s\n",
        "way right > left\n",
    ] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
    // One class against the stream is enough.
    let against = drawing(&format!("{SLOW}{}", class("x", 2, "right", "left")));
    assert!(against.contains("  2 x x <--"), "{against}");
}

#[test]
fn what_is_not_really_many_is_all_told() {
    let disc = |n: usize| format!("disc = 'red:max={}packets'", 100 + n);
    let links: String = (0..20).map(|n| link(&format!("n{n}"), &format!("n{}", n + 1), &disc(n))).collect();
    let classes: String = (0..20).map(|n| class(&format!("class{n}"), 7, &format!("n{n}"), "n20")).collect();
    let said = scenario(&format!("{links}{classes}")).describe();
    assert!(said.contains("fifo under red:max=119 packets, at n19-n20\n"), "{said}");
    assert!(said.contains("  class19: 7 x") && !said.contains(" more "), "{said}");
}

#[test]
fn two_bottlenecks_with_what_hangs_at_them() {
    drawn(
        &format!(
            "[two_bottlenecks]\n{LINE}{}{}",
            class("long", 10, "r1", "r4"),
            class("cross", 3, "r5", "r6")
        ),
        &[
            "            r1 ---- r2 --[ red | 200 packets ]--> r3 --[ red | 200 packets ]--> r4",
            "                    |                             |",
            "                    +---- r5                      +---- r6",
            "",
            "  10 x long o------------------------------------------------------------------->",
            "  3 x cross    r5 > o-----------------------------> r6",
        ],
    );
}

#[test]
fn a_home_has_two_rates() {
    let home = "[home]\nup = { rate = '2 Mbit/s', delay = '5 ms', buffer = '50 packets' }\n\
                down = { rate = '20 Mbit/s', delay = '5 ms', disc = 'codel' }\n[[flows]]\n";
    drawn(
        &format!("{home}{}", class("get", 2, "isp", "lan")),
        &[
            "                1 Gbit/s                2 Mbit/s, 5 ms",
            "           lan ---------- modem --[ tail_drop | 50 packets ]--> isp",
            "                                <----------[ codel ]-----------",
            "                                        20 Mbit/s, 5 ms",
            "",
            "  1 x bulk o---------------------------------------------------->",
            "  2 x get  <----------------------------------------------------o",
        ],
    );
}

#[test]
fn a_tree() {
    let links = [
        link("s1", "left", ""),
        link("s2", "left", ""),
        link("s3", "right", ""),
        link("s4", "right", ""),
        link("left", "core", "disc = 'red'"),
        link("right", "core", "disc = 'codel'"),
        link("core", "sink", "disc = 'pi'\nbuffer = '50 packets'\nback = { rate = '9 Mbit/s' }"),
    ];
    let classes =
        [class("up", 2, "s1", "sink"), class("more", 2, "s3", "sink"), class("down", 2, "sink", "s4")];
    drawn(
        &format!("{}{}", links.concat(), classes.concat()),
        &[
            "               1 Mbit/s, 1 ms        1 Mbit/s, 1 ms            1 Mbit/s, 1 ms",
            "           s1 ---------------- left ----[ red ]----> core --[ pi | 50 packets ]--> sink",
            "                               | 1 Mbit/s, 1 ms      |    <-----------------------",
            "                               +---------------- s2  |         9 Mbit/s, 1 ms",
            "                                                     | 1 Mbit/s, 1 ms         1 Mbit/s, 1 ms",
            "                                                     +<---[ codel ]--- right ---------------- s3",
            "                                                                       | 1 Mbit/s, 1 ms",
            "                                                                       +---------------- s4",
            "",
            "  2 x up   o----------------------------------------------------------------------->",
            "  2 x more                              s3 > right > o----------------------------->",
            "  2 x down                                s4 < right <-----------------------------o",
        ],
    );
}

#[test]
fn a_ring_closes() {
    drawn(
        &format!("{}{}", ring(), class("half", 2, "a", "c")),
        &[
            "           a --[ codel ]--> b ---- c",
            "           |                       |",
            "           +---------- d ----------+",
            "",
            "  2 x half o----------------------->",
        ],
    );
    drawn(
        &format!("{}{}", ring(), class("side", 2, "a", "b")),
        &[
            "           a ---[ codel ]---> b",
            "           |                  |",
            "           +---- d ---- c ----+",
            "",
            "  2 x side o------------------>",
        ],
    );
}

#[test]
fn a_long_chain_goes_on_in_the_next_line() {
    let chain: String =
        (1..9).map(|n| link(&format!("n{n}"), &format!("n{}", n + 1), "disc = 'red'")).collect();
    drawn(
        &format!("{chain}{}{}", link("n3", "q", ""), class("x", 2, "n1", "n9")),
        &[
            "  n1 --[ red ]--> n2 --[ red ]--> n3 --[ red ]--> n4 --[ red ]--> n5 --[ red ]--> n6 --[ red ]--> n7",
            "                                  |",
            "                                  +---- q",
            "",
            "  n7 --[ red ]--> n8 --[ red ]--> n9",
        ],
    );
}

#[test]
fn what_is_tangled_is_a_list() {
    let pairs =
        (0..6).flat_map(|to| (0..to).map(move |from| link(&format!("m{from}"), &format!("m{to}"), "")));
    let text = format!(
        "{}{}{}",
        link("m5", "x", "disc = 'red'"),
        pairs.collect::<String>(),
        class("y", 2, "m0", "x")
    );
    let found = drawing(&text);
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "  7 nodes, 32 links between them, 1 of those with a disc",
            "  m5 --[ red ]--> x  1 Mbit/s, 1 ms",
            "  m0 ---- m1  1 Mbit/s, 1 ms"
        ]
    );
    assert_eq!(lines.len(), 1 + 16);
}

#[test]
fn what_is_large_is_short() {
    let disc = |n: usize| format!("disc = 'red:max={}packets'", 100 + n);
    let long = |n: usize| format!("a-node-with-a-name-of-32-l-{n:05}");
    let links: String = (0..1000).map(|n| link(&long(n), &long(n + 1), &disc(n))).collect();
    let classes: String =
        (0..100).map(|n| class(&format!("class{n}"), 7, &long(n), &long(n + 500))).collect();
    let said = scenario(&format!("{links}{classes}")).describe();
    assert!(said.lines().count() < 140, "{said}");
    assert!(said.lines().all(|line| line.len() < 700), "{said}");
    for part in [
        "and 980 more pairs of nodes\n",
        "and 92 more classes\n",
        "and 996 more kinds of discs\n",
        " > ... > ",
    ] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
}

#[test]
fn a_way_back_of_its_own_is_told() {
    let text = format!("{}{}back = ['c', 'd', 'a']\naccess.delay = '5 ms'", ring(), class("x", 1, "a", "c"));
    let said = scenario(&text).describe();
    assert!(said.contains(", access 10 Mbit/s, 5 ms\n"), "{said}");
    assert!(said.contains("  way a > b > c, back c > d > a\n"), "{said}");
    let dumbbell =
        "[bottleneck]\nrate = '8 Mbit/s'\ndelay = '1 ms'\nback = { rate = '1 Mbit/s' }\n[[flows]]\n";
    let said = scenario(dumbbell).describe();
    assert!(
        said.contains("bottleneck  8 Mbit/s, 1 ms one way\nback        1 Mbit/s, 1 ms one way\n"),
        "{said}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the network, each node is drawn and no line is endless.
    #[test]
    fn any_network(pairs in prop::collection::vec((0..12_usize, 0..12_usize, 0..4_u8), 1..16), ends in (0..12_usize, 0..12_usize)) {
        let mut links = String::new();
        let mut known = std::collections::BTreeSet::new();
        for (from, to, kind) in pairs {
            if from != to && known.insert([from.min(to), from.max(to)]) {
                let more = ["", "disc = 'red'", "back = { rate = '2 Mbit/s', disc = 'pi' }", "one_way = true"];
                links += &link(&format!("n{from}"), &format!("n{to}"), more[usize::from(kind)]);
            }
        }
        let class = class("x", 3, &format!("n{}", ends.0), &format!("n{}", ends.1));
        if let Ok(scenario) = parse(&format!("{HEAD}{links}{class}")) {
            let said = scenario.describe();
            let drawing = &said[..said.find("\nlinks ").unwrap()];
            for node in &scenario.topology.nodes {
                prop_assert!(drawing.contains(node.as_str()), "{node} is not in:\n{drawing}");
            }
            prop_assert!(drawing.lines().all(|line| line.len() <= 150), "{drawing}");
        }
    }
}
