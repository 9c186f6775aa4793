//! Certificates of scenarios, against the references and the textbook.

#[path = "../../aqm/tests/common/reference.rs"]
mod reference;

use reference::hold;
use sojourn_fluid::linear::complex::{Complex64, size};
use sojourn_fluid::linear::loops::Loop;
use sojourn_fluid::prove::{
    AtPoint, Cell, Certificate, Claim, Extent, Part, PlantModel, Points, Request, Shown, StepResponse,
    Verdict, at_points, certificate, examine,
};
use sojourn_params::InputError;
use sojourn_scenario::Scenario;
use sojourn_units::math::pow;

/// The network of Hollot et al., where R is 0.246 s.
fn proven(law: &str, flows: u32) -> Result<Certificate, InputError> {
    proven_by(law, flows, true)
}

/// The same with flows that can be marked or not.
fn proven_by(law: &str, flows: u32, ecn: bool) -> Result<Certificate, InputError> {
    let text = format!(
        "title = \"t\"\nduration = \"10 s\"\nfluid_window = \"mgt\"\n[bottleneck]\nrate = \"30 Mbit/s\"\ndelay = \"100 ms\"\n\
         buffer = \"800 packets\"\nqdisc = {{ {law} }}\n[[flows]]\ncount = {flows}\ncc = \"newreno\"\necn = {ecn}\n\
         segment = \"1000 B\"\n"
    );
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
    certificate(&Request { scenario: &scenario, link: None, own: None })
}

const PI: &str = "law = \"pi\", target = \"46 ms\"";

#[test]
fn pi_is_stable_with_the_margins_of_the_reference() {
    let found = proven(PI, 60).unwrap();
    assert_eq!(found.verdict, Verdict::Stable);
    let first = found.textbook().unwrap();
    assert_eq!((first.model, first.part, first.sampled), (PlantModel::Textbook, Part::Whole, false));
    let margins = first.margins.as_ref().unwrap();
    let phase = margins.phase().unwrap();
    let margins = [
        phase.frequency,
        phase.phase_margin.to_degrees(),
        margins.gain_up().unwrap(),
        margins.delay().unwrap(),
    ];
    hold("hollot.PI.R=0.246000.[wc,pm,gm,dm]", &margins);
    assert!(found.judged().unwrap().sampled);
}

#[test]
fn a_step_response_ends_at_1_under_an_integrating_law() {
    let found = proven(PI, 60).unwrap();
    for assessed in &found.loops {
        let StepResponse { values, .. } = StepResponse::of(assessed).unwrap();
        let last = values[values.len() - 1];
        assert!(values[0].abs() < 1e-6 && (last - 1.0).abs() < 0.02, "{:?}: {last}", assessed.model);
    }
}

/// A sampled-data loop does not go to 0 at the end of its band: nothing but L itself comes near to -1.
#[test]
fn the_modulus_margin_is_the_least_distance_of_the_loop() {
    for flows in [60, 400] {
        let text = format!(
            "title = \"t\"\nduration = \"10 s\"\nfluid_window = \"mgt\"\n[bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
             buffer = \"300 packets\"\nqdisc = {{ law = \"pi\", target = \"100 packets\" }}\n[[flows]]\ncount = {flows}\n\
             segment = \"1000 B\"\naccess = {{ rate = \"1 Gbit/s\", delay = \"10 ms\" }}\n"
        );
        let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
        let found = certificate(&Request { scenario: &scenario, link: None, own: None }).unwrap();
        let judged = found.judged().unwrap();
        let band = judged.of.band().unwrap();
        let distance = |frequency: f64| size(1.0 + judged.of.value(Complex64::new(0.0, frequency)));
        let least = (1..=20_000).map(|part| distance(band * f64::from(part) / 20_000.0));
        let least = least.fold(f64::INFINITY, f64::min);
        let modulus = judged.margins.as_ref().unwrap().modulus.distance;
        assert!((modulus / least - 1.0).abs() < 1e-3, "{flows}: {modulus}, {least}");
        assert_eq!(modulus > 1.5, flows == 400, "{modulus}");
    }
}

