//! The loop of several links, against that of one and against the law's own sampled loop.

use crate::designs::pi;
use sojourn_aqm::laws::pi::{PiGains, design};
use sojourn_aqm::linear::{InSamples, Rational};
use sojourn_fluid::linear::complex::{Complex64, size};
use sojourn_fluid::linear::equilibrium::{Class, Equilibrium, Link, Signal};
use sojourn_fluid::linear::loops::{Continuous, Loop};
use sojourn_fluid::linear::margins::Margins;
use sojourn_fluid::linear::meter::Meter;
use sojourn_fluid::linear::network::{Broken, Determinant, Hop, Network, NetworkLink, Path};
use sojourn_fluid::linear::plant::Exact;
use sojourn_fluid::linear::sampled::Sampled;
use sojourn_fluid::linear::transfer::Transfer;
use sojourn_fluid::linear::{nyquist, poles};
use sojourn_fluid::plant::Window;
use sojourn_units::Span;
use std::sync::Arc;

const CAPACITY: f64 = 3750.0;

/// A link with a class that can be marked and one that is dropped.
fn link(law: Window) -> Link {
    let class =
        |flows: f64, base_rtt: f64, ecn: bool| Class { flows, base_rtt, size: 1.0, ecn, law, loss: 0.0 };
    let lossy = Class { loss: 0.004, size: 0.5, ..class(20.0, 0.1, false) };
    let classes = vec![class(40.0, 0.2, true), lossy];
    Link { capacity: CAPACITY, signal: Signal::Mark, unresponsive: [0.0; 2], classes }
}

/// The same as a network under `law`.
fn network(link: &Link, at: &Equilibrium, law: Transfer) -> Arc<Network> {
    let path = |(class, (window, rtt)): (&Class, (&f64, &f64))| {
        let passes = if class.ecn { 1.0 } else { 1.0 - at.p };
        let hop = Hop {
            link: 0,
            comes: 1.0,
            size: class.size,
            passes,
            offered: class.flows * window / rtt,
            drops: !class.ecn,
            signals: 1.0 - class.loss,
        };
        let signals = class.signal_share(at.p);
        let (window, rtt) = (*window, *rtt);
        Path { class: *class, window, rtt, signals, is_constant: false, hops: vec![hop] }
    };
    let states = at.windows.iter().zip(&at.rtts);
    let paths = link.classes.iter().zip(states).map(path).collect();
    let links = vec![NetworkLink { capacity: CAPACITY, backlog: at.backlog, law }];
    Arc::new(Network::new(links, paths, Meter::new(u64::MAX)))
}

/// A class over twenty links, and one over each, cost what they compute: 20 hops by 30 terms, and 20^3 products.
#[test]
fn an_evaluation_of_many_links_counts_its_matrices() {
    let of = |size: usize| {
        let one = link(Window::Mgt);
        let class = one.classes[0];
        let hop = |link: usize| Hop {
            link,
            comes: 1.0,
            size: 1.0,
            passes: 1.0,
            offered: 1.0,
            drops: false,
            signals: 1.0,
        };
        let path =
            |hops: Vec<Hop>| Path { class, window: 8.0, rtt: 0.3, signals: 0.03, is_constant: false, hops };
        let across = path((0..size).map(hop).collect());
        let paths = (0..size).map(|link| path(vec![hop(link)])).chain([across]).collect();
        let law = || Transfer::continuous(&pi(crate::designs::hollot(0.246)), 0.0);
        let links =
            (0..size).map(|_| NetworkLink { capacity: CAPACITY, backlog: 50.0, law: law() }).collect();
        let meter = Meter::new(u64::MAX);
        let network = Network::new(links, paths, Arc::clone(&meter));
        assert!(size_of_value(&network) > 0.0);
        meter.spent()
    };
    assert_eq!(of(1), 2);
    assert!((100..200).contains(&of(20)), "{}", of(20));
}

/// Size of a response, which counts an evaluation.
fn size_of_value(network: &Network) -> f64 {
    size(network.queue(Complex64::new(0.1, 1.0), 0, 0))
}

#[test]
fn a_network_of_one_link_is_the_loop_of_that_link() {
    let law = pi(crate::designs::hollot(0.246));
    for windows in [Window::Mgt, Window::Full, crate::plants::calibrated()] {
        let link = link(windows);
        let at = link.at_backlog(172.5).unwrap();
        let alone = Continuous::new(Exact::new(&link, &at), law.clone());
        let network = network(&link, &at, Transfer::continuous(&law, 0.0));
        let broken = Broken { network: Arc::clone(&network), link: 0 };
        for s in [Complex64::new(0.3, 2.0), Complex64::new(0.0, 0.5), Complex64::new(-1.0, 9.0)] {
            for value in [broken.value(s), Determinant(Arc::clone(&network)).value(s)] {
                assert!(size(value / alone.value(s) - 1.0) < 1e-9, "{windows:?} {s}: {value}");
            }
        }
        let gain = |of: &dyn Loop| Margins::of(of).unwrap().gain_up().unwrap();
        assert!((gain(&broken) / gain(&alone) - 1.0).abs() < 1e-9);
        assert_eq!(nyquist::count(&broken), nyquist::count(&alone));
    }
}

/// PI at 160 Hz: aliases add 1e-5 of the loop where it crosses -1.
#[test]
fn a_held_law_is_the_sampled_one_to_its_aliases() {
    let link = link(Window::Mgt);
    let at = link.at_backlog(172.5).unwrap();
    let PiGains { a, b } = design(crate::designs::hollot(0.246), 1.0 / 160.0);
    let transfer = Rational { numerator: vec![a, -b], denominator: vec![1.0, -1.0] };
    let law = InSamples { transfer, period: Span::from_seconds(1.0 / 160.0) };
    let sampled = Sampled::new(Exact::new(&link, &at), &law).unwrap();
    let broken = Broken { network: network(&link, &at, Transfer::held(&law, 0.0)), link: 0 };
    let [ours, exact] = [Margins::of(&broken), Margins::of(&sampled)].map(Option::unwrap);
    let [gain, lag] =
        [ours.gain_up().unwrap() / exact.gain_up().unwrap(), ours.delay().unwrap() / exact.delay().unwrap()];
    assert!((gain - 1.0).abs() < 1e-4 && (lag - 1.0).abs() < 1e-4, "{gain} {lag}");
    let poles = [&broken as &dyn Loop, &sampled].map(|of| poles::rightmost(of, 4).unwrap().poles);
    for (ours, exact) in poles[0].iter().zip(&poles[1]).take(2) {
        assert!(size(ours / exact - 1.0) < 1e-4, "{poles:?}");
    }
}
