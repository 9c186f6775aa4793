//! Response of the running plant to a small oscillation of p, beside its linearisation.

use super::{PACKET, calibrated, class, others};
use sojourn_aqm::linear::Rational;
use sojourn_fluid::law_driver::World;
use sojourn_fluid::linear::complex::{Complex64, exp, size};
use sojourn_fluid::linear::equilibrium::{self, Signal};
use sojourn_fluid::linear::meter::Meter;
use sojourn_fluid::linear::network::{Hop, Network, NetworkLink, Path};
use sojourn_fluid::linear::plant::{Exact, LinearPlant as _};
use sojourn_fluid::linear::transfer::Transfer;
use sojourn_fluid::plant::{Class, Link, Plant, Sender, Window};
use sojourn_fluid::response::{Reaction, Repair, Response, Rules};
use sojourn_units::{Span, Time};
use std::f64::consts::TAU;

const CAPACITY: f64 = 3750.0;
/// Time between two values of p.
const HELD: Span = Span::from_millis(5);

/// The classes on one link: as the plant runs them and as the linearisation has them.
struct Both {
    plant: Plant,
    link: equilibrium::Link,
}

fn both(classes: &[(f64, Class)], signal: Signal) -> Both {
    let of = |(flows, class): &(f64, Class)| {
        let Sender::Tcp(law, _) = class.sender else { panic!("responsive flows") };
        let size = class.packet / PACKET;
        equilibrium::Class {
            flows: *flows,
            base_rtt: class.base_rtt,
            size,
            ecn: class.ecn,
            law,
            loss: class.loss,
        }
    };
    let link = equilibrium::Link {
        capacity: CAPACITY,
        signal,
        unresponsive: [0.0; 2],
        classes: classes.iter().map(of).collect(),
    };
    let classes = classes.iter().map(|(_, class)| class.clone()).collect();
    Both { plant: Plant::new(classes, vec![Link::new(CAPACITY, 1e6, PACKET)]), link }
}

impl Both {
    /// dq/dp at j w, of the running plant: p oscillates by a thousandth about `p`, held for 5 ms each time, in periods
    /// of `steps` such times.
    fn measured(self, p: f64, steps: u32) -> Complex64 {
        let mut world = World::new(self.plant, Vec::new(), HELD.seconds());
        let angle = |step: u32| TAU * f64::from(step % steps) / f64::from(steps);
        let swing = |step: u32| 1e-3 * p * sojourn_units::math::sin_cos(angle(step)).0;
        let mut sums = [Complex64::ZERO; 2];
        let settling = (SETTLED / (HELD.seconds() * f64::from(steps))).ceil() as u32 * steps;
        for step in 0..settling + PERIODS * steps {
            let now = Time::ZERO + HELD * u64::from(step);
            if step >= settling {
                let turn = exp(Complex64::new(0.0, -angle(step)));
                sums[0] += turn * swing(step);
                sums[1] += turn * world.backlog(0);
            }
            world.change(|plant, _| plant.set_p(0, now.seconds(), p + swing(step)));
            world.run_until(now + HELD);
        }
        // The hold multiplies the amplitude of its values by (1 - e^(-j w T)) / (j w T).
        let turned = Complex64::new(0.0, angle(1));
        sums[1] / (sums[0] * (1.0 - exp(-turned)) / turned)
    }

    fn linearised(&self, p: f64, steps: u32) -> Complex64 {
        let rest = self.link.on_curve(&|_| p).unwrap();
        let frequency = TAU / (f64::from(steps) * HELD.seconds());
        let at = Exact::new(&self.link, &rest).at(Complex64::new(0.0, frequency));
        at.backlog / at.below
    }
}

