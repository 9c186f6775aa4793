//! What is legal and told all the same.

use crate::common::{LEAST, parse};

fn notes(text: &str) -> Vec<String> {
    parse(text).unwrap().notes()
}

#[test]
fn data_over_a_direction_without_a_limit_are_told() {
    assert_eq!(notes(LEAST), [""; 0]);
    let told = "rrul-down sends data over bottleneck.back, which has no limit: its queue may grow to the receive \
                windows; give back = { buffer = ..., disc = ... }.";
    assert_eq!(notes(&format!("{LEAST}app = \"rrul\"\n")), [told]);
    let said = parse(&format!("{LEAST}app = \"rrul\"\n")).unwrap().describe();
    assert!(said.ends_with(&format!("\nnotes       {told}\n")), "{said}");
    assert!(!parse(LEAST).unwrap().describe().contains("\nnotes "));
    let limited =
        LEAST.replace("[[flows]]", "back = { buffer = \"100 packets\" }\n[[flows]]\napp = \"rrul\"");
    assert_eq!(notes(&limited), [""; 0]);
    // What comes in at the rate at which it leaves does not wait, nor what is slower elsewhere.
    for (rates, told) in [
        (["10", "10"], None),
        (["10", "20"], None),
        (
            ["20", "10"],
            Some(
                "bulk sends data over b-c, which has no limit: its queue may grow to the receive windows; give it a buffer and a disc.",
            ),
        ),
    ] {
        let text = format!(
            "title = \"T\"\nduration = \"1 s\"\n[[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"{} Mbit/s\"\ndelay = \"1 ms\"\n\
             disc = \"pie\"\n[[links]]\nfrom = \"b\"\nto = \"c\"\nrate = \"{} Mbit/s\"\ndelay = \"1 ms\"\n[[flows]]\nfrom = \"a\"\nto = \"c\"\n",
            rates[0], rates[1]
        );
        assert_eq!(notes(&text).first().map(String::as_str), told, "{rates:?}");
    }
}

#[test]
fn datagrams_pile_up_where_there_are_too_many() {
    let text = |rate| {
        format!(
            "{LEAST}app = \"cbr\"\nrate = \"{rate} Mbit/s\"\nfrom = \"right\"\nto = \"left\"\n[[flows]]\napp = \"ping\"\n"
        )
    };
    assert_eq!(notes(&text(9)), [""; 0]);
    assert!(notes(&text(11))[0].contains("may grow without end"));
    let two = text(6).replace("[[flows]]\napp = \"ping\"", "count = 2");
    assert!(notes(&two)[0].contains("may grow without end"));
    let more = format!("{}[[at]]\ntime = \"500 ms\"\nset = {{ \"cbr.count\" = 2 }}\n", text(6));
    assert!(notes(&more)[0].contains("may grow without end"));
}

/// An answer of 200 bytes a tick makes no queue, nor does a small transfer.
#[test]
fn what_is_small_is_not_told() {
    let text = |app: &str| format!("{LEAST}from = \"right\"\nto = \"left\"\napp = {app}\n");
    assert_eq!(notes(&text("\"game\"")), [""; 0]);
    assert_eq!(notes(&text("\"transfer\"\nsize = \"3 kB\"")), [""; 0]);
    assert_eq!(notes(&text("\"transfer\"\nsize = \"3 MB\"")).len(), 1);
}

#[test]
fn a_disc_that_nothing_passes_is_told() {
    let text =
        LEAST.replace("[[flows]]", "back = { disc = \"codel\" }\n[[flows]]\nfrom = \"right\"\nto = \"left\"");
    assert_eq!(notes(&text), [""; 0]);
    let datagrams = format!("{text}app = \"cbr\"\nrate = \"1 Mbit/s\"\n");
    assert_eq!(notes(&datagrams), ["bottleneck has a disc that no traffic crosses."]);
    let lot = LEAST.replace("bottleneck", "parking_lot").replace("[[flows]]", "[[flows]]\nto = \"r2\"");
    assert_eq!(notes(&lot), ["r2-r3, r3-r4, r4-r5 have discs that no traffic crosses."]);
}

#[test]
fn a_link_that_loses_all_is_told() {
    let text = LEAST.replace("[[flows]]", "impairments = { loss = 1 }\n[[flows]]");
    assert_eq!(notes(&text), ["bottleneck loses every packet, so that nothing of bulk gets through."]);
}

#[test]
fn a_note_of_many_is_short() {
    let lot = LEAST
        .replace("bottleneck]", "parking_lot]\nrouters = 1000")
        .replace("[[flows]]", "[[flows]]\nto = \"r2\"");
    let told = "r2-r3, r3-r4, r4-r5, r5-r6, r6-r7, r7-r8 and 992 more have discs that no traffic crosses.";
    assert_eq!(notes(&lot), [told]);
}
