//! Algorithm 1 and the interior-point method against exact optima.

use sojourn_optim::ocq::Queue;
use sojourn_optim::ocq::mesh::gradient::{self, Step};
use sojourn_optim::ocq::mesh::{Cell, Costate, Mesh, Sweep, interior};

/// Case A, and P with its load that ends at 1 s (the paper's own), with their optima.
fn cases(cells: usize) -> [(Mesh, f64); 2] {
    let mesh = |horizon: f64, price: f64, busy: usize| {
        let w = |cell: usize| if cell < busy { 60.0 } else { 0.0 };
        let cell = |place| Cell::new(horizon / cells as f64, w(place), price);
        let queue = Queue { service: 50.0, half: 1.0 };
        Mesh { queue, start: 0.0, cells: (0..cells).map(cell).collect() }
    };
    [(mesh(1.0, 2.0 / 9.0, cells), 6.661394457286), (mesh(2.0, 0.2, cells / 2), 6.800169171935)]
}

/// A mesh whose cells, loads, costs and bounds all vary.
fn varied(cells: usize) -> Mesh {
    let cell = |place: usize| {
        let t = place as f64 / cells as f64;
        let offered = 60.0 * (1.0 - t) * (1.0 + (place % 3) as f64 / 3.0);
        let length = (1.0 + (place % 2) as f64) / cells as f64;
        Cell { bounds: [0.1 * offered, 0.9 * offered], ..Cell::new(length, offered, 0.1 + 0.3 * t) }
    };
    Mesh { queue: Queue { service: 50.0, half: 1.0 }, start: 4.0, cells: (0..cells).map(cell).collect() }
}

#[test]
fn the_gradient_is_that_of_the_cost() {
    let [(a, _), (p, _)] = cases(100);
    for mesh in [a, p, varied(100)] {
        let input: Vec<f64> =
            mesh.upper().iter().enumerate().map(|(k, w)| w * (0.2 + 0.1 * (k % 7) as f64)).collect();
        let (mut sweep, mut costate) = (Sweep::default(), Costate::default());
        mesh.forward(&input, &mut sweep);
        mesh.backward(&input, &sweep, &mut costate);
        for cell in [0, 13, 49, 50, 99] {
            let cost = |change: f64| {
                let mut changed = input.clone();
                changed[cell] += change;
                let mut sweep = Sweep::default();
                mesh.forward(&changed, &mut sweep);
                sweep.cost
            };
            let by_differences = (cost(1e-3) - cost(-1e-3)) / 2e-3;
            assert!((costate.gradient[cell] * mesh.cells[cell].length - by_differences).abs() < 1e-9);
        }
    }
}

#[test]
fn algorithm_1_comes_within_3e_4_in_50_iterations() {
    for (mesh, optimum) in cases(1000) {
        let history = mesh.descend(mesh.upper(), &gradient::Options::default());
        assert!(history.costs.windows(2).all(|pair| pair[1] < pair[0]), "J falls");
        // The mesh itself is 3.1e-7 above the optimum in A.
        let bounds = history.costs.iter().zip(&history.gaps);
        assert!(bounds.into_iter().all(|(cost, gap)| *gap >= cost - optimum - 1e-6));
        let excess = history.found.cost - optimum;
        assert!((-1e-9..3e-4).contains(&excess), "{excess}");
        println!("Algorithm 1: {excess:.2e}, gap {:.2e}, {} sweeps", history.found.gap, history.found.sweeps);
    }
}

#[test]
fn every_step_rule_descends_to_the_optimum() {
    for (mesh, optimum) in cases(1000) {
        for step in [Step::Beta, Step::Backtracking, Step::Parametric, Step::Spectral] {
            let options = gradient::Options { step, iterations: 400, ..gradient::Options::default() };
            let found = mesh.descend(mesh.upper(), &options).found;
            println!(
                "{step:?}: {:.2e}, gap {:.2e}, {} sweeps",
                found.cost - optimum,
                found.gap,
                found.sweeps
            );
            assert!(found.cost - optimum < 2e-5, "{step:?}: {}", found.cost - optimum);
        }
    }
}

#[test]
fn the_interior_point_method_certifies_a_millionth() {
    for (mesh, optimum) in cases(1000) {
        let found = mesh.optimum(&interior::Options::default());
        let (cost, gap) = mesh.verified(&found.input);
        println!(
            "interior: {:.2e}, fine {:.2e}, gap {:.2e} and {gap:.2e}, {} iterations, {} sweeps",
            found.cost - optimum,
            cost - optimum,
            found.gap,
            found.iterations,
            found.sweeps
        );
        assert!(found.converged);
        assert!((-1e-9..1e-6 * optimum).contains(&(cost - optimum)), "{}", cost - optimum);
        assert!(gap >= cost - optimum);
    }
}