/// Where half of the packets are dropped senders wait for timers that double, which no window model has.
#[test]
fn calibrated_windows_are_not_proven_where_most_packets_are_dropped() {
    for (flows, ecn, is_proven) in [(100, false, true), (600, false, false), (300, true, true)] {
        let text = format!(
            "title = \"t\"\nduration = \"10 s\"\n[bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
             buffer = \"300 packets\"\nqdisc = {{ law = \"pi\", target = \"100 packets\", a = 1e-5, b = 0.99e-5, rate = \"160 Hz\" }}\n\
             [[flows]]\ncount = {flows}\ncc = \"newreno\"\necn = {ecn}\nsegment = \"1000 B\"\n\
             access = {{ rate = \"1 Gbit/s\", delay = \"{}\" }}\n",
            if ecn { "80 ms" } else { "10 ms" }
        );
        let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
        let found = certificate(&Request { scenario: &scenario, link: None, own: None }).unwrap();
        match found.verdict {
            Verdict::NotProven(reason) if !is_proven => {
                assert!(reason.starts_with("the equilibrium needs signals on 0.7"), "{reason}");
                assert!(reason.ends_with("and its windows are known up to 0.5"), "{reason}");
            }
            verdict => {
                assert!(is_proven && !matches!(verdict, Verdict::NotProven(_)), "{flows}: {verdict:?}");
            }
        }
    }
}

#[test]
fn a_map_agrees_with_certificates() {
    let found = proven(PI, 60).unwrap();
    let extent = Extent { flows: [10.0, 60.0], base_rtt: [0.2, 0.8], points: 6, threads: 2 };
    let region = found.region(&extent);
    assert_eq!(region, found.region(&Extent { threads: 1, ..extent }));
    assert_eq!(region.cells[0][5], Cell::Stable);
    assert_eq!(region.cells[5][0], Cell::Unstable);
    // The gains that 60 flows had designed, for ten.
    let same = "law = \"pi\", target = \"46 ms\", a = 1.852780906338255e-5, b = 1.8466677319079454e-5";
    let few = proven(same, 10).unwrap().verdict;
    assert_eq!(region.cells[0][0] == Cell::Stable, few == Verdict::Stable);
}

/// The law at points of N and the base RTT.
fn judged(law: &str, at: &[[f64; 2]], accepts_partial: bool) -> Vec<Result<AtPoint, String>> {
    let text = format!(
        "title = \"t\"\nduration = \"10 s\"\nfluid_window = \"mgt\"\n[bottleneck]\nrate = \"30 Mbit/s\"\ndelay = \"100 ms\"\n\
         buffer = \"800 packets\"\nqdisc = {{ {law} }}\n[[flows]]\ncount = 60\necn = true\nsegment = \"1000 B\"\n"
    );
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
    let request = Request { scenario: &scenario, link: None, own: None };
    at_points(&request, &Points { at, with_poles: true, accepts_partial, evaluations: None, threads: 2 })
        .unwrap()
}

#[test]
fn a_point_has_the_margins_of_its_certificate() {
    let law = "law = \"pi\", target = \"46 ms\", a = 1.822e-5, b = 1.816e-5, rate = \"160 Hz\"";
    let points = judged(law, &[[60.0, 0.2], [40.0, 0.2], [20.0, 0.2], [2000.0, 0.2]], false);
    for (flows, point) in [60, 40, 20].into_iter().zip(&points) {
        let (found, point) = (proven(law, flows).unwrap(), point.as_ref().unwrap());
        let of = found.judged().unwrap();
        let margins = of.margins.as_ref().unwrap();
        assert_eq!(point.unstable == 0, found.verdict == Verdict::Stable, "{flows} flows");
        assert!((point.p - found.equilibrium.as_ref().unwrap().p).abs() < 1e-12);
        assert!((point.rightmost.unwrap() - of.rightmost().unwrap()).abs() < 1e-9);
        if point.unstable == 0 {
            assert!((point.phase_margin.unwrap() - margins.lag().unwrap().lag()).abs() < 1e-9);
            assert!((point.gain_margin.unwrap() - margins.gain_up().unwrap()).abs() < 1e-9);
        } else {
            assert!(point.phase_margin.unwrap() < 0.0 && point.gain_margin.is_none());
        }
    }
    let refused = points[3].as_ref().unwrap_err();
    assert!(refused.contains("saturated") || refused.contains("window"), "{refused}");
}

