//! The top of a file.

use super::at::At;
use super::flows::Group;
use super::links::{Bottleneck, Edge, Home, ParkingLot, TwoBottlenecks};
use super::names::Title;
use super::plants::Plants;
use super::spans::WindowList;
use crate::fluid::Window;
use sojourn_params::Tables;
use sojourn_units::Span;

sojourn_params::params! {
    /// A scenario file.
    pub struct File {
        /// title of the scenario
        title: Title;
        /// simulated time
        duration: Span, above "0 s";
        /// time at the start that the metrics leave out
        warmup: Span = Span::ZERO, where "below duration", "all of the run is measured";
        /// step of the series over time
        sample: Option<Span> = None, above "0 s", where "from a millionth of duration to duration",
            "chosen by the plant from the duration";
        /// windows of time with metrics of their own, in the packet plant
        windows: WindowList = WindowList::default(), "metrics are those after the warm-up alone";
        /// response of windows in the fluid plant, as `plant.fluid.model`
        fluid_window: Window = Window::Calibrated, "that of plant.fluid.model", "V. Misra, W. Gong, D. Towsley, SIGCOMM 2000";
        /// models of plants: { fluid = { model = "calibrated" } }
        plant: Option<Plants> = None, "fluid_window";
        /// the longest step of the fluid plant's integration
        fluid_step: Option<Span> = None, in "1 us" to "1 s", "a twentieth of the shortest base RTT";
        /// a dumbbell: its congested link, from node left to node right; `bottleneck.back` is its other direction
        bottleneck: Option<Bottleneck> = None, "a file has one network, in one of these tables";
        /// a chain of routers r1, r2, ... with links r1-r2, r2-r3, ..., each with its qdisc
        parking_lot: Option<ParkingLot> = None, "a file has one network, in one of these tables";
        /// the network of the SQM paper, its figure 2: routers r1 to r6, bottlenecks r2-r3 and r3-r4; r1 is at r2, r5 at
        /// r2, r6 at r3
        two_bottlenecks: Option<TwoBottlenecks> = None,
            "a file has one network, in one of these tables", "J. Ye et al., IWQoS 2022";
        /// a home: nodes lan, modem, isp; links lan-modem (fast), up (modem to isp) and down (isp to modem)
        home: Option<Home> = None, "a file has one network, in one of these tables";
        /// any graph, link by link; one [[links]] each
        links: Option<Tables<Edge>> = None, "a file has one network, in one of these tables";
        /// groups of like flows; one [[flows]] each
        flows: Tables<Group>;
        /// changes during the run; one [[at]] each
        at: Tables<At> = Tables::default(), "link and load stay as they are";
    }
}

/// A network, in one of the forms of a file.
pub(crate) enum Network<'a> {
    Dumbbell(&'a Bottleneck),
    ParkingLot(&'a ParkingLot),
    TwoBottlenecks(&'a TwoBottlenecks),
    Home(&'a Home),
    Graph(&'a [Edge]),
}

impl File {
    /// Response of windows in the fluid plant: that of `plant`, where it is given.
    pub(crate) fn window(&self) -> Window {
        let model = self.plant.as_ref().and_then(|plant| plant.fluid.as_ref());
        model.map_or(self.fluid_window, |fluid| fluid.model)
    }

    /// The networks that it has, each with the name of its table; a valid file has one.
    pub(crate) fn networks(&self) -> Vec<(&'static str, Network<'_>)> {
        let given = [
            self.bottleneck.as_ref().map(Network::Dumbbell),
            self.parking_lot.as_ref().map(Network::ParkingLot),
            self.two_bottlenecks.as_ref().map(Network::TwoBottlenecks),
            self.home.as_ref().map(Network::Home),
            self.links.as_ref().map(|links| Network::Graph(&links.0)),
        ];
        NETWORKS.into_iter().zip(given).filter_map(|(name, network)| Some((name, network?))).collect()
    }
}

/// Tables of a network, one per file.
pub(crate) const NETWORKS: [&str; 5] = ["bottleneck", "parking_lot", "two_bottlenecks", "home", "links"];
