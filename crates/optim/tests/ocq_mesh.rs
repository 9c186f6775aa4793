//! Algorithm 1 and the interior-point method against exact optima.

use sojourn_optim::ocq::Queue;
use sojourn_optim::ocq::mesh::gradient::{self, Step};
use sojourn_optim::ocq::mesh::{Costate, Mesh, Sweep, interior};

/// Case A, and P with its load that ends at 1 s (the paper's own), with their optima.
fn cases(cells: usize) -> [(Mesh, f64); 2] {
    let a = Mesh {
        queue: Queue { service: 50.0, half: 1.0 },
        price: 2.0 / 9.0,
        start: 0.0,
        horizon: 1.0,
        offered: vec![60.0; cells],
    };
    let mut p = Mesh { price: 0.2, horizon: 2.0, ..a.clone() };
    p.offered[cells / 2..].fill(0.0);
    [(a, 6.661394457286), (p, 6.800169171935)]
}

#[test]
fn the_gradient_is_that_of_the_cost() {
    for (mesh, _) in cases(100) {
        let input: Vec<f64> =
            mesh.offered.iter().enumerate().map(|(k, w)| w * (0.2 + 0.1 * (k % 7) as f64)).collect();
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
            assert!((costate.gradient[cell] * mesh.step() - by_differences).abs() < 1e-9);
        }
    }
}

#[test]
fn algorithm_1_comes_within_3e_4_in_50_iterations() {
    for (mesh, optimum) in cases(1000) {
        let history = mesh.descend(mesh.offered.clone(), &gradient::Options::default());
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
        for step in [Step::Beta, Step::Backtracking, Step::Spectral] {
            let options = gradient::Options { step, iterations: 400, ..gradient::Options::default() };
            let found = mesh.descend(mesh.offered.clone(), &options).found;
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

#[test]
fn a_mesh_that_is_too_coarse_or_no_load_is_refused() {
    let (mesh, _) = &cases(100)[0];
    let error = |mesh: Mesh| mesh.checked().unwrap_err().to_string();
    assert_eq!(
        error(Mesh { offered: vec![60.0; 10], ..mesh.clone() }),
        "w: 10 cells is out of range; expected 25 or more, by t_f mu / a"
    );
    assert!(error(Mesh { offered: vec![], ..mesh.clone() }).contains("0 cells"));
    let mut offered = mesh.offered.clone();
    offered[7] = -1.0;
    assert_eq!(error(Mesh { offered, ..mesh.clone() }), "w[7]: -1 is out of range; expected 0 to 1e12");
}
