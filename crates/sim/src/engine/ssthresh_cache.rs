//! Temporal sharing between the connections of a class (RFC 9040, section 6): a host caches the slow-start threshold of
//! closed connections, and later ones begin with it.

use super::Simulation;
use crate::flow::Source;
use crate::tap::Tap;
use sojourn_measure::Probe;
use sojourn_units::Bytes;

impl<P: Probe, T: Tap> Simulation<P, T> {
    /// Fixes the threshold of a slot's next connection: that which is cached as its user opens it, since the sender may be
    /// computed ahead of time.
    pub(super) fn look_up_ssthresh(&mut self, user: u32, connection: u32) {
        let flows = &mut self.users[user as usize];
        if flows.shares_ssthresh() {
            flows.first_ssthresh.resize(flows.held.len(), None);
            flows.first_ssthresh[connection as usize] = self.cached_ssthresh[flows.class as usize];
        }
    }

    /// The threshold of a flow's next connection, where one is cached.
    pub(super) fn first_ssthresh(&self, flow: u32) -> Option<Bytes> {
        let flows = &self.users[self.flows[flow as usize].user as usize];
        flows.first_ssthresh.get((flow - flows.first) as usize).copied().flatten()
    }

    /// A flow's connection is over.
    pub(super) fn cache_ssthresh(&mut self, flow: u32) {
        let flow = &self.flows[flow as usize];
        let flows = &self.users[flow.user as usize];
        if let (true, Source::Tcp(connection, _)) = (flows.shares_ssthresh(), &flow.source) {
            let cached = &mut self.cached_ssthresh[flows.class as usize];
            *cached = connection.sender.ssthresh_to_cache(*cached);
        }
    }
}
