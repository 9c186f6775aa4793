//! Stability regions against known results.

use crate::designs::{hollot, pi};
use sojourn_aqm::Network;
use sojourn_aqm::linear::Rational;
use sojourn_fluid::linear::boundary::{Family, Plane, Point, map};
use sojourn_fluid::linear::complex::{Complex64, exp};
use sojourn_fluid::linear::loops::{Continuous, Fraction, Loop};
use sojourn_fluid::linear::plant::Hollot;
use sojourn_fluid::linear::poles;
use sojourn_units::math;

/// x' = a x + b x(t - 1) as a loop: L = -(a + b e^-s) / s.
struct Hayes {
    a: f64,
    b: f64,
}

impl Loop for Hayes {
    fn at(&self, s: Complex64) -> Fraction {
        Fraction { above: -(self.a + self.b * exp(-s)), below: s }
    }

    fn delay(&self) -> f64 {
        1.0
    }

    fn reach(&self, level: f64, left: f64) -> Option<f64> {
        Some((self.a.abs() + self.b.abs() * math::exp(left.max(0.0)) + 1e-9) * 1.01 / level)
    }
}

/// Hayes, 1950: stable where a < 1, a < -b and b > -w / sin w with a = w cot w, 0 < w < pi (for a w of 0: b > -1).
#[test]
fn hayes() {
    let family: &Family<'_> = &|[a, b]| Some(Box::new(Hayes { a, b }) as Box<dyn Loop>);
    let plane = Plane { from: [-3.0, -4.0], to: [0.93, -1.2], points: [41, 37], threads: 2 };
    let found = map(family, plane);
    assert!(!found.boundary.is_empty());
    for crossing in found.boundary.iter().flatten() {
        let w = crossing.frequency.abs();
        let (sine, cosine) = math::sin_cos(w);
        let [a, b] = crossing.at;
        assert!((a - w * cosine / sine).abs() < 1e-8 && (b + w / sine).abs() < 1e-8, "{crossing:?}");
    }
    for (row, counts) in found.points.iter().enumerate() {
        for (column, count) in counts.iter().enumerate() {
            let (a, b) = (-3.0 + 3.93 * column as f64 / 40.0, -4.0 + 2.8 * row as f64 / 36.0);
            // w by bisection: w cot w falls from 1 to minus infinity.
            let (mut low, mut high) = (1e-9, std::f64::consts::PI - 1e-12);
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                let (sine, cosine) = math::sin_cos(middle);
                if middle * cosine / sine > a { low = middle } else { high = middle }
            }
            let (sine, _) = math::sin_cos(low);
            assert_eq!(*count == Point::UnstablePoles(0), a < -b && b > -low / sine, "{a} {b}: {count:?}");
        }
    }
}

/// A fixed PI over loads and round trips: the boundary separates the counts, and on it the rightmost poles are on the
/// axis.
#[test]
fn pi_over_loads_and_round_trips() {
    let law: Rational = pi(hollot(0.246));
    let of = move |[flows, rtt]: [f64; 2]| {
        Continuous::new(Hollot::new(Network { flows, capacity: 3750.0, rtt }), law.clone())
    };
    let family: &Family<'_> = &|at| Some(Box::new(of(at)) as Box<dyn Loop>);
    let plane = Plane { from: [5.0, 0.05], to: [100.0, 0.6], points: [40, 40], threads: 2 };
    let found = map(family, plane);
    assert_eq!(found, map(family, Plane { threads: 1, ..plane }));
    assert_eq!(found.boundary.len(), 1);
    for crossing in found.boundary[0].iter().step_by(10) {
        let poles = poles::rightmost(&family(crossing.at).unwrap(), 2).unwrap().poles;
        assert!(
            poles.iter().any(|s| s.re.abs() < 1e-8 && (s.im / crossing.frequency - 1.0).abs() < 1e-8),
            "{poles:?}"
        );
    }
    let [first, last] = [found.boundary[0][0], found.boundary[0][found.boundary[0].len() - 1]];
    let on_border = |at: [f64; 2]| {
        (0..2).any(|axis| {
            let near = |edge: f64| (at[axis] - edge).abs() < 1e-9 * edge;
            near(plane.from[axis]) || near(plane.to[axis])
        })
    };
    assert!(on_border(first.at) && on_border(last.at), "{first:?} {last:?}");
    assert_eq!(found.points[0][39], Point::UnstablePoles(0));
    assert_eq!(found.points[39][0], Point::UnstablePoles(2));
}