#[test]
fn a_partial_model_counts_at_a_point_only_where_it_is_accepted() {
    let law = "law = \"pi_pd\", target = \"46 ms\"";
    assert!(judged(law, &[[60.0, 0.2]], false)[0].as_ref().unwrap_err().contains("switches"));
    assert!(judged(law, &[[60.0, 0.2]], true)[0].as_ref().unwrap().phase_margin.unwrap() > 0.0);
}

/// A continuous loop that falls as 1 / s has strips of the search for poles whose height grows as e^(delay x) does.
#[test]
fn loops_of_calibrated_windows_take_few_evaluations() {
    for law in ["pi", "pid", "rem", "pie", "pi2", "red", "pi_pd", "cpc", "arm_pfc", "fb_ocq"] {
        for ecn in [true, false] {
            let text = format!(
                "title = \"t\"\nduration = \"10 s\"\n[bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"100 ms\"\n\
                 buffer = \"300 packets\"\nqdisc = {{ law = \"{law}\" }}\n[[flows]]\ncount = 50\necn = {ecn}\n\
                 segment = \"1000 B\"\n"
            );
            let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
            let found = certificate(&Request { scenario: &scenario, link: None, own: None }).unwrap();
            assert!(!found.loops.is_empty(), "{law}");
            for one in &found.loops {
                assert!(one.evaluations < 1_000_000, "{law}: {} evaluations", one.evaluations);
            }
        }
    }
}

/// Links of 30 Mbit/s with 60 to 150 flows of calibrated windows over base RTTs of 60 to 200 ms.
struct Boxed {
    scenario: Scenario,
}

impl Boxed {
    fn under(law: &str) -> Boxed {
        let text = format!(
            "title = \"t\"\nduration = \"10 s\"\nplant = {{ fluid = {{ model = \"calibrated\" }} }}\n[bottleneck]\n\
             rate = \"30 Mbit/s\"\ndelay = \"100 ms\"\nbuffer = \"800 packets\"\nqdisc = {{ {law} }}\n\
             [[flows]]\ncount = 60\necn = true\nsegment = \"1000 B\"\n"
        );
        Boxed { scenario: Scenario::parse(text.as_bytes(), "test", &[]).unwrap() }
    }

    fn request(&self) -> Request<'_> {
        Request { scenario: &self.scenario, link: None, own: None }
    }

    /// What the bounds show of margins in degrees and as a factor.
    fn shown(&self, [degrees, gain_margin]: [f64; 2]) -> Shown {
        let (flows, base_rtt, phase_margin) = ([60.0, 150.0], [0.06, 0.2], degrees.to_radians());
        let claim = Claim { flows, base_rtt, least_window: 2.0, phase_margin, gain_margin, parts: 150_000 };
        examine(&self.request(), &claim).unwrap()
    }

    /// The least margins at the points of a grid, in degrees and as a factor.
    fn least(&self) -> [f64; 2] {
        let share = |k: u32| f64::from(k) / 30.0;
        let places = (0..31).flat_map(|k| (0..31).map(move |l| [k, l]));
        let at: Vec<_> =
            places.map(|[k, l]| [60.0 * pow(2.5, share(k)), 0.06 * pow(10.0 / 3.0, share(l))]).collect();
        let points =
            Points { at: &at, with_poles: false, accepts_partial: true, evaluations: None, threads: 2 };
        let found: Vec<AtPoint> =
            at_points(&self.request(), &points).unwrap().into_iter().map(Result::unwrap).collect();
        let phases = found.iter().filter_map(|point| point.phase_margin);
        let gains = found.iter().filter_map(|point| point.gain_margin);
        [phases.fold(f64::INFINITY, f64::min).to_degrees(), gains.fold(f64::INFINITY, f64::min)]
    }
}

