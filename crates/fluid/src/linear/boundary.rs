//! Stability region of a loop in a plane of two parameters, and its boundary.
//!
//! The poles in the right half plane are counted on a grid: at every fourth point of every fourth row, and at each
//! point between whose four corners differ; where these agree the block is filled in with their result, a count or the
//! reason of its absence. Between neighbours that differ a pair of poles crosses the imaginary axis: there 1 + L(jw;
//! x, y) = 0, two equations for x, y and w, whose solutions are curves. Each is followed by pseudo-arclength
//! continuation (H. B. Keller, "Numerical solution of bifurcation and nonlinear eigenvalue problems", in "Applications
//! of Bifurcation Theory", 1977) both ways, to the border of the plane or back to its start. A point of a curve is
//! exact whatever the grid; a region smaller than four of the grid's meshes may be missed.

use super::complex::Complex64;
use super::loops::Loop;
use super::margins::Margins;
use super::meter::Meter;
use super::nyquist;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Loop at x and y; none where there is no equilibrium.
pub type Family<'a> = dyn Fn([f64; 2]) -> Option<Box<dyn Loop>> + Sync + 'a;

/// Loop at x and y, its evaluations counted by a meter; the reason where there is no loop; `None` where that is
/// unknown.
pub type Metered<'a, R> = dyn Fn([f64; 2], &Arc<Meter>) -> Result<Box<dyn Loop>, Option<R>> + Sync + 'a;

/// Loops of a plane, and the limit of their evaluations.
pub struct Field<'a, R> {
    /// Loop accurate enough to count poles.
    pub counted: &'a Metered<'a, R>,
    /// Loop accurate enough to follow a boundary.
    pub exact: &'a Metered<'a, R>,
    /// Limit of evaluations for the counts; a quarter as many again for the boundary.
    pub evaluations: u64,
}

/// A point of the grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point<R> {
    /// Number of poles in the right half plane.
    UnstablePoles(i64),
    /// There is no loop, for this reason.
    NoLoop(R),
    /// The poles cannot be counted: one lies on the axis to rounding, or there is no contour.
    Uncounted,
    /// Its share of the evaluations ran out.
    Spent,
}

impl<R> Point<R> {
    /// The number of poles, where they were counted.
    pub fn unstable_poles(&self) -> Option<i64> {
        if let Point::UnstablePoles(count) = self { Some(*count) } else { None }
    }
}

/// The plane and its grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// The least x and y.
    pub from: [f64; 2],
    /// The greatest x and y.
    pub to: [f64; 2],
    /// Points of the grid in x and in y, at least 2.
    pub points: [usize; 2],
    /// Threads that share the rows.
    pub threads: usize,
}

/// A loop with a pair of poles on the imaginary axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// x and y.
    pub at: [f64; 2],
    /// Frequency of the pair, rad/s.
    pub frequency: f64,
}

/// Result of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<R> {
    /// A row for each y.
    pub points: Vec<Vec<Point<R>>>,
    /// Number of points that were evaluated; the others are filled in.
    pub counted: usize,
    /// Evaluations that the points took.
    pub spent: u64,
    /// Curves of the boundary.
    pub boundary: Vec<Vec<Crossing>>,
    /// True if evaluations ran out before the curves were followed to their ends.
    pub is_cut: bool,
}

/// Counts unstable poles at every point of the grid, and follows the boundary.
pub fn map(family: &Family<'_>, plane: Plane) -> Map<()> {
    let any = |at: [f64; 2], _: &Arc<Meter>| family(at).ok_or(Some(()));
    map_within(&Field { counted: &any, exact: &any, evaluations: u64::MAX / 2 }, plane)
}

/// Maps a plane within a limit of evaluations: the points of the coarser grid share half of it equally, all others
/// share the remainder. A point that needs more has no count.
pub fn map_within<R: Clone + Eq + Send + Sync>(field: &Field<'_, R>, plane: Plane) -> Map<R> {
    let Grid { points, counted, spent } = grid(field, plane);
    let meter = Meter::new(field.evaluations / 4);
    let tracer = Tracer { family: &|at| (field.exact)(at, &meter).ok(), plane };
    let mut boundary: Vec<Vec<Crossing>> = Vec::new();
    for [one, other] in neighbours(plane) {
        let count = |[column, row]: [usize; 2]| points[row][column].unstable_poles();
        let (Some(here), Some(there)) = (count(one), count(other)) else { continue };
        let ends = [one, other].map(|index| plane.point(index));
        if meter.is_used_up() {
            break;
        }
        if here == there || boundary.iter().flatten().any(|at| plane.covers(at.at, ends)) {
            continue;
        }
        // Where the loop itself jumps, as at a kink of a law's curve, no pole crosses the axis.
        if let Some(start) = tracer.between(ends, here).filter(|start| plane.covers(start.at, ends)) {
            boundary.push(tracer.curve(start));
        }
    }
    Map { points, counted, spent, boundary, is_cut: meter.is_used_up() }
}

