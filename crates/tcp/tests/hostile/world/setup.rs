//! Configuration of a connection: the first sixteen bytes.
//!
//! | byte | meaning |
//! |---|---|
//! | 0 | congestion control (bits 0 to 2), profile (3, 4), the sender requests ECN (5), the receiver agrees (6) |
//! | 1 | SACK as the congestion control has it, off, on, on (bits 0, 1); timestamps, delayed ACKs, window scaling, D-SACK, PRR, TLP |
//! | 2 | F-RTO, undo, pacing, teardown, time all, SACK takes room, fast convergence, cautious exit |
//! | 3 | grow on exit, ECT on retransmissions, ECN after a timeout, limited transmit, halving, loss detection, pipe, ECN at one |
//! | 4 | unused window (bits 0, 1), byte counting (2, 3), segments an ACK (4, 5), MSS (6, 7) |
//! | 5 | initial window, segments; 0: the profile's |
//! | 6 | receive buffer, segments less one; 255: the profile's |
//! | 7 | ACK delay, least, most and initial timeout, two bits each |
//! | 8 | tick of the clock (bits 0, 1) |
//! | 9 | reading of the application (bits 0, 1): at once, or 10, 1, 0.05 Mbit/s; HyStart++ inverted (2), ABE (3) |
//! | 10 | the form of PRR: RFC 6937 and 9937 change places (bit 0) |
//! | 11 | the timer at the start of recovery, two segments at an echo |
//! | 12 to 15 | reserved |
//!
//! In bytes 1 to 3 a set bit inverts the profile's choice; elsewhere 0 is the profile's.

use super::input::{Input, bits};
use sojourn_tcp::cc::Choice;
use sojourn_tcp::{
    Config, EcnAtOne, Halving, LimitedTransmit, LossDetection, Pipe, Profile, Prr, Receiver, Sender,
    UnusedWindow,
};
use sojourn_units::{Rate, Span};

/// Configuration of a connection.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Name of the profile that the settings are from.
    pub base: &'static str,
    /// That profile with the settings of the input.
    pub profile: Profile,
    pub cc: Choice,
    /// Payload of a full segment without options, bytes.
    pub mss: u32,
    /// The sender requests ECN.
    pub requests_ecn: bool,
    /// The receiver agrees to ECN.
    pub agrees_ecn: bool,
    /// Reading rate of the application; None: reads at once.
    pub reads: Option<Rate>,
}

impl Setup {
    /// Reads the first sixteen bytes.
    pub fn read(input: &mut Input<'_>) -> Setup {
        let bytes: [u8; LEN] = std::array::from_fn(|_| input.byte());
        let base = PROFILES[bits(bytes[0], 3, 2)];
        let mut profile = Profile::named(base).unwrap_or_default();
        turn_switches(&mut profile, [bytes[1], bytes[2], bytes[3]]);
        set_numbers(&mut profile, &bytes);
        let megabits = [None, Some(10.0), Some(1.0), Some(0.05)][bits(bytes[9], 0, 2)];
        Setup {
            base,
            cc: congestion_control(CCS[bits(bytes[0], 0, 3)], bytes[9]),
            profile,
            mss: [1000, 1460, 536, 16][bits(bytes[4], 6, 2)],
            requests_ecn: bits(bytes[0], 5, 1) == 1,
            agrees_ecn: bits(bytes[0], 6, 1) == 1,
            reads: megabits.map(|megabits| Rate::from_bits_per_second(megabits * 1e6)),
        }
    }

    /// The sender.
    pub fn sender(&self) -> Sender {
        Sender::new(self.config(self.requests_ecn))
    }

    /// The receiver.
    pub fn receiver(&self) -> Receiver {
        Receiver::new(self.config(self.agrees_ecn))
    }

    fn config(&self, ecn: bool) -> Config {
        let Setup { profile, cc, mss, reads, .. } = self.clone();
        Config { profile, cc, mss, ecn, ect1: false, reads }
    }
}

/// Congestion control of this name, with the requested parameters that it has.
fn congestion_control(name: &str, byte: u8) -> Choice {
    let usual = |name: &str| if name == "cubic" { "false" } else { "true" };
    let mut params = Vec::new();
    if bits(byte, 2, 1) == 1 {
        params.push(format!("hystart={}", usual(name)));
    }
    if bits(byte, 3, 1) == 1 {
        params.push("abe=true".to_string());
    }
    let choice = Choice::parse(&format!("{name}:{}", params.join(",")));
    choice.or_else(|_| Choice::parse(name)).unwrap_or_else(|_| CCS[0].into())
}

