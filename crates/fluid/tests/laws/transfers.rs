//! Declared transfer functions of laws, against the responses of the laws.
//!
//! A law is brought to equilibrium in a loop and cloned. Both clones then see the same backlog except for a pulse of a
//! fraction of a packet, up for one and down for the other; the difference of their probabilities is the impulse
//! response to compare with the declared one.

use crate::bench::{HOLLOT, Network, PACKET};
use crate::reference;
use sojourn_aqm::laws::red;
use sojourn_aqm::linear::{Linear, OperatingPoint, Rational, Signal};
use sojourn_aqm::{self as aqm, Backlog, Departure, FlowId, Law, LawSpec, Observation, catalogue};
use sojourn_fluid::plant::Window;
use sojourn_params::Value;
use sojourn_units::{Amount, Bytes, Ecn, Prob, Span, Time, math};

/// A law and the operating point of its test.
#[derive(Clone, Copy)]
struct Case {
    stem: &'static str,
    given: &'static [(&'static str, &'static str)],
    network: Network,
    way: Way,
}

/// Every law with marked packets, and with dropped ones where it has an equilibrium then: this REM's would be below an
/// empty queue, and the literal ARM-PFC oscillates.
fn cases() -> impl Iterator<Item = Case> {
    let with = |ecn| move |case: &Case| Case { network: Network { ecn, ..case.network }, ..*case };
    let has_equilibrium = |case: &Case| {
        case.network.ecn
            || !((case.stem == "rem" && case.network.flows == 120.0)
                || case.given.contains(&("form", "paper")) && case.stem == "arm_pfc")
    };
    CASES.iter().map(with(true)).chain(CASES.iter().map(with(false))).filter(has_equilibrium)
}

/// Method of bringing a law to equilibrium.
#[derive(Clone, Copy)]
enum Way {
    /// In a loop, for some seconds.
    Loop(f64),
    /// Constant backlogs: some periods at the first one and many at the second.
    Held(f64, usize, f64),
}
use Way::{Held, Loop};

/// Flows on the link of Hollot et al.
const fn wide(flows: f64) -> Network {
    Network { flows, ..HOLLOT }
}

/// Flows on the link of Bigdeli and Haeri.
const fn narrow(flows: f64) -> Network {
    Network { flows, capacity: 1250.0, base_rtt: 0.2, buffer: 300.0, window: Window::Mgt, ecn: true }
}

/// Flows on a short path.
const fn short(flows: f64) -> Network {
    Network { flows, capacity: 1250.0, base_rtt: 0.08, buffer: 150.0, window: Window::Mgt, ecn: true }
}

const fn case(
    stem: &'static str,
    given: &'static [(&'static str, &'static str)],
    network: Network,
    way: Way,
) -> Case {
    Case { stem, given, network, way }
}

const REM: &[(&str, &str)] = &[("target", "200 packets"), ("gamma", "0.0185"), ("alpha", "0.001")];
const REM_BACKLOG: &[(&str, &str)] =
    &[("target", "200 packets"), ("gamma", "0.0185"), ("alpha", "0.001"), ("mismatch", "backlog")];
const PIE: &[(&str, &str)] = &[("alpha", "0.05"), ("beta", "0.5"), ("mark_below_p", "1")];
const PIE_PLAIN: &[(&str, &str)] = &[("alpha", "0.05"), ("beta", "0.5"), ("derandomize", "false")];
const PI2: &[(&str, &str)] = &[("rtt_max", "200 ms")];

