//! The echo of congestion: RFC 3168, section 6.1.3, and RFC 8257, section 3.2.

use crate::cc::Feedback;
use crate::segment::{Flags, Segment};
use sojourn_units::Ecn;

/// The state of the echo.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    /// Whether ECN is agreed on; before the SYN, whether to agree.
    pub(super) agreed: bool,
    feedback: Feedback,
    /// Whether marks on what came before or lies outside the window count. They do where retransmissions may be
    /// marked; where they are not ECN-capable, such a mark is not from this sender (RFC 3168, section 6.1.5).
    always: bool,
    /// Whether ACKs carry ECE; with feedback for each segment, `DCTCP.CE`.
    on: bool,
    /// Whether any segment since the last ACK was marked: its ACK says so, whatever CWR came behind.
    since_ack: bool,
}

impl Echo {
    pub(super) fn new(agreed: bool, feedback: Feedback, always: bool) -> Echo {
        Echo { agreed, feedback, always, on: false, since_ack: false }
    }

    /// Whether this segment is of another kind than those before, which feedback tells apart.
    pub(super) fn turns(self, segment: &Segment) -> bool {
        self.feedback == Feedback::PerSegment && self.agreed && self.on != (segment.ecn == Ecn::Ce)
    }

    /// Takes in what a segment says that brings data there is room for.
    pub(super) fn note(&mut self, segment: &Segment) {
        let marked = segment.ecn == Ecn::Ce;
        if !self.agreed {
            return;
        }
        if self.feedback == Feedback::PerSegment {
            self.on = marked;
            return;
        }
        if segment.flags.has(Flags::CWR) {
            self.on = false;
        }
        if marked {
            // A CWR packet that is itself marked starts a new echo.
            self.on = true;
            self.since_ack = true;
        }
    }

    /// The same for one that brings none; `probe`: whether it asks for the window.
    pub(super) fn note_outside(&mut self, segment: &Segment, probe: bool) {
        if probe || self.always {
            self.note(segment);
        }
    }

    /// Whether the ACK that is sent now carries ECE.
    pub(super) fn take(&mut self) -> bool {
        std::mem::take(&mut self.since_ack) || self.on
    }
}