/// Where R is near a / mu the queue is short, and within a cell of the greatest length (h mu / a = 1.9) its curvature is great.
#[test]
fn the_interior_point_method_converges_on_long_cells() {
    let queue = Queue { service: 50.0, half: 1.0 };
    let cells = |lengths: f64, loads: &[f64], price: f64| {
        let cell =
            |place: usize| Cell::new(lengths / 50.0, 50.0 * loads[place * loads.len() / 1000], price / 50.0);
        Mesh { queue, start: 0.0, cells: (0..1000).map(cell).collect() }
    };
    let loads: [&[f64]; 4] = [&[3.0], &[0.6, 3.2], &[0.3, 1.1, 0.3, 0.6, 2.8], &[4.0, 0.5, 0.0, 4.5]];
    for length in [0.1, 0.5, 0.9, 1.4, 1.9] {
        for price in [0.5, 0.8, 1.0, 1.4, 3.0, 15.0] {
            for loads in loads {
                let found = cells(length, loads, price).optimum(&interior::Options::default());
                assert!(found.converged, "h mu / a = {length}, R mu / a = {price}, {loads:?}: {}", found.gap);
                assert!(found.iterations <= 25, "{}", found.iterations);
            }
        }
    }
}

/// The same problem in another unit of time, of which `unit` are a second.
fn in_units(mesh: &Mesh, unit: f64) -> Mesh {
    let Mesh { queue, start, ref cells } = *mesh;
    let cell = |cell: &Cell| Cell {
        length: cell.length * unit,
        offered: cell.offered / unit,
        price: cell.price * unit,
        bounds: cell.bounds.map(|bound| bound / unit),
    };
    let queue = Queue { service: queue.service / unit, ..queue };
    Mesh { queue, start, cells: cells.iter().map(cell).collect() }
}

#[test]
fn no_unit_of_time_changes_a_method() {
    for (mesh, _) in cases(1000) {
        // A power of 2 changes no digit.
        for unit in [1.0 / 1_048_576.0, 1_048_576.0] {
            let other = in_units(&mesh, unit);
            for step in [Step::Beta, Step::Backtracking, Step::Parametric, Step::Spectral] {
                let options = gradient::Options { step, ..gradient::Options::default() };
                let [one, two] = [&mesh, &other].map(|mesh| mesh.descend(mesh.upper(), &options));
                let scaled: Vec<f64> = one.costs.iter().map(|cost| cost * unit).collect();
                assert_eq!(scaled, two.costs, "{step:?}");
                assert_eq!(one.found.converged, two.found.converged, "{step:?}");
            }
            let [one, two] = [&mesh, &other].map(|mesh| mesh.optimum(&interior::Options::default()));
            assert_eq!((one.cost * unit, one.gap * unit), (two.cost, two.gap));
            assert!(two.converged);
        }
    }
}

#[test]
fn beta_is_the_published_one_on_the_papers_instances() {
    for (mesh, _) in cases(1000) {
        let history = mesh.descend(mesh.upper(), &gradient::Options { iterations: 1, ..Default::default() });
        assert_eq!(history.betas[0], 1e-3);
    }
}

#[test]
fn an_unreachable_tolerance_ends_with_the_iterate_of_least_gap() {
    for (mesh, _) in cases(1000) {
        for tolerance in [1e-12, 1e-15, 1e-300] {
            let options = interior::Options { tolerance, ..interior::Options::default() };
            let mut gaps = Vec::new();
            let found = mesh.optimum_with(&options, |_, gap| {
                gaps.push(gap);
                true
            });
            let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(gaps.iter().all(|gap| gap.is_finite()), "{gaps:?}");
            assert_eq!(found.gap, least, "{gaps:?}");
            assert!(found.cost.is_finite() && found.gap <= 1e-11 * found.cost, "{}", found.gap);
            assert_eq!(found.converged, found.gap <= tolerance * found.cost);
            let within = |(cell, u): (&Cell, &f64)| cell.bounds[0] <= *u && *u <= cell.bounds[1];
            assert!(mesh.cells.iter().zip(&found.input).all(within));
        }
    }
}

