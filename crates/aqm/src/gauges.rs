//! Named inner values of a law.

/// Receiver of a law's inner values.
pub trait Gauges {
    /// One value with its name and unit.
    fn gauge(&mut self, name: &'static str, unit: &'static str, value: f64);
}
