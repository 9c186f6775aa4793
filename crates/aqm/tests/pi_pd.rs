//! PI-PD against numbers from outside: the prediction.

#[path = "common/reference.rs"]
mod reference;

use sojourn_aqm::laws::pi_pd;

#[test]
fn the_prediction_is_the_references() {
    let hold = |key: &str, [first, second, third]: [f64; 3]| {
        let ours = pi_pd::predicted(third, third - second, second - first);
        reference::hold(&format!("pipd.predict{key}"), &[ours]);
    };
    hold(".180,190|150,180,->(S=1,ratio)", [150.0, 180.0, 190.0]);
    hold(".190->185 (S=-1)", [180.0, 190.0, 185.0]);
    hold(" gamma_{k-1}=0", [100.0, 100.0, 120.0]);
    hold(" ratio clamp 2", [100.0, 101.0, 141.0]);
}
