//! Failures found by the player, and their lines.

use sojourn_exchange::ours::Ours;
use sojourn_exchange::play::{Failure, Host, Late, play};
use sojourn_exchange::script::{Act, Backend, Packet, Quantity, Script};
use sojourn_units::{Span, Time};

const HEAD: &str =
    "// A sender\n// RFC 5681, section 3.1\n--set initial_window=4, byte_counting=0, frto=false\n";

/// Outcome of a script with these events, which begin on line 4.
fn played(events: &str) -> Result<(), Failure> {
    let script = Script::read(&format!("{HEAD}{events}")).unwrap();
    play(&script, &mut Ours::new(&script.setup)).map(|_| ())
}

/// Asserts a failure on this line, with this event seen.
#[track_caller]
fn fails(events: &str, line: usize, seen: &str) {
    let failure = played(events).unwrap_err();
    assert_eq!(failure.line, line, "{failure:?}");
    assert!(failure.seen.contains(seen), "{failure:?}");
}

const OPEN: &str = "+0 connect rtt 100ms\n+0 write 5 segments\n";

#[test]
fn a_correct_script_passes() {
    assert_eq!(
        played(&format!("{OPEN}+0 > data 1..4\n+0.1 < ack 4\n+0 > data 5\n+0.1 < ack 5\n+9 nothing")),
        Ok(())
    );
    assert_eq!(played(&format!("{OPEN}+0 > data 1..4\n* > data 1")), Ok(()));
    assert_eq!(played(&format!("{OPEN}+0 > data 1..4\n0.35~0.45 > data 1\n+0.6 > data 1")), Ok(()));
}

#[test]
fn a_missing_segment_fails() {
    fails(&format!("{OPEN}+0 > data 1..5"), 6, "nothing up to 100 ms");
}

#[test]
fn an_unexpected_segment_fails() {
    fails(&format!("{OPEN}+0 > data 1..3\n+0.1 < ack 1"), 7, "3001:4001(1000)");
    fails(&format!("{OPEN}+0 > data 1..3"), 6, "3001:4001(1000)");
    fails(&format!("{OPEN}+0 > data 1..4\n+0.3 nothing"), 7, "1:1001(1000) ack 1 at 400 ms");
}

#[test]
fn time_counts() {
    fails(&format!("{OPEN}+0 > data 1..4\n+0.299 > data 1"), 7, "nothing up to 399 ms");
    fails(&format!("{OPEN}+0 > data 1..4\n+0.301 > data 1"), 7, "at 400 ms");
    fails(&format!("{OPEN}+0 > data 1..4\n0.05 < ack 1"), 7, "it is 100 ms already");
}

#[test]
fn every_field_counts() {
    fails(&format!("{OPEN}+0 > W data 1"), 6, "1:1001(1000) ack 1");
    fails(&format!("{OPEN}+0 > [ect0] data 1"), 6, "[noecn]");
    fails(&format!("{OPEN}+0 > . 1:1000(999) ack 1"), 6, "1:1001(1000)");
    fails(&format!("{OPEN}+0 > . 1:1001(1000) ack 2"), 6, "ack 1");
    fails(&format!("{OPEN}+0 > data 1 val 5"), 6, "ack 1");
}

#[test]
fn a_failed_assertion_reports_the_value() {
    fails(&format!("{OPEN}+0 > data 1..4\n%{{ assert cwnd == 4, rto_ms < 300 }}%"), 7, "300");
    fails(&format!("{OPEN}+0 > data 1..4\n%{{ assert flight != 4 }}%"), 7, "4");
}

/// Answers to ACKs of one line follow all of them; ACKs of two lines are answered one by one.
#[test]
fn an_answer_belongs_to_its_line() {
    let together = format!("{OPEN}+0 > data 1..4\n+0.1 < ack 1..2\n+0 > data 5");
    assert_eq!(played(&together), Ok(()));
    fails(&format!("{OPEN}+0 > data 1..4\n+0.1 < ack 1\n+0 < ack 2\n+0 > data 5"), 8, "4001:5001(1000)");
}

#[test]
fn a_receiver_cannot_write() {
    let script =
        Script::read("// A receiver\n// RFC 5681, section 4.2\n--role=receiver\n+0 accept\n+0 write 3\n");
    let script = script.unwrap();
    let failure = play(&script, &mut Ours::new(&script.setup)).unwrap_err();
    assert!(failure.line == 5 && failure.seen.contains("Write"), "{failure:?}");
}

/// Host in real time: segments sent by its timers are late by this much, and its clock shows it.
struct Slow {
    ours: Ours,
    by: Span,
    /// Time so far.
    behind: Span,
    late_script: bool,
}

impl Host for Slow {
    fn backend(&self) -> Backend {
        Backend::Kernel
    }

    fn act(&mut self, now: Time, act: Act) -> Result<(), String> {
        self.ours.act(now, act)
    }

    fn receive(&mut self, now: Time, packet: &Packet) -> Result<(), String> {
        self.ours.receive(now, packet)
    }

    fn transmit(&mut self, until: Time) -> Result<Option<(Time, Packet)>, String> {
        let Some((at, mut packet)) = self.ours.transmit(until)? else { return Ok(None) };
        let first = at > Time::ZERO + Span::from_millis(100) && packet.len > 0 && self.behind == Span::ZERO;
        self.behind += if first { self.by } else { Span::ZERO };
        if let Some(value) = packet.stamp.as_mut().and_then(|stamp| stamp.value.as_mut()) {
            *value += self.behind.nanos() / 1_000_000;
        }
        Ok(Some((at + self.behind, packet)))
    }

    fn measure(&self, quantity: Quantity) -> Option<f64> {
        self.ours.measure(quantity)
    }

    fn slack(&self, _wait: Span) -> Span {
        Span::from_millis(40)
    }

    fn late(&self) -> bool {
        self.late_script
    }
}

/// Outcome of a script whose timeout is late by this much.
fn slowly(millis: u64, late_script: bool, resent: &str) -> Result<(), Failure> {
    let events = format!("{OPEN}+0 > data 1..4 val 100\n+0.3 > data {resent}\n+0.3 nothing\n");
    let script = Script::read(&format!("{HEAD}--set timestamps=true\n{events}")).unwrap();
    let ours = Ours::new(&script.setup);
    let mut host = Slow { ours, by: Span::from_millis(millis), behind: Span::ZERO, late_script };
    play(&script, &mut host).map(|_| ())
}

/// A stamp is a reading of the clock: it may be as late as its segment, and no later.
#[test]
fn a_stamp_slips_with_its_segment() {
    assert_eq!(slowly(34, false, "1 val 400"), Ok(()));
    assert_eq!(slowly(0, false, "1 val 400"), Ok(()));
    let early = slowly(0, false, "1 val 395").unwrap_err();
    assert!(early.late.is_none() && early.seen.contains("val 400"), "{early:?}");
    let off = slowly(34, false, "1 val 440").unwrap_err();
    assert!(off.late.is_none() && off.seen.contains("val 434"), "{off:?}");
}

/// The right segment may be late; a wrong one fails, unless the script itself was late.
#[test]
fn late_is_not_wrong() {
    assert_eq!(slowly(41, false, "1 val 400").unwrap_err().late, Some(Late::Host));
    assert_eq!(slowly(41, false, "2 val 400").unwrap_err().late, None);
    assert_eq!(slowly(10, false, "2 val 400").unwrap_err().late, None);
    assert_eq!(slowly(10, true, "2 val 400").unwrap_err().late, Some(Late::Script));
}