const CASES: &[Case] = &[
    case("pi", &[("target", "200 packets")], wide(60.0), Loop(120.0)),
    case("pi", &[("target", "200 packets")], wide(120.0), Loop(120.0)),
    case("pi", &[], narrow(100.0), Loop(120.0)),
    case("rem", REM, wide(60.0), Loop(120.0)),
    case("rem", REM, wide(120.0), Loop(120.0)),
    case("rem", REM_BACKLOG, wide(60.0), Loop(120.0)),
    case("pid", &[("target", "200 packets")], wide(60.0), Loop(120.0)),
    case("pid", &[("target", "200 packets"), ("form", "velocity")], wide(90.0), Loop(120.0)),
    case("pid", &[("adapt", "load")], narrow(100.0), Loop(200.0)),
    case("pi_pd", &[("target", "200 packets")], wide(63.0), Loop(200.0)),
    case("pi_pd", &[("alpha", "0.0002")], narrow(100.0), Loop(200.0)),
    case("cpc", &[("target", "175 packets")], wide(60.0), Loop(200.0)),
    case(
        "cpc",
        &[("target", "175 packets"), ("form", "paper"), ("measure", "rate")],
        wide(60.0),
        Loop(200.0),
    ),
    case("cpc", &[], narrow(100.0), Loop(200.0)),
    case("cpc", &[("adapt", "none")], narrow(50.0), Loop(200.0)),
    case("arm_pfc", &[], narrow(100.0), Loop(200.0)),
    case("arm_pfc", &[], narrow(60.0), Loop(200.0)),
    case("arm_pfc", &[("adapt", "none"), ("coincidence", "[7, 9]")], narrow(100.0), Loop(200.0)),
    case("arm_pfc", &[("adapt", "none"), ("base", "ramp")], narrow(100.0), Loop(200.0)),
    case("arm_pfc", &[("form", "paper")], narrow(100.0), Loop(200.0)),
    case("arm_pfc", &[("adapt", "rls")], narrow(100.0), Loop(200.0)),
    case("fb_ocq", &[], short(40.0), Loop(100.0)),
    case("fb_ocq", &[], short(80.0), Loop(200.0)),
    case("fb_ocq", &[], narrow(60.0), Loop(100.0)),
    case("fb_ocq", &[("t_c", "200 ms"), ("tau_w", "2 s")], short(40.0), Loop(100.0)),
    case("fb_ocq", &[("load", "virtual")], short(40.0), Loop(100.0)),
    case("fb_ocq", &[("load", "virtual")], short(80.0), Loop(200.0)),
    case("fb_ocq", &[("load", "offered")], short(40.0), Loop(100.0)),
    case("fb_ocq", &[("form", "deadbeat")], short(40.0), Held(40.1, 1500, 40.0)),
    case("fb_ocq", &[("form", "profile")], short(40.0), Held(40.0, 1, 35.0)),
    case("pie", PIE, short(20.0), Loop(100.0)),
    case("pie", PIE, short(40.0), Loop(100.0)),
    case("pie", PIE_PLAIN, short(20.0), Loop(100.0)),
    case("docsis_pie", &[("target", "30 ms")], short(40.0), Loop(100.0)),
    case("docsis_pie", &[("target", "30 ms")], short(60.0), Loop(100.0)),
    case("pi2", PI2, short(20.0), Loop(100.0)),
    case("pi2", PI2, short(40.0), Loop(100.0)),
];

/// Packets.
const PULSE: f64 = 0.02;
const PERIODS: usize = 60;

impl Case {
    fn build(&self) -> Box<dyn Law> {
        let value = |text: &str| match (text.parse(), text.parse()) {
            _ if text.starts_with('[') => {
                let items = text.trim_matches(['[', ']']).split(", ");
                Value::List(items.map(|item| Value::Whole(item.parse().unwrap())).collect())
            }
            (Ok(whole), _) => Value::Whole(whole),
            (_, Ok(number)) => Value::Number(number),
            _ if ["true", "false"].contains(&text) => Value::Flag(text == "true"),
            _ => Value::Text(text.into()),
        };
        let given: Vec<_> = self.given.iter().map(|(key, text)| ((*key).into(), value(text))).collect();
        LawSpec::new(self.stem, &given).unwrap().design(&self.network.context()).unwrap().law()
    }

    /// The law at equilibrium, and the operating point.
    fn at_equilibrium(&self) -> (Box<dyn Law>, OperatingPoint) {
        let mut law = self.build();
        let (p, backlog) = match self.way {
            Loop(seconds) => {
                let mut bench = self.network.under(law, 4);
                bench.run(seconds);
                let spread = bench.mean_and_sd(5.0).1;
                assert!(spread < 1e-3, "{}: swings by {spread} packets", self.name());
                law = bench.world.drivers()[0].law().expect("a law").clone();
                (bench.p(), bench.world.backlog(0))
            }
            Held(first, periods, backlog) => {
                (0..periods).for_each(|_| _ = self.show(law.as_mut(), first, first));
                (0..5000).for_each(|_| _ = self.show(law.as_mut(), backlog, backlog));
                (self.show(law.as_mut(), backlog, backlog), backlog)
            }
        };
        assert!(p > 1e-3 && p < 0.9, "{}: settles at p = {p}", self.name());
        let Network { flows, capacity, base_rtt, .. } = self.network;
        let rtt = base_rtt + backlog / capacity;
        (
            law,
            OperatingPoint {
                p,
                signal: self.signal(),
                backlog,
                network: aqm::Network { flows, capacity, rtt },
            },
        )
    }

