//! What hosts remember of connections that are over.

use crate::connections;

/// Transfers of 400 packets, one after the other, from a fast host into 10 Mbit/s with room for 20 packets: slow start
/// overshoots the 140 that path and buffer hold.
const OVERSHOOT: &str = r#"
title = "One transfer after the other"
duration = "100 s"
[bottleneck]
rate = "10 Mbit/s"
delay = "50 ms"
buffer = "20 packets"
[[flows]]
app = { mice = { size = "400 packets", idle = "1 s" } }
segment = "1040 B"
start = "0 s"
access = { rate = "1 Tbit/s" }
"#;

/// With a cached threshold the first transfer overshoots, and the others stay below the window that it lost a packet at.
#[test]
fn a_cached_threshold_avoids_the_overshoot_of_later_connections() {
    let dropped = |cached: &str| {
        let connections = connections(OVERSHOOT, &[("flows.0.tcp.cached_ssthresh", cached)], 1);
        assert!(connections.done.len() > 20, "{}", connections.done.len());
        f64::from(connections.dropped) / connections.done.len() as f64
    };
    let (forgotten, cached) = (dropped("false"), dropped("true"));
    assert!(forgotten > 15.0, "{forgotten} of the 160 in the fifth round");
    assert!(cached < forgotten / 4.0, "{cached} and {forgotten}");
}
