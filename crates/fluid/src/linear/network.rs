//! Small-signal loop of several congested links: one loop of as many inputs and outputs.
//!
//! Every congested link l has the queueing delay y_l = q_l / C_l and its law's p_l = H_l C_l y_l; every class i the window,
//! rate and round trip of [`super::plant`], with the signals and the queues of all of its links. Where its packets leave
//! a queue they have the share of the arrivals then (first in, first out), y_l earlier. With the rate d that comes to a
//! link, a = theta d that its law admits, and the size sigma of a packet in those of the link, per class
//!
//! ```text
//! dx  = X_y sum of dy_l + X_p sum of (1 - s) / (1 - p_l) dp_l                                  (1)
//! X_y = -((1 / R + s [clocked]) k / w + W / R^2) n,  X_p = -(1 / R + s [clocked]) g / w n        (2)
//! da  = theta dd - [dropped] d dp_l,  dd of the next link = e^(-s y_l) (da - a s dy_l)           (3)
//! s dy_l = sum of sigma / C_l da = sum over m of (A_lm dy_m + B_lm dp_m)                       (4)
//! ```
//!
//! w, g and k are the coefficients of the window of its own, of p, and of a round trip (that of q, times C). (3) begins with
//! dx at the first link of the data. Acknowledgments are dropped where data are marked; they cross the links of the way
//! back as data do, in proportion to what the receiver has. By (4) the loop is the matrix L = -(s - A)^-1 B H C, and
//!
//! ```text
//! det(s - A - B H C) = det(s - A) det(1 + L)                                                   (5)
//! ```
//!
//! is the characteristic function, times the denominators of all windows and laws. With one loop broken, its column of B
//! is that of an input from outside: the loop transfer there is the quotient of two such determinants less 1.

use super::bound::{Outside, doubled, grown};
use super::complex::{Complex64, exp};
use super::equilibrium::Class;
use super::loops::{Fraction, Loop};
use super::matrix::Matrix;
use super::meter::Meter;
use super::transfer::Transfer;
use super::winding::Polyline;
use super::windows::{State, Windows, is_clocked};
use std::collections::BTreeMap;
use std::ops::{Add, Mul};
use std::sync::{Arc, Mutex, PoisonError};

/// A congested link.
#[derive(Clone, Debug)]
pub struct NetworkLink {
    /// C, packets/s.
    pub capacity: f64,
    /// q, packets.
    pub backlog: f64,
    /// Its law.
    pub law: Transfer,
}

/// A class on its path, at equilibrium.
#[derive(Clone, Debug)]
pub struct Path {
    /// The class.
    pub class: Class,
    /// W, packets, and R, s.
    pub window: f64,
    /// R, s.
    pub rtt: f64,
    /// s: share of its packets with a signal.
    pub signals: f64,
    /// True if something else than its window limits its rate, so that this is constant.
    pub is_constant: bool,
    /// Congested links that its data cross, then those of its acknowledgments: all queues of its round trip.
    pub hops: Vec<Hop>,
}

/// A congested link on the path of a class, or of its acknowledgments.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    /// Its number.
    pub link: usize,
    /// Share of the packets that links without a queue let pass since the last one.
    pub comes: f64,
    /// sigma: packets of the link per data packet of the class.
    pub size: f64,
    /// theta.
    pub passes: f64,
    /// d, data packets/s of the class.
    pub offered: f64,
    /// True if p drops what it chooses.
    pub drops: bool,
    /// (1 - s) / (1 - p): growth of s with p; 0 for acknowledgments.
    pub signals: f64,
}

/// Congested links and the classes that cross them.
#[derive(Debug)]
pub struct Network {
    links: Vec<NetworkLink>,
    classes: Vec<Linearised>,
    meter: Arc<Meter>,
    /// Evaluations of a class that one of the network is worth.
    cost: u64,
    /// The loops broken at each link, by the bits of s: contours and frequencies of all of them are the same.
    known: Mutex<BTreeMap<[u64; 2], Arc<[Fraction]>>>,
}

/// A class about its equilibrium.
#[derive(Clone, Debug)]
struct Linearised {
    path: Path,
    own: Windows,
    columns: Vec<Column>,
}

/// A link on the round trip of a class: how often it waits there, and the growth of its signals with p.
#[derive(Clone, Copy, Debug)]
struct Column {
    link: usize,
    waits: f64,
    signals: f64,
}

/// The whole loop: det(1 + L) - 1.
#[derive(Clone, Debug)]
pub struct Determinant(pub Arc<Network>);