/// Bounds over the continuous box agree with a dense grid of it, from both sides, within a per cent.
#[test]
fn bounds_show_the_margins_of_the_worst_point_and_no_more() {
    let fixed = "law = \"pi\", target = \"46 ms\", a = 1.822e-6, b = 1.816e-6, rate = \"160 Hz\"";
    let slow = "law = \"pi2\", target = \"46 ms\", rtt_max = \"250 ms\", alpha = 0.004, beta = 0.1";
    let follows_p = |shown| match shown {
        Shown::Holds { follows, .. } => Some(follows),
        _ => None,
    };
    for (law, follows) in [(fixed, false), (slow, true), ("law = \"cpc\"", true), ("law = \"pi_pd\"", true)] {
        let of = Boxed::under(law);
        let [phase, gain] = of.least();
        assert_eq!(follows_p(of.shown([0.99 * phase, 0.99 * gain])), Some(follows), "{law}: {phase} {gain}");
        for wanted in [[1.01 * phase, 1.0], [0.1, 1.01 * gain]] {
            assert!(matches!(of.shown(wanted), Shown::Open { .. }), "{law}: {wanted:?}");
        }
    }
}

#[test]
fn bounds_name_what_they_do_not_cover() {
    let reason = |law: &str| match Boxed::under(law).shown([5.0, 1.05]) {
        Shown::Uncovered(reason) => reason,
        other => panic!("{law}: {other:?}"),
    };
    assert_eq!(reason("law = \"pie\""), "the law drops at some p");
    assert_eq!(reason("law = \"red\""), "the law has no target");
}

#[test]
fn a_missing_equilibrium_is_refused_with_its_inequality() {
    let error = |law: &str, flows: u32| proven(law, flows).err().unwrap().to_string();
    assert!(
        error(PI, 2000).contains("arrive even at p = 1; expected at most the link's"),
        "{}",
        error(PI, 2000)
    );
    let silent = proven("law = \"tail_drop\"", 60).unwrap();
    assert!(matches!(silent.verdict, Verdict::NotProven(_)) && silent.loops.is_empty());
}

/// The loop of a certificate has signals wait in the queue.
#[test]
fn a_law_that_signals_at_dequeue_has_that_as_its_reason() {
    for law in ["rem", "pi2"] {
        let given = |place: &str| format!("law = \"{law}\", target = \"46 ms\", signal_at = \"{place}\"");
        let proven = |place: &str| proven(&given(place), 60).unwrap();
        let found = proven("dequeue");
        let Verdict::NotProven(reason) = &found.verdict else { panic!("{:?}", found.verdict) };
        let begin = format!("no model: {law} signals at dequeue, ");
        assert!(reason.starts_with(&begin) && reason.ends_with("; expected signal_at = enqueue"), "{reason}");
        assert!(found.loops.is_empty() && found.judged().is_none());
        // Its equilibrium is that of the same law with signals at enqueue.
        assert_eq!(found.equilibrium, proven("enqueue").equilibrium);
    }
}

/// A chain of links, each with its own PI; `ways` are ends and counts of flows.
fn chained(rates: &[&str], ways: &[(usize, usize, u32)], link: &str) -> Result<Certificate, InputError> {
    let links = rates.iter().enumerate().map(|(place, rate)| {
        format!(
            "[[links]]\nname = \"l{place}\"\nfrom = \"r{place}\"\nto = \"r{}\"\nrate = \"{rate}\"\n\
             delay = \"20 ms\"\nbuffer = \"900 packets\"\nqdisc = {{ law = \"pi\", target = \"50 packets\" }}\n",
            place + 1
        )
    });
    let flows = ways.iter().enumerate().map(|(place, (from, to, count))| {
        format!(
            "[[flows]]\nname = \"f{place}\"\nfrom = \"r{from}\"\nto = \"r{to}\"\ncount = {count}\n\
             cc = \"newreno\"\necn = true\nsegment = \"1000 B\"\n"
        )
    });
    let text: String = links.chain(flows).collect();
    let text = format!("title = \"t\"\nduration = \"10 s\"\nfluid_window = \"mgt\"\n{text}");
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
    certificate(&Request { scenario: &scenario, link: Some(link), own: None })
}

