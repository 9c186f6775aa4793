//! Weights of groups of queues.

/// The weight of each group, by its number; 1 for a group without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupWeights(Vec<f64>);

impl GroupWeights {
    /// These weights, each above 0.
    pub fn new(weights: Vec<f64>) -> GroupWeights {
        GroupWeights(weights)
    }

    /// True where all have the weight 1.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The weight of a group that has one, above 0.
    pub(crate) fn set(&mut self, group: u32, weight: f64) {
        self.0[group as usize] = weight;
    }

    pub(crate) fn of(&self, group: u32) -> f64 {
        self.0.get(group as usize).copied().unwrap_or(1.0)
    }
}
