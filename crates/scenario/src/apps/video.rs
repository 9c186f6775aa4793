//! Adaptive video over TCP: BBA-0 of T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell, M. Watson, "A Buffer-Based Approach
//! to Rate Adaptation: Evidence from a Large Video Streaming Service", SIGCOMM 2014, algorithm 1.

use super::REQUEST;
use sojourn_params::{
    Described, EntryParams, ErrorKind, Errors, InputError, Kind, Page, Quantity, Value, params,
};
use sojourn_units::{Bytes, Rate, Span};
use std::ops::RangeInclusive;

params! {
    /// Parameters of video.
    pub struct Video {
        /// available rates, in rising order
        ladder: Ladder = Ladder([300e3, 750e3, 1500e3, 3000e3, 6000e3].map(Rate::from_bits_per_second).to_vec()),
            "each about twice the one below, over the range of a deployed ladder (235 to 5800 kbit/s)",
            "Per-Title Encode Optimization, Netflix Technology Blog, 2015";
        /// play time of a chunk
        chunk: Span = Span::from_secs(4), in "10 ms" to "10 min", where "at most half of reservoir + cushion",
            "as in the paper's service";
        /// buffer level up to which the lowest rate is requested
        reservoir: Span = Span::from_secs(8), "two chunks: the paper's 90 s are longer than most runs";
        /// buffer above the reservoir from which the highest rate is requested
        cushion: Span = Span::from_secs(20), "five chunks: the paper's 126 s are longer than most runs";
        /// size of a request as an IP packet
        request: Bytes = Bytes::new(200), within REQUEST, "half of that of web: players send few header fields";
    }
}

/// Rates of a video, in rising order.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder(pub Vec<Rate>);

impl Quantity for Ladder {
    const RULE: &'static str = "1 to 20 in rising order, 1 kbit/s to 1 Tbit/s";

    fn kind() -> Kind {
        Kind::List(&Kind::Rate)
    }
    fn read(value: &Value) -> Result<Ladder, Errors> {
        let Value::List(items) = value else {
            return Err(InputError::of_type(value, "is not a list of rates", LADDER).into());
        };
        let rates = items.iter().map(Rate::read).collect::<Result<Vec<Rate>, Errors>>()?;
        let rises = rates.windows(2).all(|pair| pair[0] < pair[1]);
        let in_range = |rate: &Rate| RATES.contains(&rate.bits_per_second());
        if (1..=20).contains(&rates.len()) && rises && rates.iter().all(in_range) {
            return Ok(Ladder(rates));
        }
        Err(InputError::new(ErrorKind::Range, "is not a ladder of rates", LADDER).found(value).into())
    }
    fn write(&self) -> Value {
        Value::List(self.0.iter().map(Quantity::write).collect())
    }
}

/// Rates of a ladder, bit/s.
const RATES: RangeInclusive<f64> = 1e3..=1e12;
/// A ladder in words.
const LADDER: &str =
    "1 to 20 rates in rising order, 1 kbit/s to 1 Tbit/s, such as [\"500 kbit/s\", \"2 Mbit/s\"]";

impl EntryParams for Video {
    const PAGE: Page = Page {
        stem: "video",
        summary: "adaptive video over TCP: chunks whose rate follows the player's buffer",
        idea: "The player requests one chunk of `chunk` seconds after the other over one connection, at a rate of the \
        `ladder` that follows from the level of its buffer: the lowest up to `reservoir`, the highest from \
        `reservoir` + `cushion`, in between along a line; the rate stays until the line reaches the next one, up \
        or down (BBA-0). The line ends where the buffer is nine tenths full. The player plays from the first chunk \
        on and stalls while its buffer is empty: `stall_ratio` is the share of the time that it stalls. A chunk's \
        completion time is measured. The paper's player has a reservoir of 90 s and a cushion of 126 s; the defaults are \
        shorter, as runs are.",
        equation: "",
        source: "T.-Y. Huang et al., SIGCOMM 2014, algorithm 1",
        fields: <Video as Described>::fields,
    };

    /// Rejects chunks of which the buffer does not hold two.
    fn checked(self) -> Result<Video, InputError> {
        let room = self.reservoir + self.cushion;
        if self.chunk.saturating_mul(2) <= room {
            return Ok(self);
        }
        let problem = format!("is too long: the buffer of {room} does not hold two chunks");
        Err(InputError::conflict(self.chunk, problem, "at most half of reservoir + cushion").at("chunk"))
    }
}
