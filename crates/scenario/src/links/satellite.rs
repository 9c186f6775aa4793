//! A link through low satellites: its rate is drawn anew in each interval, after a gap.

use super::link_schedule::MEAN;
use sojourn_params::{Described, EntryParams, InputError, Page, params};
use sojourn_units::{Rate, Span};

params! {
    /// A rate that is drawn anew in each interval, after a gap.
    #[derive(Copy)]
    pub struct Satellite {
        /// mean rate in the long run, gaps included
        mean: Rate, within MEAN;
        /// length of an interval
        interval: Span = Span::from_secs(15), in "100 ms" to "1 h",
            "as measured of Starlink, which is rearranged each 15 s", "N. Mohan et al., WWW 2024 (arXiv:2310.09242)";
        /// gap without opportunities at the start of each interval
        gap: Span = Span::from_millis(140), where "at most half of interval",
            "as measured of Starlink", "arXiv:2601.08439";
        /// half-width of the rate's uniform distribution, over the mean
        spread: f64 = 0.5, in 0.0 to 1.0,
            "changes are large, by no known distribution: from half of the mean to one and a half";
        /// a frame: data sent in it arrives at its end
        frame: Span = Span::from_nanos(1_333_333), at least "100 us", where "at most a tenth of interval",
            "750 frames a second, as Starlink has",
            "T. Humphreys et al., IEEE Transactions on Aerospace and Electronic Systems 59, 2023";
    }
}

impl EntryParams for Satellite {
    const PAGE: Page = Page {
        stem: "satellite",
        summary: "a rate drawn anew in each interval after a gap, as of a link through low satellites",
        idea: "A new rate every `interval`, uniform within `spread` of the `mean`, after a `gap` in which nothing is sent; data \
               sent in a `frame` arrives at its end.",
        equation: "",
        source: "N. Mohan et al., WWW 2024 (arXiv:2310.09242); arXiv:2601.08439; T. Humphreys et al., IEEE TAES 59, 2023",
        fields: <Satellite as Described>::fields,
    };

    /// Rejects intervals that are too short for their gap or their frames.
    fn checked(self) -> Result<Satellite, InputError> {
        let Satellite { interval, gap, frame, .. } = &self;
        if gap.saturating_mul(2) > *interval {
            let problem = format!("is too long for an interval of {interval}");
            return Err(InputError::conflict(gap, problem, "at most half of interval").at("gap"));
        }
        if frame.saturating_mul(10) > *interval {
            let problem = format!("is too long for an interval of {interval}");
            return Err(InputError::conflict(frame, problem, "at most a tenth of interval").at("frame"));
        }
        Ok(self)
    }
}