/// The points of a map.
struct Grid<R> {
    points: Vec<Vec<Point<R>>>,
    counted: usize,
    spent: u64,
}

/// Every point of the grid.
fn grid<R: Clone + Eq + Send + Sync>(field: &Field<'_, R>, plane: Plane) -> Grid<R> {
    let [columns, rows] = plane.points;
    let all = || (0..rows).flat_map(|row| (0..columns).map(move |column| [column, row]));
    let number = |of: &dyn Fn([usize; 2]) -> bool| all().filter(|index| of(*index)).count();
    let spent = AtomicU64::new(0);
    let looked_at = |index: [usize; 2], share: u64| {
        let meter = Meter::new(share);
        let found = match (field.counted)(plane.point(index), &meter) {
            Ok(of) => nyquist::right_of(&of, 0.0).map_or(Point::Uncounted, Point::UnstablePoles),
            Err(Some(reason)) => Point::NoLoop(reason),
            Err(None) => Point::Uncounted,
        };
        spent.fetch_add(meter.spent(), Ordering::Relaxed);
        if meter.is_used_up() { Point::Spent } else { found }
    };
    let share = field.evaluations / 2 / number(&|index| plane.is_corner(index)).max(1) as u64;
    let mut points = vec![vec![Point::Uncounted; columns]; rows];
    by_rows(&mut points, plane.threads, |index, of| {
        if plane.is_corner(index) {
            *of = looked_at(index, share);
        }
    });
    let known = points.clone();
    let agreed = |index: [usize; 2]| {
        let [first, others @ ..] = plane.corners(index).map(|[column, row]| &known[row][column]);
        others.iter().all(|other| *other == first).then_some(first)
    };
    let open = number(&|index| !plane.is_corner(index) && agreed(index).is_none());
    let left = field.evaluations.saturating_sub(spent.load(Ordering::Relaxed));
    let share = left / open.max(1) as u64;
    by_rows(&mut points, plane.threads, |index, of| {
        if !plane.is_corner(index) {
            *of = agreed(index).cloned().unwrap_or_else(|| looked_at(index, share));
        }
    });
    let filled = number(&|index| !plane.is_corner(index) && agreed(index).is_some());
    Grid { points, counted: columns * rows - filled, spent: spent.into_inner() }
}

/// Fills in the rows, shared between threads; the result does not depend on their number.
fn by_rows<P: Send>(grid: &mut [Vec<P>], threads: usize, fill: impl Fn([usize; 2], &mut P) + Sync) {
    let share = grid.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for (part, rows) in grid.chunks_mut(share).enumerate() {
            let fill = &fill;
            scope.spawn(move || {
                for (row, points) in rows.iter_mut().enumerate() {
                    for (column, point) in points.iter_mut().enumerate() {
                        fill([column, part * share + row], point);
                    }
                }
            });
        }
    });
}

/// Neighbours in rows and in columns.
fn neighbours(plane: Plane) -> impl Iterator<Item = [[usize; 2]; 2]> {
    let [columns, rows] = plane.points;
    let all = (0..rows).flat_map(move |row| (0..columns).map(move |column| [column, row]));
    let pairs = all.flat_map(|at @ [column, row]| [[at, [column + 1, row]], [at, [column, row + 1]]]);
    pairs.filter(move |[_, other]| other[0] < columns && other[1] < rows)
}

impl Plane {
    fn point(&self, index: [usize; 2]) -> [f64; 2] {
        [0, 1].map(|axis| {
            let share = index[axis] as f64 / (self.points[axis] - 1).max(1) as f64;
            self.from[axis] + share * (self.to[axis] - self.from[axis])
        })
    }

    /// True for a point of the coarser grid.
    fn is_corner(&self, index: [usize; 2]) -> bool {
        (0..2).all(|axis| self.block(axis, index[axis])[0] == self.block(axis, index[axis])[1])
    }

    /// Points of the coarser grid around a point.
    fn corners(&self, [column, row]: [usize; 2]) -> [[usize; 2]; 4] {
        let ([left, right], [below, above]) = (self.block(0, column), self.block(1, row));
        [[left, below], [right, below], [left, above], [right, above]]
    }

    /// Points of the coarser grid on both sides along an axis; twice itself where it is one.
    fn block(&self, axis: usize, place: usize) -> [usize; 2] {
        let last = self.points[axis] - 1;
        if place.is_multiple_of(BLOCK) || place == last {
            return [place; 2];
        }
        let before = place - place % BLOCK;
        [before, (before + BLOCK).min(last)]
    }