#[test]
fn links_that_are_full_together_have_one_certificate() {
    let joined = |rates: &[&str], ways: &[(usize, usize, u32)], link: &str| {
        let found = chained(rates, ways, link).unwrap();
        assert_eq!(found.verdict, Verdict::Stable);
        let joint = found.joint.iter().flat_map(|joint| &joint.links);
        joint.map(|of| of.setting.name.clone()).collect::<Vec<String>>()
    };
    let three = ["10 Mbit/s", "10 Mbit/s", "10 Mbit/s"];
    // Own flows on each link; a wide middle link; one link that shares no flow with the others.
    assert_eq!(joined(&three, &[(0, 3, 10), (0, 1, 10), (1, 2, 10), (2, 3, 10)], "l1"), ["l0", "l1", "l2"]);
    let wide = ["10 Mbit/s", "1 Gbit/s", "10 Mbit/s"];
    assert_eq!(joined(&wide, &[(0, 3, 10), (0, 1, 10), (2, 3, 10)], "l0"), ["l0", "l2"]);
    assert!(joined(&three, &[(0, 1, 20), (1, 3, 20)], "l0").is_empty());
    // Of identical links in a row the first one shapes the arrivals of the others.
    assert!(joined(&three, &[(0, 3, 20)], "l0").is_empty());
}

#[test]
fn a_link_that_another_one_keeps_empty_is_refused() {
    let error = |rates: &[&str], ways: &[(usize, usize, u32)], link: &str| {
        chained(rates, ways, link).err().map(|error| error.to_string()).unwrap()
    };
    let rates = ["10 Mbit/s", "4 Mbit/s"];
    let held = error(&rates, &[(0, 2, 20)], "l0");
    assert_eq!(
        held,
        "l0: l1 holds these flows back: they load it to 40 %, so that it has no queue; expected a link that is full"
    );
    // ACKs alone are no load of data.
    assert!(
        error(&rates, &[(1, 2, 20)], "l0").contains("no responsive flows"),
        "{}",
        error(&rates, &[(1, 2, 20)], "l0")
    );
}

#[test]
fn an_unattainable_p_is_no_equilibrium() {
    let error = |law: &str, flows| proven(law, flows).err().map(|error| error.to_string());
    let most = error("law = \"cpc\", target = \"175 packets\", max_p = 0.005", 60).unwrap();
    assert_eq!(
        most,
        "bottleneck: the flows need p = 0.0084; expected less than 0.0050, the highest p of the law"
    );
    let full = error("law = \"pi\", target = \"800 packets\", a = 1.8e-5, b = 1.7e-5", 60).unwrap();
    assert!(full.ends_with("expected less than the buffer of 800 packets"), "{full}");
    let spared = error("law = \"pie\", target = \"0.5 ms\"", 60).unwrap();
    assert!(
        spared.ends_with("expected more than 2.0000 packets, up to which the law neither marks nor drops"),
        "{spared}"
    );
}

/// Gains so high that a pole leaves through z = -1: it is one pole, not a pair.
#[test]
fn a_pole_at_the_end_of_the_band_is_one_pole() {
    let found = proven("law = \"pi\", target = \"175 packets\", a = 0.6, b = 0.599", 60).unwrap();
    assert_eq!(found.verdict, Verdict::Unstable);
}

/// RFC 8033 drops ECN-capable packets from p = 0.1 on, and DOCSIS-PIE never marks.
#[test]
fn dropped_packets_are_not_called_marked() {
    let signals = |law: &str, flows| {
        let found = proven(law, flows).unwrap();
        let text = found.assumptions.join(" ");
        (text.contains("The law marks"), text.contains("The law drops"))
    };
    assert_eq!(signals("law = \"pie\", target = \"46 ms\"", 60), (true, false));
    assert_eq!(signals("law = \"docsis_pie\", target = \"46 ms\"", 60), (false, true));
    assert_eq!(signals("law = \"pie\", target = \"46 ms\"", 500), (false, true));
}