    fn signal(&self) -> Signal {
        if self.network.ecn { Signal::Mark } else { Signal::Drop }
    }

    /// A period in which the link was busy and the backlog went from `last` to `backlog`.
    fn show(&self, law: &mut dyn Law, last: f64, backlog: f64) -> f64 {
        let (period, capacity) = (self.period().seconds(), self.network.capacity);
        let p = law.probability().unwrap().get();
        let due = law.next_update().unwrap();
        let left = period * capacity;
        let arrived = (left + backlog - last) / self.signal().passes(p);
        let [marked, dropped] = if self.network.ecn { [p * arrived, 0.0] } else { [0.0, p * arrived] };
        let head_sojourn = backlog / capacity;
        law.on_departure(&Departure {
            now: due,
            len: PACKET as u32,
            ecn: Ecn::NotEct,
            flow: FlowId(0),
            sojourn: Span::from_seconds(head_sojourn),
            backlog: Backlog { packets: backlog as u32, bytes: (PACKET * backlog) as u64 },
            u: [0.5; 2],
        });
        let seen = Observation {
            now: due,
            elapsed: period,
            backlog_packets: backlog,
            backlog_bytes: PACKET * backlog,
            head_sojourn,
            arrived_packets: arrived,
            arrived_bytes: PACKET * arrived,
            departed_packets: left,
            departed_bytes: PACKET * left,
            marked_packets: marked,
            dropped_packets: dropped,
            busy: period,
            capacity: Some(self.network.context().rate),
            mean_packet: PACKET,
            limit: self.network.buffer,
            ..Observation::default()
        };
        law.on_update(due, &seen);
        law.probability().unwrap().get()
    }

    /// Its sampling period.
    fn period(&self) -> Span {
        self.build().next_update().unwrap().since(Time::ZERO)
    }

    /// Response of p to a pulse of the backlog, per packet.
    fn response(&self, mut law: Box<dyn Law>, backlog: f64) -> Vec<f64> {
        // PI-PD has another slope across its target.
        let base = if self.stem == "pi_pd" { backlog + 2.0 * PULSE } else { backlog };
        (0..3).for_each(|_| _ = self.show(law.as_mut(), base, base));
        let respond = |mut law: Box<dyn Law>, pulse: f64| -> Vec<f64> {
            let mut last = base;
            let mut next = |k: usize| {
                let backlog = if k == 0 { base + pulse } else { base };
                let p = self.show(law.as_mut(), last, backlog);
                last = backlog;
                p
            };
            (0..PERIODS).map(&mut next).collect()
        };
        let (up, down) = (respond(law.clone(), PULSE), respond(law, -PULSE));
        up.iter().zip(&down).map(|(up, down)| (up - down) / (2.0 * PULSE)).collect()
    }

    fn name(&self) -> String {
        format!("{} {:?} N={} {:?}", self.stem, self.given, self.network.flows, self.signal())
    }
}

/// The impulse response of a ratio in z^-1.
fn impulse_response(transfer: &Rational) -> Vec<f64> {
    let Rational { numerator, denominator } = transfer;
    let mut out: Vec<f64> = Vec::new();
    for k in 0..PERIODS {
        let fed = numerator.get(k).copied().unwrap_or(0.0);
        let past = (1..denominator.len().min(k + 1)).map(|i| denominator[i] * out[k - i]).sum::<f64>();
        out.push((fed - past) / denominator[0]);
    }
    out
}

/// A ratio at the complex number (re, im).
fn at(ratio: &Rational, [re, im]: [f64; 2]) -> [f64; 2] {
    let value = |polynomial: &[f64]| {
        let step = |[x, y]: [f64; 2], c: &f64| [x * re - y * im + c, x * im + y * re];
        polynomial.iter().rev().fold([0.0; 2], step)
    };
    let ([a, b], [c, d]) = (value(&ratio.numerator), value(&ratio.denominator));
    let size = c * c + d * d;
    [(a * c + b * d) / size, (b * c - a * d) / size]
}

/// Relative distance of one number from the other.
fn distance(ours: [f64; 2], other: [f64; 2]) -> f64 {
    math::hypot(ours[0] - other[0], ours[1] - other[1]) / math::hypot(other[0], other[1])
}