/// The loop broken at one link, the others closed.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The network.
    pub network: Arc<Network>,
    /// Number of the link.
    pub link: usize,
}

/// The columns of (5) at one s, and the product of the windows' denominators.
struct Columns {
    /// D (s - A) of each link, with D its law's denominator.
    open: Matrix<Complex64>,
    /// -N C B, with N the numerator.
    closing: Matrix<Complex64>,
    windows: Complex64,
}

/// Coefficients of (1) to (3) at one s, or their bounds.
struct Terms<T> {
    s: T,
    /// -1; of bounds 1.
    minus: T,
    /// X_y and X_p of each class.
    classes: Vec<[T; 2]>,
    /// e^(-s y) of each link.
    late: Vec<T>,
}

/// Terms of the matrices, and products of a determinant, in the time of an evaluation of a class.
const TERMS: usize = 32;
const PRODUCTS: usize = 100;

impl Network {
    /// Linearises a network at its equilibrium.
    pub fn new(links: Vec<NetworkLink>, paths: Vec<Path>, meter: Arc<Meter>) -> Network {
        let linear = |path: Path| {
            let Path { class, window, rtt, signals, .. } = path;
            let own = State { window, rtt, signals, capacity: 1.0 }.linear(&Class { loss: 0.0, ..class });
            let clock = if is_clocked(&class) { class.flows } else { 0.0 };
            let own = Windows { rate: class.flows / rtt, clock, ..own };
            let columns = Column::of(&path.hops);
            Linearised { path, own, columns }
        };
        let classes: Vec<Linearised> = paths.into_iter().map(linear).collect();
        let terms = |of: &Linearised| of.path.hops.len() * (of.columns.len() + of.path.hops.len() / 2);
        let terms: usize = classes.iter().map(terms).sum();
        let cost = classes.len() + terms / TERMS + links.len().pow(3) / PRODUCTS;
        Network { links, classes, meter, cost: cost as u64, known: Mutex::default() }
    }

    /// Number of links.
    pub fn size(&self) -> usize {
        self.links.len()
    }

    /// Response of the backlog of the link `to` to the p of the link `from`, all loops open; NaN where the evaluations
    /// have run out.
    pub fn queue(&self, s: Complex64, from: usize, to: usize) -> Complex64 {
        let Some(([a, b], _)) = self.linear(s) else { return Fraction::UNKNOWN.above };
        let plant =
            |row: usize, column: usize| if row == column { s - a[(row, column)] } else { -a[(row, column)] };
        let driven =
            |row: usize, column: usize| if column == to { b[(row, from)] } else { plant(row, column) };
        let [above, below] = [Matrix::of(self.size(), driven), Matrix::of(self.size(), plant)];
        above.determinant() / below.determinant() * self.links[to].capacity
    }

    /// The columns at `s`; none where the evaluations have run out.
    fn columns(&self, s: Complex64) -> Option<Columns> {
        let ([a, b], windows) = self.linear(s)?;
        let laws: Vec<[Complex64; 2]> = self.links.iter().map(|link| link.law.at(s)).collect();
        let open = Matrix::of(self.size(), |row, column| {
            let diagonal = if row == column { s } else { Complex64::ZERO };
            (diagonal - a[(row, column)]) * laws[column][1]
        });
        let closing = Matrix::of(self.size(), |row, column| {
            -b[(row, column)] * laws[column][0] * self.links[column].capacity
        });
        Some(Columns { open, closing, windows })
    }