#[test]
fn the_spectral_step_returns_its_best_input() {
    for (mesh, _) in cases(1000) {
        for iterations in 1..60 {
            let options = gradient::Options { step: Step::Spectral, iterations, ..Default::default() };
            let history = mesh.descend(mesh.upper(), &options);
            let least = history.costs.iter().copied().fold(f64::INFINITY, f64::min);
            assert_eq!(history.found.cost, least, "{iterations}: {:?}", history.costs);
            let (mut sweep, mut costate) = (Sweep::default(), Costate::default());
            mesh.forward(&history.found.input, &mut sweep);
            mesh.backward(&history.found.input, &sweep, &mut costate);
            assert_eq!((sweep.cost, mesh.gap(&history.found.input, &costate)), (least, history.found.gap));
            assert_eq!(history.costate, costate);
        }
    }
}

#[test]
fn following_the_minimum_in_time_is_a_clip() {
    let [(a, _), (p, _)] = cases(1000);
    for mesh in [a, p, varied(1000)] {
        let history = mesh.descend(mesh.upper(), &gradient::Options { iterations: 12, ..Default::default() });
        let (input, slopes) = (&history.found.input, &history.costate.gradient);
        for beta in [1e-6, 1e-4, 1e-2] {
            let followed = mesh.follow(input, slopes, beta);
            let cells = mesh.cells.iter().zip(input.iter().zip(slopes));
            for ((cell, (u, slope)), found) in cells.zip(&followed.input) {
                let clip = (u - slope / (2.0 * beta)).clamp(cell.bounds[0], cell.bounds[1]);
                assert!(
                    (found - clip).abs() <= 1e-13 * (slope / (2.0 * beta)).abs().max(60.0),
                    "{found} {clip}"
                );
            }
            // One Newton step a cell, and one more where the active set changes: F is linear.
            assert_eq!(followed.corrections, 1000 + followed.changes);
        }
        let by = |step| {
            let options = gradient::Options { step, iterations: 30, ..Default::default() };
            mesh.descend(mesh.upper(), &options)
        };
        let (clip, path) = (by(Step::Beta), by(Step::Parametric));
        assert_eq!(clip.betas, path.betas);
        let apart = clip.costs.iter().zip(&path.costs).map(|(one, other)| (one - other).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-12);
    }
}

#[test]
fn costs_and_bounds_that_vary_are_certified() {
    let mesh = varied(1000);
    let found = mesh.optimum(&interior::Options::default());
    assert!(found.converged);
    let cells = || mesh.cells.iter().zip(&found.input);
    assert!(cells().all(|(cell, u)| cell.bounds[0] <= *u && *u <= cell.bounds[1]));
    let options =
        gradient::Options { step: Step::Spectral, iterations: 1000, tolerance: 1e-5, ..Default::default() };
    let descended = mesh.descend(mesh.upper(), &options).found;
    assert!(descended.converged, "{}", descended.gap);
    assert!((found.cost - descended.cost).abs() < 1e-5, "{} {}", found.cost, descended.cost);
    // Cells of one length are those of any: two halves are the whole to the error of the method.
    let halves = mesh.refined(2);
    assert!((halves.horizon() - mesh.horizon()).abs() < 1e-12);
    assert!((mesh.verified(&found.input).0 - found.cost).abs() < 1e-9);
}

#[test]
fn a_mesh_that_is_too_coarse_or_no_load_is_refused() {
    let mesh = || cases(100)[0].0.clone();
    let error = |mesh: Mesh| mesh.checked().unwrap_err().to_string();
    let ten = Mesh { cells: vec![Cell::new(0.1, 60.0, 0.2); 10], ..mesh() };
    assert_eq!(error(ten), "N: 10 cells is out of range; expected 25 or more, by t_f mu / a");
    assert!(error(Mesh { cells: vec![], ..mesh() }).contains("0 cells"));
    let with = |cell: Cell| {
        let mut mesh = mesh();
        mesh.cells[7] = cell;
        error(mesh)
    };
    assert_eq!(with(Cell::new(0.01, -1.0, 0.2)), "w[7]: -1 is out of range; expected 0 to 1e12");
    assert_eq!(
        with(Cell::new(0.01, 1.0, 0.0)),
        "R[7]: 0 is out of range; expected more than 0, at most 1e12"
    );
    assert_eq!(
        with(Cell { bounds: [2.0, 61.0], ..Cell::new(0.01, 60.0, 0.2) }),
        "u[7]: 2 to 61 packets/s is out of range; expected the lower bound first, within 0 and w = 60"
    );
}
