//! Certificates of networks, beside the loop of one link and the running fluid.

use sojourn_fluid::linear::nyquist::Count;
use sojourn_fluid::prove::{Certificate, Request, Verdict, certificate};
use sojourn_params::InputError;
use sojourn_scenario::Scenario;

/// Two links of these rates, Mbit/s, and 20 ms, 40 flows over both and 10 over each where it is not wide, under the PI
/// of `gains` times 4.6e-4.
fn chain(rates: [f64; 2], gains: [f64; 2]) -> Result<Certificate, InputError> {
    let link = |name: &str, from: &str, to: &str, (rate, gain): (f64, f64)| {
        let (a, b) = (4.614e-4 * gain, 4.586e-4 * gain);
        format!(
            "[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"20 ms\"\n\
             buffer = \"2000 packets\"\nqdisc = {{ law = \"pi\", target = \"150 packets\", a = {a}, b = {b} }}\n"
        )
    };
    let flows = |name: &str, from: &str, to: &str, count: u32| match count {
        0 => String::new(),
        _ => format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\ncc = \"newreno\"\n\
             ecn = true\nsegment = \"1000 B\"\naccess = {{ rate = \"1 Gbit/s\", delay = \"20 ms\" }}\n"
        ),
    };
    let own = |link: usize| if rates[link] > 1000.0 { 0 } else { 10 };
    let text = [
        "title = \"t\"\nduration = \"10 s\"\nfluid_window = \"mgt\"\n".into(),
        link("a", "r0", "r1", (rates[0], gains[0])),
        link("b", "r1", "r2", (rates[1], gains[1])),
        flows("both", "r0", "r2", 40),
        flows("first", "r0", "r1", own(0)),
        flows("second", "r1", "r2", own(1)),
    ];
    let scenario = Scenario::parse(text.concat().as_bytes(), "test", &[]).unwrap();
    certificate(&Request { scenario: &scenario, link: None, own: None })
}

/// Each link alone is stable, the other wide; both together were certified one by one once, and oscillate.
#[test]
fn a_chain_that_oscillates_is_unstable() {
    for alone in [[10.0, 10_000.0], [10_000.0, 10.0]] {
        let found = chain(alone, [1.0; 2]).unwrap();
        assert_eq!((&found.verdict, found.joint.is_none()), (&Verdict::Stable, true), "{alone:?}");
    }
    let found = chain([10.0; 2], [1.0; 2]).unwrap();
    assert_eq!(found.verdict, Verdict::Unstable);
    let joint = found.joint.as_ref().unwrap();
    let names: Vec<&str> = joint.links.iter().map(|of| of.setting.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(joint.count, Some(Count { encirclements: 2, open: 0, closed: 2 }));
    assert!(joint.residual < 1e-9, "{}", joint.residual);
    // By symmetry both have one p, and all windows fit: W^2 s = 2, n W / R in packets/s.
    let [a, b] = [0, 1].map(|link: usize| &joint.links[link].equilibrium);
    assert!((a.p / b.p - 1.0).abs() < 1e-7 && a.backlog == 150.0, "{a:?} {b:?}");
    let both = (2.0 / (1.0 - (1.0 - a.p) * (1.0 - b.p))).sqrt();
    let own = (2.0 / a.p).sqrt();
    assert!((a.windows[0] / both - 1.0).abs() < 1e-9 && (a.windows[1] / own - 1.0).abs() < 1e-9);
    assert!((40.0 * both / 0.4 + 10.0 * own / 0.24 - 1250.0).abs() < 1e-5, "{both} {own}");
}

/// At the gain margin of one link, the other's gain unchanged, a pair of poles crosses the axis.
#[test]
fn the_margin_of_a_link_is_where_its_gain_makes_the_network_unstable() {
    let found = chain([10.0; 2], [0.6; 2]).unwrap();
    assert_eq!(found.verdict, Verdict::Stable);
    for (number, of) in found.joint.as_ref().unwrap().links.iter().enumerate() {
        let margins = found.loops[of.of.unwrap()].margins.as_ref().unwrap();
        let margin = margins.gain_up().unwrap();
        for (share, verdict) in [(0.999, Verdict::Stable), (1.001, Verdict::Unstable)] {
            let mut gains = [0.6; 2];
            gains[number] *= margin * share;
            assert_eq!(chain([10.0; 2], gains).unwrap().verdict, verdict, "{number} {margin} {share}");
        }
    }
}

/// Two links of 10 Mbit/s that no flows share, with so many flows each.
fn apart(flows: [u32; 2]) -> Result<Certificate, InputError> {
    let part = |name: &str, from: &str, to: &str, count: u32| {
        format!(
            "[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n\
             buffer = \"900 packets\"\nqdisc = {{ law = \"pi\", target = \"50 packets\" }}\n\
             [[flows]]\nname = \"of-{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\ncc = \"newreno\"\n\
             ecn = true\nsegment = \"1000 B\"\naccess = {{ rate = \"10 Mbit/s\", delay = \"0 ms\" }}\n"
        )
    };
    let [a, b] = flows;
    let text =
        ["title = \"t\"\nduration = \"10 s\"\n".into(), part("a", "r1", "r2", a), part("b", "r3", "r4", b)];
    let scenario = Scenario::parse(text.concat().as_bytes(), "test", &[]).unwrap();
    certificate(&Request { scenario: &scenario, link: None, own: None })
}

/// A saturated link leaves the scenario without a certificate, though the other one is stable.
#[test]
fn a_link_without_an_equilibrium_is_not_passed_over() {
    for flows in [[20, 2000], [2000, 20]] {
        let name = if flows[0] > flows[1] { "a" } else { "b" };
        let error = apart(flows).err().expect("one link is saturated").to_string();
        assert!(
            error.starts_with(&format!("{name}: 25000.000000 packets/s arrive even at p = 1")),
            "{error}"
        );
    }
}

/// Flows spread over round trips are as many classes in a network as on one link: beside a single flow over both links the p
/// of one is nearly that of the link alone.
#[test]
fn classes_of_a_network_are_split_by_their_round_trips() {
    let link = |name: &str, from: &str, to: &str| {
        format!(
            "[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"20 Mbit/s\"\ndelay = \"2 ms\"\n\
             buffer = \"1500 packets\"\nqdisc = {{ law = \"pi\", target = \"200 packets\" }}\n"
        )
    };
    let flows = |name: &str, from: &str, to: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ncount = 40\ncc = \"newreno\"\necn = true\n\
             segment = \"1000 B\"\naccess = {{ rate = \"1 Gbit/s\", delay = {{ spread = [\"5 ms\", \"80 ms\"] }} }}\n"
        )
    };
    let across = "[[flows]]\nname = \"all\"\nfrom = \"r0\"\nto = \"r2\"\ncount = 1\ncc = \"newreno\"\necn = true\nsegment = \"1000 B\"\n";
    let title = "title = \"t\"\nduration = \"10 s\"\n";
    let one = [title.into(), link("a", "r0", "r1"), flows("first", "r0", "r1")].concat();
    let two = [
        title.into(),
        link("a", "r0", "r1"),
        link("b", "r1", "r2"),
        flows("first", "r0", "r1"),
        flows("second", "r1", "r2"),
        across.into(),
    ]
    .concat();
    let [one, two] = [one, two].map(|text| {
        let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
        certificate(&Request { scenario: &scenario, link: None, own: None }).unwrap()
    });
    assert!(two.joint.is_some() && two.verdict == Verdict::Stable, "{:?}", two.verdict);
    let p = |of: &Certificate| of.equilibrium.as_ref().unwrap().p;
    let gain = |of: &Certificate| of.judged().unwrap().margins.as_ref().unwrap().gain_up().unwrap();
    assert!((p(&two) / p(&one) - 1.0).abs() < 0.06, "{} {}", p(&one), p(&two));
    assert!((gain(&two) / gain(&one) - 1.0).abs() < 0.1, "{} {}", gain(&one), gain(&two));
    assert_eq!(two.setting.link.classes.len(), 9);
}