    /// The loops broken at each link, at `s`; none where the evaluations have run out.
    fn broken(&self, s: Complex64) -> Option<Arc<[Fraction]>> {
        let place = [s.re.to_bits(), s.im.to_bits()];
        if let Some(found) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&place) {
            return Some(Arc::clone(found));
        }
        let found: Arc<[Fraction]> = self.columns(s)?.broken().into();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST_KNOWN {
            known.insert(place, Arc::clone(&found));
        }
        Some(found)
    }

    /// A and B of (4) at `s`, and the product of the windows' denominators.
    fn linear(&self, s: Complex64) -> Option<([Matrix<Complex64>; 2], Complex64)> {
        if !self.meter.spend(self.cost) {
            return None;
        }
        let mut windows = Complex64::ONE;
        let of_class = |Linearised { path, own, .. }: &Linearised| {
            if path.is_constant {
                return [Complex64::ZERO; 2];
            }
            let of_acks = exp(-s * own.delay);
            let [below, fall, slow] = own.at(s, [of_acks, own.late_signals(s, of_acks)]);
            windows *= below * own.delay;
            let rate = (s * own.clock + own.rate) / below;
            [-(rate * slow + own.rate * path.window / path.rtt), -rate * fall]
        };
        let classes = self.classes.iter().map(of_class).collect();
        let late = self.links.iter().map(|link| exp(-s * (link.backlog / link.capacity))).collect();
        Some((self.filled(&Terms { s, minus: -Complex64::ONE, classes, late }), windows))
    }

    /// A and B of (4).
    fn filled<T>(&self, at: &Terms<T>) -> [Matrix<T>; 2]
    where
        T: Copy + From<f64> + Add<Output = T> + Mul<Output = T> + Mul<f64, Output = T>,
    {
        let nothing = T::from(0.0);
        let [mut a, mut b] = [0, 1].map(|_| Matrix::filled(self.size(), nothing));
        // What links that it has crossed change by y and p of theirs in what comes of a class.
        let mut made: Vec<(usize, [T; 2])> = Vec::new();
        for (Linearised { path, columns, .. }, own) in self.classes.iter().zip(&at.classes) {
            made.clear();
            let mut own = *own;
            for hop in &path.hops {
                let link = hop.link;
                let dropped = if hop.drops { at.minus * hop.offered } else { nothing };
                let [passes, share] = [hop.comes * hop.passes, hop.size / self.links[link].capacity];
                own = own.map(|term| term * passes);
                for (_, by) in &mut made {
                    *by = by.map(|term| term * passes);
                }
                made.push((link, [nothing, dropped]));
                for of in columns {
                    let place = (link, of.link);
                    a[place] = a[place] + own[0] * (share * of.waits);
                    b[place] = b[place] + own[1] * (share * of.signals);
                }
                for (column, [by_wait, by_p]) in &made {
                    let place = (link, *column);
                    a[place] = a[place] + *by_wait * share;
                    b[place] = b[place] + *by_p * share;
                }
                if let Some((_, [by_wait, _])) = made.last_mut() {
                    *by_wait = at.minus * at.s * (hop.offered * hop.passes);
                }
                own = own.map(|term| term * at.late[link]);
                for (_, by) in &mut made {
                    *by = by.map(|term| term * at.late[link]);
                }
            }
        }
        [a, b]
    }

    /// A bound of |det(1 + L) - 1| outside, and that of each loop broken; none where the radius is too small.
    ///
    /// |(s - A)^-1| is at most (1 - |A| / |s|)^-1 / |s| entry by entry, and |A| / |s| falls with |s|; with the sums r of the
    /// rows of that bound of |L|, |det(1 + L) - 1| is at most the product of 1 + r, less 1.
    fn bound(&self, at: Outside) -> Option<f64> {
        let Outside { radius, left } = at;
        let of_class = |Linearised { path, own, .. }: &Linearised| {
            if path.is_constant {
                return Some([0.0; 2]);
            }
            let [below, fall, slow] = own.bounds(at)?;
            let rate = own.rates(radius).with(below);
            let still = own.rate * path.window / path.rtt;
            Some([rate.with(slow).at(radius) + still, rate.with(fall).at(radius)])
        };
        let classes = self.classes.iter().map(of_class).collect::<Option<Vec<[f64; 2]>>>()?;
        let late = self.links.iter().map(|link| grown(left, link.backlog / link.capacity)).collect();
        let [a, b] = self.filled(&Terms { s: radius, minus: 1.0, classes, late });
        let laws = self.links.iter().map(|link| Some(link.law.bound(at)? * link.capacity / radius));
        let laws = laws.collect::<Option<Vec<f64>>>()?;
        let scaled = Matrix::of(self.size(), |row, column| a[(row, column)] / radius);
        let driven = Matrix::of(self.size(), |row, column| b[(row, column)] * laws[column]);
        let grown: f64 = scaled.amplified(&driven)?.row_sums().map(|sum| 1.0 + sum).product();
        Some(grown - 1.0)
    }

    /// A radius beyond which `of` the bound of |det(1 + L) - 1| is less than `level`.
    fn reach(&self, level: f64, left: f64, of: impl Fn(f64) -> f64) -> Option<f64> {
        doubled(|radius| self.bound(Outside { radius, left }).is_some_and(|bound| of(bound) < level))
    }

    /// The greatest delay of a class and of a law, s.
    fn delay(&self) -> f64 {
        let of_classes = self.classes.iter().map(|of| of.own.longest_delay() + self.waiting(&of.path));
        let of_laws = self.links.iter().map(|link| link.law.delay());
        of_classes.fold(0.0, f64::max) + of_laws.fold(0.0, f64::max)
    }

    /// The same of the product of all.
    fn delay_of_parts(&self) -> f64 {
        let of_classes: f64 = self.classes.iter().map(|of| of.own.longest_delay()).sum();
        let of_links = self.links.iter().map(|link| link.law.delay() + link.backlog / link.capacity);
        of_classes + of_links.sum::<f64>()
    }

    /// Time in the queues of a path, s.
    fn waiting(&self, path: &Path) -> f64 {
        path.hops.iter().map(|hop| self.links[hop.link].backlog / self.links[hop.link].capacity).sum()
    }
}