/// Both pulses are of one size, so that the error is of their third order, and the rounding of clocks: the delay given
/// to PIE is in whole nanoseconds. PI-PD alone is not quite at equilibrium: its gain still adapts.
#[test]
fn the_declared_transfer_function_is_that_of_the_law() {
    for case in cases() {
        let (law, point) = case.at_equilibrium();
        let declared = impulse_response(&law.analysis().linear(&point).unwrap().sampled.unwrap().transfer);
        let measured = case.response(law, point.backlog);
        let size = declared.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (k, (measured, declared)) in measured.iter().zip(&declared).enumerate() {
            let off = (measured - declared).abs() / (declared.abs() + 1e-2 * size);
            assert!(off < 1e-4, "{} after {k} periods: {measured}, declared {declared}", case.name());
        }
    }
}

/// At w T = 0.05 a delay of one period turns the phase by 3 degrees at most.
#[test]
fn in_slow_loops_both_forms_agree() {
    for case in cases() {
        let (law, point) = case.at_equilibrium();
        let Linear { continuous, sampled, .. } = law.analysis().linear(&point).unwrap();
        let (Some(continuous), Some(sampled)) = (continuous, sampled) else { continue };
        let turn: f64 = 0.05;
        let (sine, cosine) = math::sin_cos(turn);
        let in_samples = at(&sampled.transfer, [cosine, -sine]);
        let in_s = at(&continuous, [0.0, turn / sampled.period.seconds()]);
        assert!(distance(in_samples, in_s) < 0.03, "{}: {in_samples:?} {in_s:?}", case.name());
        assert!(in_s[0] > -1e-9, "{}: p falls when the backlog rises: {in_s:?}", case.name());
    }
}

/// In the plant at equilibrium, and by the effect of a lasting pulse on p: the slope of the equilibrium backlog is 1
/// over the gain.
#[test]
fn a_law_settles_at_its_equilibrium_backlog() {
    let mut below = 0;
    for case in cases().filter(|case| matches!(case.way, Loop(_))) {
        let (law, point) = case.at_equilibrium();
        let stands = |p: f64| law.analysis().equilibrium_backlog(Prob::clamped(p), point.signal).unwrap();
        let gain = at(&law.analysis().linear(&point).unwrap().sampled.unwrap().transfer, [1.0, 0.0])[0];
        if gain.abs() < 1.0 && stands(point.p) == law.analysis().target_packets().unwrap() {
            // It does not hold its target, and declares no equilibrium.
            continue;
        }
        assert!((stands(point.p) - point.backlog).abs() < 2e-2, "{}: {point:?}", case.name());
        if stands(point.p) < law.analysis().target_packets().unwrap() {
            below += 1;
            let slope = (stands(point.p + 1e-6) - stands(point.p - 1e-6)) / 2e-6;
            assert!((slope * gain - 1.0).abs() < 1e-6, "{}: {slope} {gain}", case.name());
        }
    }
    assert_eq!(below, 1, "REM where packets are dropped");
}

#[test]
fn every_law_declares_a_model_or_has_a_reason() {
    let case = case("", &[], narrow(100.0), Loop(0.0));
    let network = aqm::Network { flows: 100.0, capacity: 1250.0, rtt: 0.28 };
    for entry in catalogue::LAWS {
        let stem = entry.page.stem;
        let law = LawSpec::new(stem, &[]).unwrap().design(&case.network.context()).unwrap().law();
        // Adaptive RED's equilibrium is within its own band.
        let backlog = if stem == "ared" { 2.0 / 3.0 * 15.0 } else { 100.0 };
        let linear =
            law.analysis().linear(&OperatingPoint { p: 0.05, signal: Signal::Mark, backlog, network });
        let in_samples = linear.as_ref().is_some_and(|linear| linear.sampled.is_some());
        let sampled = CASES.iter().any(|case| case.stem == stem);
        assert_eq!(in_samples, sampled, "{stem}");
        assert_eq!(linear.is_some(), sampled || ["red", "ared"].contains(&stem), "{stem}");
    }
}

/// Model that `stem` declares on the link of Hollot et al. with a round trip of 0.246 s.
fn on_the_example(stem: &'static str, given: &'static [(&'static str, &'static str)]) -> Linear {
    let point = OperatingPoint {
        p: 0.008_460_572_410_602_154,
        signal: Signal::Mark,
        backlog: 172.5,
        network: EXAMPLE,
    };
    case(stem, given, wide(60.0), Loop(0.0)).build().analysis().linear(&point).unwrap()
}

const EXAMPLE: aqm::Network = aqm::Network { flows: 60.0, capacity: 3750.0, rtt: 0.246 };

