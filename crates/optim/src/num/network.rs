//! Links, and the flows over them.

use sojourn_params::{ErrorKind, InputError};

/// Links with their capacities, and the path of each flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// C of each link, packets/s.
    capacities: Vec<f64>,
    /// Links of all paths, one path after the other.
    links: Vec<u32>,
    /// End of each flow's path in `links`.
    ends: Vec<u32>,
}

impl Network {
    /// Links of these capacities, more than 0, and flows over them; a path has one link at least, and none twice.
    pub fn new<P: AsRef<[usize]>>(capacities: Vec<f64>, paths: &[P]) -> Result<Network, InputError> {
        let is_valid = |capacity: f64| capacity > 0.0 && capacity.is_finite();
        if let Some(link) = capacities.iter().position(|capacity| !is_valid(*capacity)) {
            let key = format!("capacities[{link}]");
            return Err(InputError::out_of_range(capacities[link], "more than 0").at(&key));
        }
        let mut network = Network { capacities, links: Vec::new(), ends: Vec::new() };
        for (flow, path) in paths.iter().enumerate() {
            network.add(path.as_ref()).map_err(|error| error.at(&format!("paths[{flow}]")))?;
        }
        Ok(network)
    }

    /// One link with so many flows.
    pub fn of_one_link(capacity: f64, flows: usize) -> Result<Network, InputError> {
        Network::new(vec![capacity], &vec![[0]; flows])
    }

    fn add(&mut self, path: &[usize]) -> Result<(), InputError> {
        let count = self.capacities.len();
        let twice = |(place, link): (usize, &usize)| path[..place].contains(link);
        let problem =
            match (path.iter().find(|link| **link >= count), path.iter().enumerate().find(|at| twice(*at))) {
                (_, _) if path.is_empty() => "has no link".to_string(),
                (Some(link), _) => format!("crosses link {link} of {count}"),
                (_, Some((_, link))) => format!("crosses link {link} twice"),
                (None, None) => {
                    self.links.extend(path.iter().map(|link| *link as u32));
                    self.ends.push(self.links.len() as u32);
                    return Ok(());
                }
            };
        Err(InputError::new(ErrorKind::Conflict, problem, "one or more links, each once"))
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.ends.len()
    }

    /// C of each link.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// Links of a flow.
    pub fn path(&self, flow: usize) -> &[u32] {
        let start = if flow == 0 { 0 } else { self.ends[flow - 1] };
        &self.links[start as usize..self.ends[flow] as usize]
    }

    /// Sum of the prices over a flow's path.
    pub fn path_price(&self, flow: usize, prices: &[f64]) -> f64 {
        self.path(flow).iter().map(|link| prices[*link as usize]).sum()
    }

    /// Sum of the rates over each link.
    pub fn loads(&self, rates: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.capacities.len()];
        for (flow, rate) in rates.iter().enumerate() {
            for link in self.path(flow) {
                loads[*link as usize] += rate;
            }
        }
        loads
    }

    /// The same with all capacities times a factor.
    pub(super) fn scaled(&self, factor: f64) -> Network {
        let capacities = self.capacities.iter().map(|capacity| capacity * factor).collect();
        Network { capacities, ..self.clone() }
    }

    /// Twice the least capacity on each flow's path: no flow has so much.
    pub(super) fn most_rates(&self) -> Vec<f64> {
        let capacity = |link: &u32| self.capacities[*link as usize];
        let least = |flow| self.path(flow).iter().map(capacity).fold(f64::INFINITY, f64::min);
        (0..self.flows()).map(|flow| 2.0 * least(flow)).collect()
    }

    /// Number of flows over each link.
    pub(super) fn counts(&self) -> Vec<f64> {
        self.loads(&vec![1.0; self.flows()])
    }

    /// Refuses a least rate that is not above 0, or at which the flows of a link fill it.
    pub(super) fn has_room_for(&self, floor: f64) -> Result<(), InputError> {
        let range = || InputError::out_of_range(floor, "more than 0").at("floor");
        if !(floor > 0.0 && floor.is_finite()) {
            return Err(range());
        }
        let rooms = self.capacities.iter().zip(self.counts()).enumerate();
        for (link, (capacity, count)) in rooms {
            if floor * count > *capacity * (1.0 - LEAST_ROOM) {
                let problem = format!(
                    "times the {count} flows of link {link} leaves nothing of its {capacity} packets/s"
                );
                let expected = format!("below {}", capacity / count);
                return Err(InputError::conflict(floor, problem, expected).at("floor"));
            }
        }
        Ok(())
    }
}

/// Least part of a capacity above the least rates: with none nothing is left to choose.
const LEAST_ROOM: f64 = 1e-6;