    fn span(&self, axis: usize) -> f64 {
        self.to[axis] - self.from[axis]
    }

    /// True if a curve through the point `at` crosses the mesh between `ends`.
    fn covers(&self, at: [f64; 2], ends: [[f64; 2]; 2]) -> bool {
        (0..2).all(|axis| {
            let near = LONGEST.max(1.0 / self.points[axis] as f64) * self.span(axis);
            let [low, high] = [ends[0][axis].min(ends[1][axis]), ends[0][axis].max(ends[1][axis])];
            (low - near..=high + near).contains(&at[axis])
        })
    }
}

/// x, y and w, scaled.
type Place = [f64; 3];

/// Derivatives of the real and of the imaginary part of 1 + L by them.
type Slopes = [Place; 2];

/// Follows the curves of a family.
struct Tracer<'a> {
    family: &'a Family<'a>,
    plane: Plane,
}

impl Tracer<'_> {
    /// A crossing between two neighbours, the first of which has `count` unstable poles.
    fn between(&self, ends: [[f64; 2]; 2], count: i64) -> Option<Crossing> {
        let at = |share: f64| [0, 1].map(|axis| ends[0][axis] + share * (ends[1][axis] - ends[0][axis]));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if nyquist::right_of(&(self.family)(at(middle))?, 0.0)? == count {
                low = middle;
            } else {
                high = middle;
            }
        }
        let nearest = at(0.5 * (low + high));
        let frequency = Margins::of(&(self.family)(nearest)?)?.modulus.frequency;
        let axis = usize::from(ends[0][0] == ends[1][0]);
        let start = self.place(Crossing { at: nearest, frequency }, frequency);
        // The other coordinate is fixed.
        let mut fixed = [0.0; 3];
        fixed[1 - axis] = 1.0;
        let found = self.solve(start, self.slopes(start, frequency)?, fixed, frequency)?;
        Some(self.crossing(found, frequency))
    }

    /// The curve through a crossing.
    fn curve(&self, start: Crossing) -> Vec<Crossing> {
        let scale = start.frequency;
        let (mut back, closed) = self.follow(start, -1.0, scale);
        back.reverse();
        back.push(start);
        if !closed {
            back.extend(self.follow(start, 1.0, scale).0);
        }
        back
    }

    /// Follows the curve one way from a crossing to the border, or round to itself; whether it closed.
    fn follow(&self, start: Crossing, way: f64, scale: f64) -> (Vec<Crossing>, bool) {
        let mut found = Vec::new();
        let first = self.place(start, scale);
        let there = self.slopes(first, scale).and_then(|slopes| Some((slopes, direction(slopes)?)));
        let Some((mut slopes, mut tangent)) = there.map(|(slopes, along)| (slopes, along.map(|x| way * x)))
        else {
            return (found, false);
        };
        let (mut at, mut step) = (first, SHORT);
        while found.len() < MOST_POINTS && step > SHORTEST {
            let guess = moved(at, tangent, step);
            let next =
                self.solve(guess, slopes, tangent, scale).filter(|&next| distance(next, guess) < 0.3 * step);
            let Some((next, turned)) = next.and_then(|next| Some((next, self.slopes(next, scale)?))) else {
                step /= 2.0;
                continue;
            };
            let Some(along) = direction(turned).filter(|along| dot(*along, tangent).abs() >= STRAIGHT) else {
                step /= 2.0;
                continue;
            };
            if let Some(border) = border(at, next) {
                found.extend(self.onto([at, next], border, turned, scale));
                return (found, false);
            }
            found.push(self.crossing(next, scale));
            if found.len() > 3 && distance(next, first) < step {
                return (found, true);
            }
            tangent = along.map(|x| dot(along, tangent).signum() * x);
            (at, slopes, step) = (next, turned, (1.3 * step).min(LONGEST));
        }
        (found, false)
    }

    /// The crossing on the border that a step from one point to another passes.
    fn onto(
        &self,
        [from, to]: [Place; 2],
        border: (usize, f64),
        slopes: Slopes,
        scale: f64,
    ) -> Option<Crossing> {
        let (axis, edge) = border;
        let share = (edge - from[axis]) / (to[axis] - from[axis]);
        let mut guess = [0, 1, 2].map(|i| from[i] + share * (to[i] - from[i]));
        guess[axis] = edge;
        let mut fixed = [0.0; 3];
        fixed[axis] = 1.0;
        self.solve(guess, slopes, fixed, scale).map(|place| self.crossing(place, scale))
    }

    /// Newton's method on 1 + L = 0 in the plane through `guess` that is normal to `normal`, from slopes near it, which are
    /// renewed only where it converges slowly.
    fn solve(&self, guess: Place, slopes: Slopes, normal: Place, scale: f64) -> Option<Place> {
        let (mut at, mut slopes, mut last) = (guess, slopes, f64::INFINITY);
        for _ in 0..STEPS {
            let value = self.value(at, scale)?;
            let [across, along] = slopes;
            let off = dot(normal, [0, 1, 2].map(|i| at[i] - guess[i]));
            let whole = dot(normal, cross(across, along));
            let change = [0, 1, 2].map(|i| {
                let sum = value.re * cross(along, normal)[i]
                    + value.im * cross(normal, across)[i]
                    + off * cross(across, along)[i];
                -sum / whole
            });
            at = moved(at, change, 1.0);
            let size = dot(change, change).sqrt();
            if !size.is_finite() || size > 1.0 {
                return None;
            }
            if size < SETTLED {
                return Some(at);
            }
            if size > SLOW * last {
                slopes = self.slopes(at, scale)?;
            }
            last = size;
        }
        None
    }

    /// Derivatives of the real and of the imaginary part, by differences.
    fn slopes(&self, at: Place, scale: f64) -> Option<Slopes> {
        let Crossing { at: [x, y], frequency } = self.crossing(at, scale);
        let here = (self.family)([x, y])?;
        let value = 1.0 + here.value(Complex64::new(0.0, frequency));
        let later = 1.0 + here.value(Complex64::new(0.0, frequency + DIFFERENCE * scale));
        let beside = |axis: usize| {
            let mut moved = at;
            moved[axis] += DIFFERENCE;
            self.value(moved, scale)
        };
        let slopes = [beside(0)?, beside(1)?, later].map(|other| (other - value) / DIFFERENCE);
        Some([slopes.map(|slope| slope.re), slopes.map(|slope| slope.im)])
    }

    /// 1 + L.
    fn value(&self, place: Place, scale: f64) -> Option<Complex64> {
        let Crossing { at, frequency } = self.crossing(place, scale);
        let of = (self.family)(at)?;
        Some(1.0 + of.value(Complex64::new(0.0, frequency)))
    }

    fn place(&self, of: Crossing, scale: f64) -> Place {
        let [x, y] = [0, 1].map(|axis| (of.at[axis] - self.plane.from[axis]) / self.plane.span(axis));
        [x, y, of.frequency / scale]
    }

    fn crossing(&self, place: Place, scale: f64) -> Crossing {
        let at = [0, 1].map(|axis| self.plane.from[axis] + place[axis] * self.plane.span(axis));
        Crossing { at, frequency: place[2] * scale }
    }
}

