//! Loops about a point of rest, held to numbers and theorems from outside.

#[path = "../../aqm/tests/common/reference.rs"]
mod reference;

#[path = "linear/designs.rs"]
mod designs;
#[path = "linear/figures.rs"]
mod figures;
#[path = "linear/plants.rs"]
mod plants;
#[path = "linear/regions.rs"]
mod regions;
#[path = "linear/theory.rs"]
mod theory;
