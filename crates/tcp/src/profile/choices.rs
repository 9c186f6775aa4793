//! Settings that are words.

use sojourn_params::{Errors, Kind, Quantity, Value, choice, word_or_flag};

choice! {
    /// Loss detection in recovery by SACK.
    pub enum LossDetection {
        /// A segment sent later has arrived (RFC 8985).
        Rack = "rack",
        /// Three segments SACKed above it (RFC 6675, section 4, `IsLost`).
        Dupacks = "dupacks",
    }
}

choice! {
    /// Treatment of an unused congestion window.
    pub enum UnusedWindow {
        /// No change.
        Keep = "keep",
        /// Restart window after an idle period of one RTO (RFC 5681, section 4.1).
        Restart = "restart",
        /// Congestion window validation (RFC 7661).
        Validate = "validate",
    }
}

choice! {
    /// Base and floor of a reduction by half.
    pub enum Halving {
        /// FlightSize, to at least two segments (RFC 5681, equation 4).
        FlightSize = "flight_size",
        /// The window: half of it with its fraction, at least one segment; `ssthresh` in whole segments, at least two,
        /// and computed anew at each timeout of the same segment.
        Window = "window",
        /// The window, in whole segments, at least two.
        Cwnd = "cwnd",
        /// In recovery by SACK the data neither SACKed nor lost, to at least two segments; otherwise as `FlightSize`.
        Pipe = "pipe",
    }
}

choice! {
    /// Estimate of the pipe in recovery by SACK.
    pub enum Pipe {
        /// Data neither SACKed nor lost (RFC 6675); a timeout retransmits the holes only.
        Scoreboard = "scoreboard",
        /// Data sent less data acknowledged, segment by segment (Fall and Floyd 1996); a timeout retransmits
        /// everything.
        Counted = "counted",
    }
}

choice! {
    /// Quantity bounded by the least retransmission timeout.
    pub enum RtoFloor {
        /// The timeout (RFC 6298, section 2.4).
        Timeout = "timeout",
        /// Its part from the variation of the round-trip time.
        Variation = "variation",
    }
}

choice! {
    /// Data that each of the first two duplicate ACKs allows.
    pub enum LimitedTransmit {
        /// A segment never sent before (RFC 3042).
        NewData = "new_data",
        /// The next segment in order, even if a timeout retransmits it.
        Next = "next",
    }
}

choice! {
    /// Response to an ECN echo at a window of one segment.
    pub enum EcnAtOne {
        /// Sending stops until the retransmission timer expires (RFC 3168, section 6.1.2).
        WaitForTimer = "wait",
        /// The usual reduction, to less than a segment (with the halving of `reno` and `newreno`): nothing is sent
        /// until the window has grown or the timer expires, which sets it to one segment. From the second such echo in
        /// a row on, the timeout doubles.
        BackOff = "back_off",
        /// No echo leaves less than two segments of a window that had them. At one segment, after a timeout or with
        /// DCTCP, as [`WaitForTimer`](EcnAtOne::WaitForTimer).
        Two = "two",
    }
}

impl EcnAtOne {
    /// Least window of Reno and CUBIC after an echo, segments.
    pub fn least(self) -> f64 {
        match self {
            EcnAtOne::BackOff => 0.0,
            EcnAtOne::WaitForTimer => 1.0,
            EcnAtOne::Two => 2.0,
        }
    }
}

/// Proportional rate reduction: sending rule of recovery by SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prr {
    /// Nothing until the pipe is below the reduced window, about half a window later (RFC 6675).
    Off,
    /// In proportion while the pipe is above `ssthresh`; below it as in slow start (RFC 6937, PRR-SSRB).
    Rfc6937,
    /// In proportion; below `ssthresh` as much as is delivered, and one segment more if SND.UNA advances without
    /// further loss (RFC 9937).
    Rfc9937,
    /// The rule of RFC 9937, in proportion to the `RecoverFS` of RFC 6937, as in Linux.
    Linux,
}

const PRR_FORMS: [&str; 3] = ["rfc9937", "rfc6937", "linux"];

/// One of the forms, or false. True means the first, as in files older than the second.
impl Quantity for Prr {
    fn kind() -> Kind {
        Kind::WordOrFlag(&PRR_FORMS)
    }
    fn read(value: &Value) -> Result<Prr, Errors> {
        Ok(match word_or_flag(value, &PRR_FORMS, "is no form of PRR")? {
            None => Prr::Off,
            Some(0) => Prr::Rfc9937,
            Some(1) => Prr::Rfc6937,
            Some(_) => Prr::Linux,
        })
    }
    fn write(&self) -> Value {
        match self {
            Prr::Off => Value::Flag(false),
            Prr::Rfc6937 => Value::Text("rfc6937".into()),
            Prr::Rfc9937 => Value::Text("rfc9937".into()),
            Prr::Linux => Value::Text("linux".into()),
        }
    }
}
