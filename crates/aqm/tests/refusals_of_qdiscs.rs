//! Errors of the parameters of qdiscs, a line each: key, value, rule.

use sojourn_aqm::{FlowClass, LinkContext, Place, QdiscSpec};
use sojourn_params::{Errors, Expected, Quantity, Value};
use sojourn_units::{Rate, Span};
use std::fmt::Write as _;

/// A link of 10 Mbit/s with a buffer of 300 packets, which the flows of two classes cross.
fn place() -> Place<'static> {
    let context = LinkContext {
        rate: Rate::from_bits_per_second(10e6),
        packet: 1000.0,
        limit: 300.0,
        flows: Some(60.0),
        base_rtt: Some(Span::from_millis(200)),
    };
    Place { context, classes: &CLASSES }
}

const CLASSES: [FlowClass<'static>; 2] = [FlowClass::of_one_flow("bulk"), FlowClass::of_one_flow("call")];

const REFUSED: &[&str] = &[
    // Names.
    "dr",
    "fifo",
    "drr:law=drr",
    "drr:law=fq_codel",
    "drr:law=codl",
    "wfq:law=cake",
    "prio:law=drr",
    "dual:law=pie",
    "cake:law=codel",
    "shaper:rate=5 Mbit/s,qdisc=drrr",
    "shaper:rate=5 Mbit/s,qdisc=fifo",
    "drr:quantm=300 B",
    "drr:law=codel,law.targt=5 ms",
    // Names that stand elsewhere.
    "dualpi2",
    "shaper:rate=5 Mbit/s,qdisc=pfifo",
    "drr:target=5 ms",
    "drr:law=pi,target=50 packets",
    "fq_codel:target=5 ms",
    "fq_codel:flows=32",
    "fq_codel:memory_limit=1 MB",
    "shaper:rate=5 Mbit/s,target=5 ms",
    "shaper:rate=5 Mbit/s,quantum=300 B",
    "dual:max_rtt=50 ms",
    "cake:mpu=64 B",
    // Values out of range or of another kind.
    "drr:buckets=0",
    "drr:buckets=100000",
    "drr:buckets=2.5",
    "drr:quantum=0 B",
    "drr:quantum=39 B",
    "drr:quantum=1514",
    "drr:limit=0",
    "drr:batch=0",
    "drr:memory=0 B",
    "drr:ce_threshold=0 s",
    "drr:by=port",
    "drr:new_first=maybe",
    "drr:weights.call=-1",
    "drr:weights.call=0",
    "drr:weights.call=high",
    "drr:weights=3",
    "drr:weights={call=-1,bulk=2}",
    "drr:reserved=call",
    "drr:law.target=5",
    "drr:law=codel,law.target=-5 ms",
    "wfq:clock=sundial",
    "wfq:buckets=0",
    "shaper:qdisc=drr",
    "shaper:rate=0 bit/s",
    "shaper:rate=-1 Mbit/s",
    "shaper:rate=5 Mbit/s,qdisc=drr,qdisc.buckets=0",
    "shaper:rate=5 Mbit/s,qdisc=drr,qdisc.law=codel,qdisc.law.target=5",
    "shaper:rate=5 Mbit/s,framing=token_ring",
    "cake:bandwidth=0 bit/s",
    "cake:rtt=1 us",
    "cake:diffserv=diffserv5",
    "cake:isolation=none",
    "cake:ack_filter=true",
    "cake:memlimit=0 B",
    "dual:k=0",
    "dual:defaults=freebsd",
    "sqm:queues=0",
    "sqm:queues=100000",
    "sqm:find=luck",
    "sqm:alpha=-1",
    "sqm:alpha=0.05",
    "sqm:alpha=9",
    "sqm:alpha=fair",
    "sqm:form=red",
    "sqm:period=0 s",
    "sqm:reserved.part=1",
    "sqm:reserved.law=choke",
    "sqm:reserved.law=cod",
    "sqm:reserved=codel",
    "sqm:weights.call=0",
    "sqm:floor=0 bit/s",
    // What does not fit the link, its classes or its buffer.
    "sqm:floor=9 Mbit/s,queues=2",
    "sqm:floor=9 kbit/s",
    "sqm:limit=1024",
    "sqm:queues=20000",
    "sqm:memory=999 B",
    "sqm:reserved.rate=10 Mbit/s",
    "sqm:weights.video=2",
    "sqm:alpha=max_min,step=adaptive",
    "sqm:alpha=max_min,step=primal_dual",
    "sqm:alpha=0,step=newton",
    "sqm:alpha=0,coordinator=decentralised",
    "sqm:alpha=max_min,coordinator=decentralised",
    "drr:quantum=900 kB",
    "drr:quantum=20 kB,limit=10",
    "drr:quantum=3 kB,memory=2 kB",
    "drr:memory=999 B",
    "wfq:memory=1 B",
    "prio:memory=1 B",
    "cake:memlimit=1 B",
    "shaper:rate=5 Mbit/s,qdisc=drr,qdisc.quantum=3 kB,qdisc.memory=2 kB",
    "drr:weights.voice=2",
    "wfq:weights.cal=2",
    "drr:reserved.rate=1 Mbit/s",
    "drr:reserved.classes=[call]",
    "drr:reserved.classes=[voice],reserved.rate=1 Mbit/s",
    "drr:reserved.classes=[call],reserved.rate=1 Mbit/s,weights.call=2",
    "drr:reserved.classes=[call],reserved.rate=10 Mbit/s",
    "wfq:reserved.classes=[call],reserved.rate=20 Mbit/s",
    "prio:order=[voice]",
    "prio:order=[]",
    "prio:order=[call, bulk, call]",
    // What contradicts itself.
    "drr:law=choke,law.min=10 packets,law.max=30 packets",
    "fq_codel:law=choke,law.min=10 packets,law.max=30 packets",
    "prio:law=choke,law.min=10 packets,law.max=30 packets",
    "drr:law=codel,law.target=200 ms",
    "shaper:rate=5 Mbit/s,qdisc=drr,qdisc.law=codel,qdisc.law.target=200 ms",
    "cake:ingress=true",
];

fn refused(spec: &str) -> Errors {
    match QdiscSpec::parse(spec) {
        Err(errors) => errors,
        Ok(qdisc) => match qdisc.at(&place()) {
            Err(error) => error.into(),
            Ok(_) => panic!("{spec} is accepted"),
        },
    }
}

/// The sentences are in `snapshots/qdisc_errors.snap`; `INSTA_UPDATE=always` writes them anew.
#[test]
fn what_a_qdisc_cannot_be_is_one_line() {
    let mut text = String::new();
    for spec in REFUSED {
        let errors: Vec<_> = refused(spec).into_iter().collect();
        assert_eq!(errors.len(), 1, "{spec}: {errors:?}");
        assert_ne!(errors[0].expected, Expected::Unstated, "{spec}: {}", errors[0]);
        let line = errors[0].to_string();
        assert!(!line.contains('\n'), "{spec}: {line}");
        writeln!(text, "{spec}\n  {line}").unwrap();
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("qdisc_errors", text));
}

/// A full frame, the default, fits any limit: a turn then is one packet.
#[test]
fn a_quantum_of_a_frame_fits() {
    for spec in ["drr:limit=1", "drr:memory=1 kB", "fq_codel:memory=1 kB,quantum=1514 B"] {
        assert!(QdiscSpec::parse(spec).unwrap().at(&place()).is_ok(), "{spec}");
    }
}

/// A change has the rules of the start, by the highest rate that the link has had.
#[test]
fn a_change_is_refused_as_at_the_start() {
    let reserved = "drr:reserved.classes=[call],reserved.rate=4 Mbit/s";
    let cases = [
        ("drr", "quantum", "900 kB", 10e6, Some("quantum: 900 kB is above the buffer")),
        (reserved, "reserved.rate", "12 Mbit/s", 20e6, None),
        (reserved, "reserved.rate", "20 Mbit/s", 20e6, Some("is not below the rate of the link, 20 Mbit/s")),
        (reserved, "reserved.rate", "12 Mbit/s", 10e6, Some("is not below the rate of the link, 10 Mbit/s")),
        (reserved, "reserved.rate", "5 Mbit/s", 4e6, None),
        (reserved, "quantum", "3 kB", 3e6, None),
    ];
    for (spec, key, value, rate, expected) in cases {
        let qdisc = QdiscSpec::parse(spec).unwrap().at(&place()).unwrap();
        let change = qdisc.change(&[(key.into(), Value::Text(value.into()))]).unwrap();
        let mut run = qdisc.dry_run();
        run.link_changed(Rate::from_bits_per_second(rate));
        let error = run.set_params(&change).err().map(|error| error.to_string());
        let is_expected = error.as_ref().zip(expected).is_some_and(|(error, part)| error.contains(part));
        assert!(is_expected || (error.is_none() && expected.is_none()), "{spec}, {key} = {value}: {error:?}");
    }
}

/// The forms of tables and of SPECs that mean the same.
#[test]
fn a_law_stands_in_a_table_or_beside_its_qdisc() {
    let table = |entries: &[(&str, Value)]| {
        Value::Table(entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
    };
    let text = |text: &str| Value::Text(text.into());
    let forms: [(Value, &str); 5] = [
        (table(&[("fq_codel", table(&[("quantum", text("300 B"))]))]), "fq_codel:quantum=300B"),
        (table(&[("drr", table(&[("law", text("pie"))]))]), "drr:law=pie"),
        (
            table(&[(
                "drr",
                table(&[
                    ("quantum", text("1514 B")),
                    ("law", table(&[("codel", table(&[("target", text("5 ms"))]))])),
                ]),
            )]),
            "drr:quantum=1514B,law=codel,law.target=5ms",
        ),
        (table(&[("cake", table(&[("bandwidth", text("20 Mbit/s"))]))]), "cake:bandwidth=20Mbit/s"),
        (
            table(&[(
                "shaper",
                table(&[
                    ("rate", text("5 Mbit/s")),
                    ("qdisc", table(&[("drr", table(&[("law", text("pie"))]))])),
                ]),
            )]),
            "shaper:rate=5Mbit/s,qdisc=drr,qdisc.law=pie",
        ),
    ];
    for (table, spec) in forms {
        let [table, spec] = [QdiscSpec::read(&table), QdiscSpec::parse(spec)].map(Result::unwrap);
        assert_eq!(table, spec);
        assert!(table.at(&place()).is_ok(), "{spec}");
    }
}