#[test]
fn pi_is_the_design_of_hollot() {
    let linear = on_the_example("pi", &[("target", "172.5 packets"), ("rate", "160 Hz")]);
    let [a, b] = linear.sampled.unwrap().transfer.numerator[..] else { panic!() };
    reference::hold("hollot.PI.R=0.246000.a", &[a]);
    reference::hold("hollot.PI.R=0.246000.b", &[-b]);
    // K (1/z + 1/s).
    let [k, proportional] = linear.continuous.unwrap().numerator[..] else { panic!() };
    reference::hold("hollot.PI.R=0.246000.K", &[k]);
    reference::hold("hollot.PI.R=0.246000.z", &[k / proportional]);
}

#[test]
fn pid_is_equation_6_of_the_paper() {
    const TABLE: &[(&str, &str)] =
        &[("kp", "6.2e-5"), ("ki", "3.12e-5"), ("kd", "5.1e-6"), ("rate", "29.5 Hz")];
    let linear = on_the_example("pid", TABLE);
    assert_eq!(linear.continuous.unwrap().numerator, [3.12e-5, 6.2e-5, 5.1e-6]);
    let [a, b, c] = linear.sampled.unwrap().transfer.numerator[..] else { panic!() };
    // The numbers of ryu_pid.a1,b1,c1@29.5Hz; the period is in whole nanoseconds.
    for (ours, number) in [a, -b, c].into_iter().zip([2.129_788_136e-4, 3.623_711_864e-4, 1.5045e-4]) {
        assert!((ours / number - 1.0).abs() < 1e-8, "{ours} {number}");
    }
}

#[test]
fn cpc_is_two_loops_in_a_row() {
    const PAPER: &[(&str, &str)] = &[("target", "172.5 packets"), ("adapt", "none"), ("form", "paper")];
    const AWARE: &[(&str, &str)] = &[("target", "172.5 packets"), ("adapt", "none")];
    for (form, given) in [("paper", PAPER), ("da", AWARE)] {
        let cascade = on_the_example("cpc", given).cascade.unwrap();
        let hold = |key, value: f64| reference::hold(&format!("cpc.hollot.{form}.{key}"), &[value]);
        hold("TI", cascade.inner.denominator[1] / cascade.inner.numerator[0] / EXAMPLE.flows);
        for (key, gain) in ["Ki", "KP", "Kd"].into_iter().zip(cascade.outer.numerator) {
            hold(key, gain / EXAMPLE.flows);
        }
    }
}

#[test]
fn rem_and_pie_are_pi() {
    let gains = |linear: Linear| linear.sampled.unwrap().transfer.numerator;
    // g = gamma ln(phi) (1 - p): a = g (1 + alpha), b = g.
    let rem = gains(on_the_example("rem", &[]));
    let g = 0.001 * math::ln(1.001) * (1.0 - 0.008_460_572_410_602_154);
    assert!((rem[0] / (1.1 * g) - 1.0).abs() < 1e-12 && (rem[1] / -g - 1.0).abs() < 1e-12);
    // RFC 8033 divides by 8 where p is between 0.001 and 0.01: a = (alpha + beta) / (8 C), b = beta / (8 C).
    let pie = gains(on_the_example("pie", &[("derandomize", "false")]));
    assert!(
        (pie[0] * 8.0 * 3750.0 / 1.375 - 1.0).abs() < 1e-12
            && (pie[1] * 8.0 * 3750.0 / -1.25 - 1.0).abs() < 1e-12
    );
}

/// The literal reading misses the target according to its gain at equilibrium: it has no integral.
#[test]
fn arm_pfc_of_the_paper_settles_according_to_its_gain() {
    let given = &[("form", "paper"), ("flows", "100.0")];
    let (law, point) = case("arm_pfc", given, narrow(105.0), Loop(200.0)).at_equilibrium();
    let at_rest =
        |law: &dyn Law| at(&law.analysis().linear(&point).unwrap().sampled.unwrap().transfer, [1.0, 0.0])[0];
    let designed_for = 2.0 * math::pow_int(100.0 / (1250.0 * 0.28), 2);
    let missed = (point.p - designed_for) / at_rest(law.as_ref());
    assert!(missed > 5.0 && (missed / (point.backlog - 100.0) - 1.0).abs() < 1e-3, "{missed} {point:?}");
    // The independent model has one.
    let (law, point) = case("arm_pfc", &[], narrow(105.0), Loop(100.0)).at_equilibrium();
    let below = law.analysis().linear(&point).unwrap().sampled.unwrap().transfer.denominator;
    assert!(below.iter().sum::<f64>().abs() < 1e-12, "{below:?}");
}