/// Border between the two points: its axis and coordinate.
fn border(from: Place, to: Place) -> Option<(usize, f64)> {
    let leaves = |axis: usize| match to[axis] {
        x if x > 1.0 => Some((axis, 1.0)),
        x if x < 0.0 => Some((axis, 0.0)),
        _ => None,
    };
    // In a corner, the border that is reached first.
    let share = |&(axis, edge): &(usize, f64)| (edge - from[axis]) / (to[axis] - from[axis]);
    (0..2).filter_map(leaves).min_by(|one, other| share(one).total_cmp(&share(other)))
}

/// Unit tangent of a curve on which both parts are 0.
fn direction([across, along]: Slopes) -> Option<Place> {
    let tangent = cross(across, along);
    let size = dot(tangent, tangent).sqrt();
    (size > 0.0).then(|| tangent.map(|x| x / size))
}

fn dot(one: Place, other: Place) -> f64 {
    (0..3).map(|i| one[i] * other[i]).sum()
}

fn cross(one: Place, other: Place) -> Place {
    [0, 1, 2].map(|i| {
        let [j, k] = [(i + 1) % 3, (i + 2) % 3];
        one[j] * other[k] - one[k] * other[j]
    })
}

fn moved(at: Place, by: Place, step: f64) -> Place {
    [0, 1, 2].map(|i| at[i] + step * by[i])
}

fn distance(one: Place, other: Place) -> f64 {
    let apart = moved(one, other, -1.0);
    dot(apart, apart).sqrt()
}

/// Meshes of the grid per mesh of the coarser one.
pub const BLOCK: usize = 4;
/// Bisections of a mesh before Newton's method.
const HALVINGS: usize = 12;
/// Steps along a curve, relative to the plane.
const SHORT: f64 = 2e-3;
const LONGEST: f64 = 0.02;
const SHORTEST: f64 = 1e-7;
const MOST_POINTS: usize = 5000;
/// Cosine of the largest turn of a curve on one step: 15 degrees.
const STRAIGHT: f64 = 0.966;
const STEPS: usize = 20;
const SETTLED: f64 = 1e-11;
/// Share to which a step of Newton's method shrinks the one before it, or else the slopes are renewed.
const SLOW: f64 = 0.2;
const DIFFERENCE: f64 = 1e-6;
