//! Warnings of valid scenarios.

use crate::common::{LEAST, parse};
use sojourn_describe::describe;

fn warnings(text: &str) -> Vec<String> {
    sojourn_describe::warnings(&parse(text).unwrap())
}

#[test]
fn data_over_a_direction_without_a_limit_causes_a_warning() {
    assert_eq!(warnings(LEAST), [""; 0]);
    let warning = "rrul-down sends data over bottleneck.back, which has no limit: its queue may grow to the receive \
                windows; give back = { buffer = ..., qdisc = ... }.";
    assert_eq!(warnings(&format!("{LEAST}app = \"rrul\"\n")), [warning]);
    let text = describe(&parse(&format!("{LEAST}app = \"rrul\"\n")).unwrap());
    assert!(text.ends_with(&format!("\nnotes       {warning}\n")), "{text}");
    assert!(!describe(&parse(LEAST).unwrap()).contains("\nnotes "));
    let limited =
        LEAST.replace("[[flows]]", "back = { buffer = \"100 packets\" }\n[[flows]]\napp = \"rrul\"");
    assert_eq!(warnings(&limited), [""; 0]);
    // Data that arrives at the rate of the link or below does not wait.
    for (rates, warning) in [
        (["10", "10"], None),
        (["10", "20"], None),
        (
            ["20", "10"],
            Some(
                "bulk sends data over b-c, which has no limit: its queue may grow to the receive windows; give it a buffer and a qdisc.",
            ),
        ),
    ] {
        let text = format!(
            "title = \"T\"\nduration = \"1 s\"\n[[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"{} Mbit/s\"\ndelay = \"1 ms\"\n\
             qdisc = \"pie\"\n[[links]]\nfrom = \"b\"\nto = \"c\"\nrate = \"{} Mbit/s\"\ndelay = \"1 ms\"\n[[flows]]\nfrom = \"a\"\nto = \"c\"\n",
            rates[0], rates[1]
        );
        assert_eq!(warnings(&text).first().map(String::as_str), warning, "{rates:?}");
    }
}

#[test]
fn an_overload_of_datagrams_causes_a_warning() {
    let text = |rate| {
        format!(
            "{LEAST}app = \"cbr:rate={rate} Mbit/s\"\nfrom = \"right\"\nto = \"left\"\n[[flows]]\napp = \"ping\"\n"
        )
    };
    assert_eq!(warnings(&text(9)), [""; 0]);
    assert!(warnings(&text(11))[0].contains("may grow without end"));
    let two = text(6).replace("[[flows]]\napp = \"ping\"", "count = 2");
    assert!(warnings(&two)[0].contains("may grow without end"));
    let more = format!("{}[[at]]\ntime = \"500 ms\"\nset = {{ \"cbr.count\" = 2 }}\n", text(6));
    assert!(warnings(&more)[0].contains("may grow without end"));
}

/// An answer of 200 bytes a tick makes no queue, nor does a small transfer.
#[test]
fn small_transfers_cause_no_warning() {
    let text = |app: &str| format!("{LEAST}from = \"right\"\nto = \"left\"\napp = {app}\n");
    assert_eq!(warnings(&text("\"game\"")), [""; 0]);
    assert_eq!(warnings(&text("\"transfer:size=3 kB\"")), [""; 0]);
    assert_eq!(warnings(&text("\"transfer:size=3 MB\"")).len(), 1);
}

#[test]
fn a_qdisc_without_traffic_causes_a_warning() {
    let text = LEAST
        .replace("[[flows]]", "back = { qdisc = \"codel\" }\n[[flows]]\nfrom = \"right\"\nto = \"left\"");
    assert_eq!(warnings(&text), [""; 0]);
    let datagrams = format!("{text}app = \"cbr:rate=1 Mbit/s\"\n");
    assert_eq!(warnings(&datagrams), ["bottleneck has a qdisc that no traffic crosses."]);
    let lot = LEAST.replace("bottleneck", "parking_lot").replace("[[flows]]", "[[flows]]\nto = \"r2\"");
    assert_eq!(warnings(&lot), ["r2-r3, r3-r4, r4-r5 have qdiscs that no traffic crosses."]);
}

#[test]
fn a_link_that_loses_everything_causes_a_warning() {
    let text = LEAST.replace("[[flows]]", "impairments = { loss = 1 }\n[[flows]]");
    assert_eq!(warnings(&text), ["bottleneck loses every packet, so that no data of bulk arrives."]);
}

#[test]
fn a_warning_on_many_links_is_short() {
    let lot = LEAST
        .replace("bottleneck]", "parking_lot]\nrouters = 1000")
        .replace("[[flows]]", "[[flows]]\nto = \"r2\"");
    let warning =
        "r2-r3, r3-r4, r4-r5, r5-r6, r6-r7, r7-r8 and 992 more have qdiscs that no traffic crosses.";
    assert_eq!(warnings(&lot), [warning]);
}

/// More data arrives at b-c than it carries, but for each class only as much as its own qdisc passes.
#[test]
fn a_class_waits_at_the_narrowest_link_of_its_route() {
    let link = |from, to, rate, qdisc| {
        format!(
            "[[links]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"1 ms\"\n{qdisc}\n"
        )
    };
    let flows = |from| format!("[[flows]]\nname = \"of-{from}\"\nfrom = \"{from}\"\nto = \"c\"\n");
    let text = |rate| {
        let qdisc = "qdisc = \"pie\"";
        let links = link("a", "b", 10, qdisc) + &link("d", "b", 30, qdisc) + &link("b", "c", rate, "");
        format!("title = \"T\"\nduration = \"1 s\"\n{links}{}{}", flows("a"), flows("d"))
    };
    assert!(warnings(&text(20))[0].starts_with("of-d sends data over b-c, which has no limit"));
    assert!(warnings(&text(9))[0].starts_with("of-a, of-d send data over b-c, which has no limit"));
    assert_eq!(warnings(&text(40)), [""; 0]);
}