/// RED by its own share of hits about equilibrium: the slope of that is the gain, and K is the share that one arrival
/// forgets.
#[test]
fn red_is_a_lag_before_the_slope_of_its_share() {
    const HIGH: &[(&str, &str)] = &[("max", "150 packets"), ("min", "50 packets")];
    const PAPER: &[(&str, &str)] = &[("max", "150 packets"), ("min", "50 packets"), ("wait", "false")];
    for (given, wait) in [(HIGH, true), (PAPER, false)] {
        let params = red::Params {
            min: Some(Amount::Packets(50.0)),
            max: Some(Amount::Packets(150.0)),
            wait,
            ..red::Params::default()
        };
        let case = case("red", given, wide(60.0), Loop(0.0));
        let law = red::Red::new(&params, &case.network.context()).unwrap();
        for average in [60.0, 100.0, 149.0, 155.0] {
            let p = law.share(average);
            let point = |signal| OperatingPoint { p, signal, backlog: average, network: EXAMPLE };
            let about = |signal| case.build().analysis().linear(&point(signal)).unwrap().continuous.unwrap();
            let continuous = about(Signal::Mark);
            let slope = (law.share(average + 1e-4) - law.share(average - 1e-4)) / 2e-4;
            assert!(
                (continuous.numerator[0] / slope - 1.0).abs() < 1e-6,
                "{average}: {continuous:?} {slope}"
            );
            // 3750 arrivals a second, of which each takes in 0.002.
            let lag = -1.0 / (3750.0 * math::ln(0.998));
            assert!((continuous.denominator[1] / lag - 1.0).abs() < 1e-12);
            // It averages over all offered packets, dropped ones included.
            let dropped = about(Signal::Drop).denominator[1];
            assert!((dropped / (lag * (1.0 - p)) - 1.0).abs() < 1e-12, "{average}: {dropped} {lag}");
        }
    }
}

/// Bytes in mean packets of a quarter of what the link sends: the slope is per packet.
#[test]
fn red_that_counts_bytes_declares_the_slope_of_its_share_in_packets() {
    for wait in [true, false] {
        let params = red::Params {
            min: Some(Amount::Packets(200.0)),
            max: Some(Amount::Packets(600.0)),
            byte_mode: true,
            mean_packet: Some(Bytes::new(PACKET as u64 / 4)),
            wait,
            ..red::Params::default()
        };
        let context = case("red", &[], wide(60.0), Loop(0.0)).network.context();
        assert_eq!(context.packet, PACKET);
        let law = red::Red::new(&params, &context).unwrap();
        for backlog in [60.0, 100.0, 149.0] {
            let share = |backlog: f64| law.analysis().steady_state_p(backlog).unwrap().get();
            let point = OperatingPoint { p: share(backlog), signal: Signal::Mark, backlog, network: EXAMPLE };
            let slope = (share(backlog + 1e-4) - share(backlog - 1e-4)) / 2e-4;
            let declared = law.analysis().linear(&point).unwrap().continuous.unwrap().numerator[0];
            assert!((declared / slope - 1.0).abs() < 1e-6, "{wait} {backlog}: {declared} {slope}");
        }
    }
}

#[test]
fn adaptive_red_has_the_max_p_that_the_load_needs() {
    let given = &[("max", "150 packets"), ("min", "50 packets"), ("weight", "0.002")];
    let law = case("ared", given, wide(60.0), Loop(0.0)).build();
    let point = |p: f64, backlog: f64| OperatingPoint { p, signal: Signal::Mark, backlog, network: EXAMPLE };
    let gain = |p, backlog| {
        law.analysis().linear(&point(p, backlog)).map(|linear| linear.continuous.unwrap().numerator[0])
    };
    // RED with the max_p that gives p at an average of 95, whose share is 4 p_b / (6 - p_b).
    let p_b = 6.0 * 0.03 / 4.03;
    let share = |average: f64| {
        let p_b = p_b * (average - 50.0) / 45.0;
        4.0 * p_b / (6.0 - p_b)
    };
    let slope = (share(95.001) - share(94.999)) / 0.002;
    assert!((gain(0.03, 95.0).unwrap() / slope - 1.0).abs() < 1e-6);
    assert_eq!(
        [gain(0.03, 89.0), gain(0.03, 111.0)],
        [None, None],
        "outside its band there is no equilibrium"
    );
}
