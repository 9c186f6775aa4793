//! A cellular link: its rate wanders, and stands still where it reaches zero.

use super::link_schedule::MEAN;
use sojourn_params::{Described, EntryParams, Page, params};
use sojourn_units::{Rate, Span};

params! {
    /// A rate that wanders between zero and a highest one, with an outage whenever it reaches zero.
    #[derive(Copy)]
    pub struct Lte {
        /// mean rate in the long run
        mean: Rate, within MEAN;
        /// standard deviation of the rate's change in a second, over the highest rate
        volatility: f64 = 0.2, in 0.001 to 10.0,
            "200 packets/s in a second, of at most 1000 packets/s, as in Sprout's model",
            "K. Winstein et al., Sprout, NSDI 2013, section 3.1";
        /// mean length of an outage
        outage: Span = Span::from_secs(1), in "0 s" to "100 s",
            "as in Sprout's model", "K. Winstein et al., Sprout, NSDI 2013, section 3.1";
    }
}

impl EntryParams for Lte {
    const PAGE: Page = Page {
        stem: "lte",
        summary: "a rate that wanders between zero and a highest one, as of a cellular link",
        idea: "The rate is a Brownian motion with a standard deviation of `volatility` times the highest rate in a second; at \
               zero it stays for `outage` on average. The highest rate follows from the `mean`.",
        equation: "",
        source: "K. Winstein, A. Sivaraman, H. Balakrishnan, Sprout, NSDI 2013",
        fields: <Lte as Described>::fields,
    };
}
