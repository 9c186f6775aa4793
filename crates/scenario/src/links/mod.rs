//! What a link is besides its rate, its delay and its disc: how packets lie on the wire, when it may send, and what
//! happens to packets on their way.

mod deliveries;
mod framing;
mod impairments;
mod recording;
mod table;

pub use deliveries::{Deliveries, Lte, OPPORTUNITY, Satellite, Trace};
pub use framing::{Coding, Framing};
pub use impairments::{Bursts, Impairments, Reorder};
pub use recording::Recording;