impl Column {
    /// Those of a path, each link once.
    fn of(hops: &[Hop]) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        for &Hop { link, signals, .. } in hops {
            match columns.iter_mut().find(|known| known.link == link) {
                Some(known) => {
                    known.waits += 1.0;
                    known.signals += signals;
                }
                None => columns.push(Column { link, waits: 1.0, signals }),
            }
        }
        columns
    }
}

impl Columns {
    /// Their determinant with all columns closed, less that with all open; and that one.
    fn whole(self) -> Fraction {
        let closed = self.closed().determinant();
        let below = self.open.determinant();
        Fraction { above: closed - below, below }.scaled(self.windows)
    }

    /// The same for each column, the others closed: expanded by its cofactors.
    fn broken(&self) -> Vec<Fraction> {
        let (size, cofactors) = (self.open.size(), self.closed().cofactors());
        let expanded = |column: usize, of: &Matrix<Complex64>| -> Complex64 {
            (0..size).map(|row| of[(row, column)] * cofactors[(row, column)]).sum()
        };
        let of_column = |column: usize| {
            let (above, below) = (expanded(column, &self.closing), expanded(column, &self.open));
            Fraction { above, below }.scaled(self.windows)
        };
        (0..size).map(of_column).collect()
    }

    fn closed(&self) -> Matrix<Complex64> {
        Matrix::of(self.open.size(), |row, column| self.open[(row, column)] + self.closing[(row, column)])
    }
}

impl Fraction {
    const UNKNOWN: Fraction =
        Fraction { above: Complex64::new(f64::NAN, f64::NAN), below: Complex64::new(f64::NAN, f64::NAN) };

    fn scaled(self, by: Complex64) -> Fraction {
        Fraction { above: self.above * by, below: self.below * by }
    }
}

impl Loop for Determinant {
    fn at(&self, s: Complex64) -> Fraction {
        self.0.columns(s).map_or(Fraction::UNKNOWN, Columns::whole)
    }

    fn delay(&self) -> f64 {
        self.0.delay() * self.0.size() as f64
    }

    fn delay_of_parts(&self) -> f64 {
        self.0.delay_of_parts()
    }

    fn reach(&self, level: f64, left: f64) -> Option<f64> {
        self.0.reach(level, left, |bound| bound)
    }
}

impl Loop for Broken {
    fn at(&self, s: Complex64) -> Fraction {
        self.network.broken(s).map_or(Fraction::UNKNOWN, |of_links| of_links[self.link])
    }

    /// That of its parts: where the other loops alone are near their limit, a zero and a pole of 1 + L are nearer to one
    /// another than steps on which the quotient looks straight.
    fn turn_of_closed(&self, corners: &[Complex64]) -> Option<f64> {
        let along = Polyline { corners, delay: self.delay_of_closed() };
        let [closed, below] =
            [Fraction::characteristic, |of: Fraction| of.below].map(|part| along.turn(&|s| part(self.at(s))));
        Some(closed? - below?)
    }

    fn delay_of_closed(&self) -> f64 {
        self.delay_of_parts()
    }

    fn delay(&self) -> f64 {
        self.network.delay()
    }

    fn delay_of_parts(&self) -> f64 {
        self.network.delay_of_parts()
    }

    /// L + 1 is the quotient of two determinants, each within the bound of 1.
    fn reach(&self, level: f64, left: f64) -> Option<f64> {
        let of = |bound: f64| if bound < 1.0 { 2.0 * bound / (1.0 - bound) } else { f64::INFINITY };
        self.network.reach(level, left, of)
    }
}

/// Limit of points whose values are kept.
const MOST_KNOWN: usize = 1 << 17;