#[test]
fn small_oscillations_have_the_response_of_the_linearised_plant() {
    let short = |of: Class| Class { base_rtt: 0.1, packet: 500.0, ..of };
    let lossy = |of: Class| Class { loss: 0.004, ..of };
    for law in [Window::Mgt, Window::Full, calibrated()] {
        // Calibrated windows need less p to fill the link.
        let p = if matches!(law, Window::Calibrated(_)) { 0.004 } else { 0.005 };
        let of = |flows: f64| Class { sender: Sender::Tcp(law, f64::INFINITY), ..class(flows, &[0]) };
        for (signal, ecn) in [(Signal::Mark, true), (Signal::Drop, false)] {
            let class = |flows: f64| Class { ecn, ..of(flows) };
            let unlike = |flows: f64| Class { ecn: !ecn, ..short(of(flows)) };
            for (signal, classes) in [
                (signal, vec![(60.0, class(60.0))]),
                (signal, vec![(60.0, lossy(class(60.0)))]),
                (signal, vec![(40.0, lossy(class(40.0))), (20.0, short(class(20.0)))]),
                // The plant marks packets that can be marked.
                (Signal::Mark, vec![(40.0, class(40.0)), (20.0, unlike(20.0))]),
            ] {
                for steps in [600, 150] {
                    let linear = both(&classes, signal).linearised(p, steps);
                    let found = both(&classes, signal).measured(p, steps);
                    let off = size(found / linear - 1.0);
                    assert!(off < 2e-4, "{law:?} {signal:?} {steps}: {found} {linear} {off}");
                }
            }
        }
    }
}

#[test]
fn those_of_other_controls_have_it_too() {
    for law in others() {
        let of = |flows: f64| Class { sender: Sender::Tcp(law, f64::INFINITY), ..class(flows, &[0]) };
        let short = |flows: f64| Class { base_rtt: 0.1, packet: 500.0, ..of(flows) };
        for classes in [vec![(60.0, of(60.0))], vec![(40.0, of(40.0)), (20.0, short(20.0))]] {
            let p = both(&classes, Signal::Mark).link.at_backlog(150.0).unwrap().p;
            for steps in [600, 150] {
                let linear = both(&classes, Signal::Mark).linearised(p, steps);
                let found = both(&classes, Signal::Mark).measured(p, steps);
                let off = size(found / linear - 1.0);
                assert!(off < 5e-4, "{law:?} {steps}: {found} {linear} {off}");
            }
        }
    }
}

/// The effect of losses is spread over more than a round trip: at these frequencies 0.8 and 0.5 of it are left.
#[test]
fn losses_that_take_effect_by_degrees_have_the_response_of_the_linearised_plant() {
    let repair = Repair::Selective { prr: true, rack: true };
    let rules = Rules { reaction: Reaction::Loss(repair), ..Rules::default() };
    let law = Window::Calibrated(Response::of(rules));
    let of = |flows: f64| Class {
        sender: Sender::Tcp(law, f64::INFINITY),
        ecn: false,
        ..super::class(flows, &[0])
    };
    let short = |flows: f64| Class { base_rtt: 0.1, ..of(flows) };
    for classes in [vec![(60.0, of(60.0))], vec![(40.0, of(40.0)), (20.0, short(20.0))]] {
        let rest = both(&classes, Signal::Drop).link.at_backlog(150.0).unwrap();
        let half = law.signal_span(rest.windows[0]) / 2.0 * rest.rtts[0];
        for steps in [160, 100] {
            let angle = TAU / (f64::from(steps) * HELD.seconds()) * half;
            let spread = sojourn_units::math::sin_cos(angle).0 / angle;
            assert!((0.5..0.85).contains(&spread), "{steps}: {spread}");
            let linear = both(&classes, Signal::Drop).linearised(rest.p, steps);
            let found = both(&classes, Signal::Drop).measured(rest.p, steps);
            let off = size(found / linear - 1.0);
            assert!(off < 5e-4, "{steps}: {found} {linear} {off}, {angle} rad");
        }
    }
}

/// A row of two links, and a class on each and on both, some of whose data are dropped.
struct Row {
    classes: Vec<(f64, Class)>,
}

impl Row {
    fn new(law: Window) -> Row {
        let of = |flows: f64, route: &[usize]| Class {
            sender: Sender::Tcp(law, f64::INFINITY),
            ..class(flows, route)
        };
        let short = Class { base_rtt: 0.1, packet: 500.0, ecn: false, ..of(20.0, &[1]) };
        Row { classes: vec![(30.0, of(30.0, &[0, 1])), (25.0, of(25.0, &[0])), (20.0, short)] }
    }