/// One with its equilibrium on the surface on which it switches, and one that adapts its model.
#[test]
fn a_partial_model_proves_nothing() {
    for (law, why) in [("pi_pd", "no slope"), ("arm_pfc\", adapt = \"rls", "identifies its model")] {
        let found = proven(&format!("law = \"{law}\", target = \"100 packets\""), 60).unwrap();
        let Verdict::NotProven(reason) = &found.verdict else { panic!("{law}: {:?}", found.verdict) };
        assert!(reason.contains(why), "{reason}");
        assert!(found.judged().unwrap().margins.is_some(), "its loops are analysed nevertheless");
        let region =
            found.region(&Extent { flows: [50.0, 70.0], base_rtt: [0.2, 0.3], points: 3, threads: 1 });
        assert!(region.cells.iter().flatten().all(|cell| *cell == Cell::NoVerdict(0)), "{:?}", region.cells);
        assert!(region.reasons[0].contains(why) && region.boundary.is_empty());
    }
    let assumptions = |law: &str| proven(law, 60).unwrap().assumptions.join(" ");
    assert!(assumptions("law = \"pi_pd\", target = \"100 packets\"").contains("one side of the target"));
    assert!(assumptions("law = \"cpc\", target = \"100 packets\"").contains("both loops measure"));
    assert!(!assumptions(PI).contains("adapted gains"), "PI has constant gains");
}

/// Between the two sides of the jump lies the p that the flows need: RED alternates between them.
#[test]
fn red_without_gentle_has_no_equilibrium_past_its_maximum() {
    let red = |gentle: bool| {
        format!(
            "law = \"red\", min = \"50 packets\", max = \"150 packets\", max_p = 0.02, wait = false, gentle = {gentle}"
        )
    };
    assert!(proven(&red(true), 200).is_ok());
    let error = proven(&red(false), 200).err().unwrap().to_string();
    assert!(
        error.starts_with("bottleneck: p jumps from 0.04") && error.contains("to 1.000000 at 150.0"),
        "{error}"
    );
    assert!(proven(&red(false), 60).is_ok(), "below its maximum it is the same");
}

const REM: &str = "law = \"rem\", target = \"200 packets\", gamma = 0.0185, alpha = 0.001";

/// c / alpha p / (1 - p) below: c is 7.5 packets.
#[test]
fn rem_has_its_equilibrium_below_the_target_under_drops() {
    let equilibrium = |law: &str, ecn| proven_by(law, 60, ecn).unwrap().equilibrium.unwrap();
    let found = equilibrium(REM, false);
    let below = 7.5 / 0.001 * found.p / (1.0 - found.p);
    assert!(below > 50.0 && (found.backlog - (200.0 - below)).abs() < 1e-6, "{found:?}");
    assert!((equilibrium(REM, true).backlog - 200.0).abs() < 1e-9);
    assert!((equilibrium(&format!("{REM}, mismatch = \"backlog\""), false).backlog - 200.0).abs() < 1e-9);
    let error = proven_by(REM, 200, false).err().unwrap().to_string();
    assert!(error.contains("would be -") && error.ends_with("expected more than 0"), "{error}");
}

/// A hundred classes under PI with these gains.
fn hundred(gain: f64) -> Certificate {
    let class = |number: u32| {
        let delay = 0.5 + 0.75 * f64::from(number);
        format!(
            "[[flows]]\nname = \"f{number}\"\ncc = \"newreno\"\necn = true\nsegment = \"1000 B\"\n\
             access = {{ rate = \"1 Gbit/s\", delay = \"{delay} ms\" }}\n"
        )
    };
    let (a, b) = (2e-4 * gain, 1.99e-4 * gain);
    let text = format!(
        "title = \"t\"\nduration = \"10 s\"\nfluid_window = \"mgt\"\n\
         [bottleneck]\nrate = \"20 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"2000 packets\"\n\
         qdisc = {{ law = \"pi\", target = \"100 packets\", a = {a}, b = {b} }}\n{}",
        (0..100).map(class).collect::<String>()
    );
    let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
    certificate(&Request { scenario: &scenario, link: None, own: None }).unwrap()
}

/// The product of a hundred denominators winds a hundred times as much as one, and leaves the range of numbers; poles and
/// margins agree all the same.
#[test]
fn a_hundred_classes_have_a_certificate() {
    let found = hundred(1.0);
    assert_eq!(found.verdict, Verdict::Stable);
    let judged = found.judged().unwrap();
    let pole = judged.poles.as_ref().unwrap().poles[0];
    assert!((1.0 + judged.of.value(pole)).norm() < 1e-6, "{pole}");
    let margin = judged.margins.as_ref().unwrap().gain_up().unwrap();
    assert_eq!(hundred(0.999 * margin).verdict, Verdict::Stable);
    assert_eq!(hundred(1.001 * margin).verdict, Verdict::Unstable);
}
