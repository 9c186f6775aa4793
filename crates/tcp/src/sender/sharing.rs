//! Temporal sharing of the slow-start threshold: a connection leaves it to later ones (RFC 9040, sections 6 and 9).

use super::Sender;
use crate::cc::CongestionControl;
use sojourn_units::Bytes;

impl Sender {
    /// Cached threshold once this connection is over: its own, or half of its window where that is more. A connection that
    /// ends in slow start has not seen the path's limit: it can only raise the cached value, to its threshold or, where it had
    /// none, to half of its window.
    pub fn ssthresh_to_cache(&self, cached: Option<Bytes>) -> Option<Bytes> {
        let (half, ssthresh) = (Bytes::new(self.cwnd / 2), self.ssthresh());
        if self.window() >= ssthresh {
            return Some(ssthresh.max(half));
        }
        let at_least = if ssthresh.get() == u64::MAX { half } else { ssthresh };
        cached.map(|cached| cached.max(at_least))
    }

    /// Begins with a cached threshold.
    pub fn set_first_ssthresh(&mut self, ssthresh: Bytes) {
        self.cc.set_ssthresh(ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Choice;
    use crate::profile::Profile;
    use crate::sender::Config;

    #[test]
    fn a_threshold_is_cached_by_connections_that_have_left_slow_start() {
        let kib = |kib| Bytes::new(kib * 1024);
        for cc in ["newreno", "cubic"] {
            let config = Config {
                profile: Profile::default(),
                cc: Choice::from(cc),
                mss: 1024,
                ecn: false,
                ect1: false,
                reads: None,
            };
            let after = |ssthresh: Option<u64>, window, cached: Option<u64>| {
                let mut sender = Sender::new(&config);
                if let Some(first) = ssthresh {
                    sender.set_first_ssthresh(kib(first));
                }
                sender.cc.set_window(kib(window));
                sender.cwnd = kib(window).get();
                sender.ssthresh_to_cache(cached.map(kib)).map(|cached| cached.get() / 1024)
            };
            assert_eq!([after(None, 100, None), after(None, 100, Some(20))], [None, Some(50)]);
            assert_eq!([after(None, 100, Some(80)), after(Some(40), 30, Some(20))], [Some(80), Some(40)]);
            assert_eq!([after(Some(40), 30, Some(50)), after(Some(40), 30, None)], [Some(50), None]);
            assert_eq!([after(Some(40), 60, Some(90)), after(Some(40), 100, None)], [Some(40), Some(50)]);
        }
    }
}