/// Two links of 10 Mbit/s in a row under these laws, with so many flows over both and over each.
fn row(laws: [&str; 2], count: u32) -> Result<Certificate, InputError> {
    let link = |name: &str, from: &str, to: &str, law: &str| {
        format!(
            "[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
             buffer = \"900 packets\"\nqdisc = {{ {law} }}\n"
        )
    };
    let flows = |name: &str, from: &str, to: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\ncc = \"newreno\"\necn = true\n\
             segment = \"1000 B\"\naccess = {{ delay = \"10 ms\" }}\n"
        )
    };
    let text = [
        "title = \"t\"\nduration = \"10 s\"\n".into(),
        link("a", "r0", "r1", laws[0]),
        link("b", "r1", "r2", laws[1]),
        flows("both", "r0", "r2"),
        flows("first", "r0", "r1"),
        flows("second", "r1", "r2"),
    ];
    let scenario = Scenario::parse(text.concat().as_bytes(), "test", &[]).unwrap();
    certificate(&Request { scenario: &scenario, link: None, own: None })
}

/// In a network, too, a law whose marks turn to drops at the p that the flows need alternates: its rates do settle on each
/// side.
#[test]
fn a_law_between_marks_and_drops_alternates_in_a_network() {
    let pi = "law = \"pi\", target = \"50 packets\"";
    let between = row([pi, "law = \"pie\", target = \"60 ms\""], 28).unwrap();
    let Verdict::NotProven(reason) = &between.verdict else { panic!("{:?}", between.verdict) };
    // A spread p of RFC 8033's tenth.
    assert!(reason.contains(": b: the law marks below p = 0.05556 and drops from there on"), "{reason}");
    assert!(reason.ends_with("so that p alternates between the two"), "{reason}");
}

/// More flows than a link has packets for in a round trip: what does not fit is neither acknowledged nor comes to the next
/// link, and the saturated link is the reason.
#[test]
fn a_saturated_link_of_a_network_is_the_reason() {
    let pi = "law = \"pi\", target = \"50 packets\"";
    for count in [100, 2000] {
        let error = row([pi, pi], count).err().expect("both links are saturated").to_string();
        assert!(error.starts_with("a: "), "{error}");
        assert!(
            error.contains("packets/s arrive even at p = 1; expected at most the link's 1250"),
            "{error}"
        );
    }
}