    /// Backlogs by p of the first link at j w, of the running plant; and its equilibrium.
    fn measured(&self, p: [f64; 2], steps: u32) -> ([Complex64; 2], Vec<f64>) {
        let classes = self.classes.iter().map(|(_, class)| class.clone()).collect();
        let links = vec![Link::new(CAPACITY, 1e6, PACKET), Link::new(CAPACITY * 0.9, 1e6, PACKET)];
        let mut world = World::new(Plant::new(classes, links), Vec::new(), HELD.seconds() / 4.0);
        world.change(|plant, _| plant.set_p(1, 0.0, p[1]));
        let angle = |step: u32| TAU * f64::from(step % steps) / f64::from(steps);
        let swing = |step: u32| 1e-3 * p[0] * sojourn_units::math::sin_cos(angle(step)).0;
        let mut sums = [Complex64::ZERO; 3];
        let settling = (SETTLED / (HELD.seconds() * f64::from(steps))).ceil() as u32 * steps;
        let mut rest = Vec::new();
        for step in 0..2 * settling + PERIODS * steps {
            let now = Time::ZERO + HELD * u64::from(step);
            let swings = step >= settling;
            let own = if swings { swing(step) } else { 0.0 };
            if step == settling {
                rest = world.values().to_vec();
            }
            if step >= 2 * settling {
                let turn = exp(Complex64::new(0.0, -angle(step)));
                sums[0] += turn * own;
                (0..2).for_each(|link| sums[link + 1] += turn * world.backlog(link));
            }
            world.change(|plant, _| plant.set_p(0, now.seconds(), p[0] + own));
            world.run_until(now + HELD);
        }
        let turned = Complex64::new(0.0, angle(1));
        let held = sums[0] * (1.0 - exp(-turned)) / turned;
        ([sums[1] / held, sums[2] / held], rest)
    }

    /// The network about that equilibrium.
    fn linearised(&self, p: [f64; 2], rest: &[f64]) -> Network {
        let law = Transfer::continuous(&Rational { numerator: vec![1.0], denominator: vec![1.0] }, 0.0);
        let capacities = [CAPACITY, CAPACITY * 0.9];
        let backlogs = &rest[self.classes.len()..self.classes.len() + 2];
        let links = (0..2).map(|link| NetworkLink {
            capacity: capacities[link],
            backlog: backlogs[link],
            law: law.clone(),
        });
        let paths = self.classes.iter().zip(rest).map(|((flows, class), &window)| {
            let Sender::Tcp(law, _) = class.sender else { panic!("responsive flows") };
            let waits: f64 = class.route.iter().map(|link| backlogs[*link] / capacities[*link]).sum();
            let rtt = class.base_rtt + waits;
            let passed: f64 = class.route.iter().map(|link| 1.0 - p[*link]).product();
            let own = equilibrium::Class {
                flows: *flows,
                base_rtt: class.base_rtt,
                size: 1.0,
                ecn: class.ecn,
                law,
                loss: class.loss,
            };
            let mut offered = flows * window / rtt;
            let hops = class.route.iter().map(|&link| {
                let passes = if class.ecn { 1.0 } else { 1.0 - p[link] };
                let signals = passed / (1.0 - p[link]);
                let size = class.packet / PACKET;
                let hop = Hop { link, comes: 1.0, size, passes, offered, drops: !class.ecn, signals };
                offered *= passes;
                hop
            });
            let hops = hops.collect();
            let signals = 1.0 - passed;
            Path { class: own, window, rtt, signals, is_constant: false, hops }
        });
        Network::new(links.collect(), paths.collect(), Meter::new(u64::MAX))
    }
}

#[test]
fn links_in_a_row_have_the_response_of_the_linearised_network() {
    for law in [Window::Mgt, Window::Full, calibrated()] {
        let p = if matches!(law, Window::Calibrated(_)) { [0.003, 0.003] } else { [0.004, 0.004] };
        for steps in [600, 150] {
            let row = Row::new(law);
            let (found, rest) = row.measured(p, steps);
            assert!(rest[3] > 10.0 && rest[4] > 10.0, "both links are full: {rest:?}");
            let network = row.linearised(p, &rest);
            let s = Complex64::new(0.0, TAU / (f64::from(steps) * HELD.seconds()));
            for (to, found) in found.into_iter().enumerate() {
                let linear = network.queue(s, 0, to);
                let off = size(found / linear - 1.0);
                // The rates of calibrated windows jump with p: within a step the first queue's shares are a parabola.
                let most = if matches!(law, Window::Calibrated(_)) { 3e-3 } else { 5e-4 };
                assert!(off < most, "{law:?} {steps} {to}: {found} {linear} {off}");
            }
        }
    }
}

/// Time until the initial transient has decayed, s.
const SETTLED: f64 = 120.0;
const PERIODS: u32 = 4;
