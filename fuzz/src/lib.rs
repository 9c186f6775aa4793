//! The worlds of the hostile tests, for the fuzz targets.

#[path = "../../crates/tcp/tests/hostile/world/mod.rs"]
pub mod world;

#[path = "../../crates/sim/tests/files/world.rs"]
pub mod files;
