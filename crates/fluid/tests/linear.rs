//! Loops about an equilibrium, against numbers and theorems from elsewhere.

#[path = "../../aqm/tests/common/reference.rs"]
mod reference;

#[path = "linear/designs.rs"]
mod designs;
#[path = "linear/figures.rs"]
mod figures;
#[path = "linear/networks.rs"]
mod networks;
#[path = "linear/plants.rs"]
mod plants;
#[path = "linear/regions.rs"]
mod regions;
#[path = "linear/theory.rs"]
mod theory;