fn turn_switches(profile: &mut Profile, [first, second, third]: [u8; 3]) {
    profile.sack = [None, Some(false), Some(true), Some(true)][bits(first, 0, 2)];
    let turn = |choice: &mut bool, byte: u8, at: u32| *choice ^= bits(byte, at, 1) == 1;
    turn(&mut profile.timestamps, first, 2);
    turn(&mut profile.delayed_ack, first, 3);
    turn(&mut profile.window_scaling, first, 4);
    turn(&mut profile.dsack, first, 5);
    profile.prr = match profile.prr {
        prr if bits(first, 6, 1) == 0 => prr,
        Prr::Off => Prr::Rfc9937,
        Prr::Rfc6937 | Prr::Rfc9937 | Prr::Linux => Prr::Off,
    };
    turn(&mut profile.tail_loss_probe, first, 7);
    turn(&mut profile.frto, second, 0);
    turn(&mut profile.undo, second, 1);
    turn(&mut profile.pacing, second, 2);
    turn(&mut profile.teardown, second, 3);
    turn(&mut profile.time_all, second, 4);
    turn(&mut profile.sack_takes_room, second, 5);
    turn(&mut profile.fast_convergence, second, 6);
    turn(&mut profile.cautious_exit, second, 7);
    turn(&mut profile.grow_on_exit, third, 0);
    turn(&mut profile.ect_on_retransmit, third, 1);
    turn(&mut profile.ecn_after_timeout, third, 2);
    swap(&mut profile.limited_transmit, [LimitedTransmit::NewData, LimitedTransmit::Next], third, 3);
    swap(&mut profile.halving, [Halving::FlightSize, Halving::Window], third, 4);
    swap(&mut profile.loss_detection, [LossDetection::Dupacks, LossDetection::Rack], third, 5);
    swap(&mut profile.pipe, [Pipe::Scoreboard, Pipe::Counted], third, 6);
    swap(&mut profile.ecn_at_one, [EcnAtOne::WaitForTimer, EcnAtOne::BackOff], third, 7);
}

/// Takes the other of two choices if the bit is set.
fn swap<T: Copy + PartialEq>(choice: &mut T, [one, other]: [T; 2], byte: u8, at: u32) {
    if bits(byte, at, 1) == 1 {
        *choice = if *choice == one { other } else { one };
    }
}

fn set_numbers(profile: &mut Profile, bytes: &[u8; LEN]) {
    let millis = |from: Span, choice: usize, others: [u64; 3]| match choice {
        0 => from,
        other => Span::from_millis(others[other - 1]),
    };
    let unused = [profile.unused_window, UnusedWindow::Keep, UnusedWindow::Restart, UnusedWindow::Validate];
    profile.unused_window = unused[bits(bytes[4], 0, 2)];
    profile.byte_counting = [profile.byte_counting, 0, 1, 2][bits(bytes[4], 2, 2)];
    profile.ack_every = [profile.ack_every, 2, 3, 8][bits(bytes[4], 4, 2)];
    profile.initial_window = match bytes[5] {
        0 => profile.initial_window,
        segments => u64::from(segments),
    };
    profile.receive_window = match bytes[6] {
        255 => profile.receive_window,
        less => u64::from(less) + 1,
    };
    profile.ack_delay = millis(profile.ack_delay, bits(bytes[7], 0, 2), [1, 200, 500]);
    profile.min_rto = millis(profile.min_rto, bits(bytes[7], 2, 2), [1, 10, 1000]);
    profile.max_rto = millis(profile.max_rto, bits(bytes[7], 4, 2), [1000, 10_000, 120_000]);
    profile.initial_rto = millis(profile.initial_rto, bits(bytes[7], 6, 2), [10, 1000, 3000]);
    profile.tick = millis(profile.tick, bits(bytes[8], 0, 2), [1, 10, 500]);
    profile.prr_counts_twice ^= bits(bytes[8], 2, 1) == 1;
    if profile.prr != Prr::Off {
        swap(&mut profile.prr, [Prr::Rfc9937, Prr::Rfc6937], bytes[10], 0);
    }
    profile.timeout_forgets_sack ^= bits(bytes[8], 3, 1) == 1;
    profile.hole_hides_ack ^= bits(bytes[8], 5, 1) == 1;
    profile.recovery_restarts_timer ^= bits(bytes[11], 0, 1) == 1;
    if bits(bytes[11], 1, 1) == 1 {
        swap(&mut profile.ecn_at_one, [EcnAtOne::Two, EcnAtOne::WaitForTimer], 1, 0);
    }
    profile.ecn_prr ^= bits(bytes[11], 2, 1) == 1;
    profile.rtt_weight_shared ^= bits(bytes[8], 4, 1) == 1;
    profile.syn_counts ^= bits(bytes[8], 6, 1) == 1;
    profile.whole_ticks ^= bits(bytes[8], 7, 1) == 1;
}

/// Bytes of a configuration.
pub const LEN: usize = 16;
/// By number; an unknown one is the first.
pub const CCS: [&str; 8] = ["reno", "newreno", "cubic", "dctcp", "scalable", "reno", "newreno", "cubic"];
/// By number; an unknown one is the default.
pub const PROFILES: [&str; 4] = ["default", "ns2", "ns3", "linux"];
