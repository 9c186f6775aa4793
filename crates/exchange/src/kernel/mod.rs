//! This machine's TCP as a host: a socket in a network of its own, whose other end the script is.
//!
//! Here time is real. What the kernel does by its timers it does a few milliseconds early or late, and what is put in
//! on a busy machine may come late, too: times are kept to within [`Host::slack`].
#![allow(clippy::disallowed_types)] // the one place where a clock runs: what is watched is no function of anything

mod namespace;
mod sys;
mod tun;
mod turns;
mod wire;

use crate::play::{Failure, Host, Passed, play};
use crate::script::{self, Act, Backend, Offer, Quantity, Script, Stamps, Window};
use crate::setup::{Role, Setup};
use namespace::{HERE, Route, THERE};
use sojourn_tcp::cc::{Choice, Recovery};
use sojourn_tcp::{Flags, HEADER, TIMESTAMPS, UnusedWindow};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};
use tun::Tun;
use turns::Turns;
use wire::{Options, Packet, Port};

/// A kernel's TCP in a network of its own, which ends with the thread that made it.
pub struct Kernel {
    tun: Tun,
    socket: Socket,
    role: Role,
    /// When the script's clock, which starts with the first thing that happens, was at zero.
    started: Option<Instant>,
    /// The port of the kernel's side, once it is known.
    port: u16,
    /// The kernel's initial sequence number.
    first: u32,
    /// What the kernel's clock of time stamps shows at the script's zero.
    clock: u32,
    /// How windows are shifted: offered by the kernel, and by the script.
    shifts: [Option<u8>; 2],
    /// Whether the script has agreed to connect and the kernel's bare ACK of that is still to come.
    opening: bool,
    /// What the kernel has sent and nobody has asked for yet.
    sent: VecDeque<(Time, Packet)>,
    /// What there is to write, once there is room for it.
    owed: u64,
    /// Up to when a long silence is believed.
    believed: Time,
    /// Payload of a full segment, bytes.
    mss: usize,
    /// The time stamps in what the kernel has sent, each once.
    stamps: Vec<u32>,
    /// Whether data is taken as it comes.
    reads: bool,
    /// Whether ACKs may wait for each other.
    delays: bool,
    /// How long this thread has waited for a processor.
    turns: Turns,
    /// By how much the script's side was late at most.
    late: Span,
}

enum Socket {
    Listening(TcpListener),
    Connected(TcpStream),
}

impl Kernel {
    /// A socket as a script asks for it, in a network that this thread moves into.
    pub fn new(setup: &Setup) -> io::Result<Kernel> {
        let profile = &setup.profile;
        let cc = Choice::parse(&setup.cc)
            .map_err(|fault| io::Error::new(ErrorKind::InvalidInput, fault.to_string()))?;
        namespace::isolate()?;
        let stamps = if profile.timestamps { TIMESTAMPS } else { 0 };
        let tun = Tun::open(setup.mss + stamps + HEADER)?;
        configure(setup, &cc)?;
        namespace::lead(tun::NAME, Route { initial_window: profile.initial_window as u32 })?;
        let socket = match setup.role {
            Role::Sender => {
                Socket::Connected(TcpStream::from(sys::socket(libc::AF_INET, libc::SOCK_STREAM, 0)?))
            }
            Role::Receiver => {
                let listener = TcpListener::bind((HERE, PORT))?;
                listener.set_nonblocking(true)?;
                Socket::Listening(listener)
            }
        };
        sys::set_option(socket.fd(), libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
        // An end without farewell: an orphan that goes on sending would keep its network for minutes.
        let abort = [1_i32.to_ne_bytes(), 0_i32.to_ne_bytes()].concat();
        sys::set_option_bytes(socket.fd(), libc::SOL_SOCKET, libc::SO_LINGER, &abort)?;
        let control = if cc.name() == "newreno" { "reno" } else { cc.name() };
        sys::set_option_bytes(socket.fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, control.as_bytes())?;
        Ok(Kernel {
            tun,
            socket,
            role: setup.role,
            started: None,
            port: PORT,
            first: 0,
            clock: 0,
            shifts: [None, None],
            opening: false,
            sent: VecDeque::new(),
            owed: 0,
            believed: Time::ZERO,
            mss: (setup.mss as usize).clamp(1, CHUNK),
            stamps: Vec::new(),
            reads: true,
            delays: profile.delayed_ack,
            turns: Turns::open(),
            late: Span::ZERO,
        })
    }

    fn now(&mut self) -> Time {
        let started = *self.started.get_or_insert_with(Instant::now);
        Time::from_nanos(started.elapsed().as_nanos() as u64)
    }

    /// Lets time pass up to `until`, or to the first segment that the kernel sends.
    fn watch(&mut self, until: Time, first: bool) -> Result<(), String> {
        while !first || self.sent.is_empty() {
            self.attend();
            if self.now() > Time::ZERO + LIMIT {
                return Err(TOO_LONG.into());
            }
            let left = Duration::from_nanos(until.since(self.now()).nanos());
            let seen = self.tun.take(left).map_err(|error| error.to_string())?;
            self.late = self.late.max(self.turns.waited());
            match seen {
                Some(packet) if packet.bits & wire::RST != 0 => return Err("the kernel resets".into()),
                Some(packet) => {
                    let now = self.now();
                    self.note(now, packet);
                }
                None if left.is_zero() => break,
                None => (),
            }
        }
        Ok(())
    }

    /// Lets time pass up to when the script's side acts; gives what time it is then.
    fn wait(&mut self, until: Time) -> Result<Time, String> {
        if until > Time::ZERO + LIMIT {
            return Err(TOO_LONG.into());
        }
        self.watch(until, false)?;
        let now = self.now();
        self.late = self.late.max(now.since(until));
        Ok(now)
    }

    /// Notes what the kernel has sent at once, as sent at the time of what made it do so.
    fn collect(&mut self, now: Time) -> Result<(), String> {
        while let Some(packet) = self.tun.take(Duration::ZERO).map_err(|error| error.to_string())? {
            self.note(now, packet);
        }
        Ok(())
    }

    /// Notes a segment that the kernel has sent.
    fn note(&mut self, now: Time, packet: Packet) {
        if packet.bits & wire::SYN != 0 {
            (self.first, self.port) = (packet.seq, packet.from.1);
            self.shifts[0] = packet.options.window_scale;
            let stamp = packet.options.stamps.map_or(0, |(value, _)| value);
            self.clock = stamp.wrapping_sub(millis(now));
        }
        if let Some((stamp, _)) = packet.options.stamps
            && self.stamps.last() != Some(&stamp)
        {
            self.stamps.push(stamp);
        }
        let bare = packet.bits & !wire::ACK == 0 && packet.len == 0;
        if !(std::mem::take(&mut self.opening) && bare) {
            self.sent.push_back((now, packet));
        }
    }

    /// What an application does without being told: writes on when there is room, reads what has come.
    fn attend(&mut self) {
        // What goes wrong here shows in the segments.
        let mut bytes = [0; CHUNK];
        while self.reads
            && let Some(Ok(len)) = self.stream().map(|mut stream| stream.read(&mut bytes))
        {
            if len == 0 {
                // The script's side is done, and so is this one.
                self.reads = false;
                let _ = self.stream().map(|stream| stream.shutdown(Shutdown::Write));
            }
        }
        bytes.fill(0);
        // Whole segments: with no waiting for more, what is left of a write would be a small one.
        let whole = bytes.len() / self.mss * self.mss;
        let bytes = &bytes[..whole];
        while self.owed > 0 {
            let part = self.owed.min(bytes.len() as u64) as usize;
            let Some(Ok(written)) = self.stream().map(|mut stream| stream.write(&bytes[..part])) else {
                break;
            };
            self.owed -= written as u64;
        }
    }

    /// Has ACKs delayed, which the kernel does where it takes the talk for interactive; then has those sent that must
    /// not wait.
    fn delay(&mut self, on: bool) {
        if self.role == Role::Receiver && (on || !self.delays) {
            let quick = i32::from(!on);
            let _ = self
                .stream()
                .map(|stream| sys::set_option(stream.as_fd(), libc::IPPROTO_TCP, libc::TCP_QUICKACK, quick));
        }
    }

    /// The connection; a listener gives it away once it has come.
    fn stream(&mut self) -> Option<&TcpStream> {
        if let Socket::Listening(listener) = &self.socket
            && let Ok((stream, _)) = listener.accept()
            && stream.set_nonblocking(true).is_ok()
        {
            self.socket = Socket::Connected(stream);
        }
        match &self.socket {
            Socket::Connected(stream) => Some(stream),
            Socket::Listening(_) => None,
        }
    }

    fn read(&mut self, len: u64) -> io::Result<()> {
        let mut stream = self.stream().ok_or(ErrorKind::NotConnected)?;
        stream.read_exact(&mut vec![0; len as usize])
    }

    /// A script's segment with the numbers of this connection.
    fn incoming(&mut self, packet: &script::Packet) -> Packet {
        let control = FLAGS.iter().filter(|(flag, _)| packet.flags.has(*flag));
        let syn = packet.flags.has(Flags::SYN);
        let offer = packet.offer.unwrap_or_default();
        if syn {
            self.shifts[1] = offer.scale;
            self.opening = packet.flags.has(Flags::ACK);
        }
        let now = millis(self.now());
        let shift = if syn { 0 } else { self.shift(1) };
        let stamps = packet.stamp.map(|stamp| {
            let echo = stamp.echo.map_or(0, |echo| self.stamp_near(echo));
            (stamp.value.map_or(now, |value| value as u32), if self.role == Role::Sender { echo } else { 0 })
        });
        let theirs = |number: u64| self.first.wrapping_add(number as u32);
        let window = match packet.window {
            Some(Window::Field(field)) => field,
            Some(Window::Room(bytes) | Window::Seen { bytes, .. }) => bytes >> shift,
            None => FULL_WINDOW >> shift,
        };
        Packet {
            from: Port(THERE, PORT),
            to: Port(HERE, self.port),
            seq: FIRST.wrapping_add(packet.seq as u32),
            ack: if packet.flags.has(Flags::ACK) { theirs(packet.ack) } else { 0 },
            bits: control.fold(0, |bits, (_, bit)| bits | bit),
            window: window.min(u64::from(u16::MAX)) as u16,
            ecn: packet.ecn.unwrap_or_default(),
            options: Options {
                mss: offer.mss.map(|mss| mss as u16),
                sack_permitted: offer.sack,
                window_scale: offer.scale,
                stamps,
                sack: packet.sack.iter().map(|(from, to)| (theirs(*from), theirs(*to))).collect(),
            },
            len: packet.len as u16,
        }
    }

    /// A segment of the kernel with the numbers of the script.
    fn outgoing(&self, packet: &Packet) -> script::Packet {
        let control = FLAGS.iter().filter(|(_, bit)| packet.bits & bit != 0);
        let flags = control.fold(Flags::NONE, |flags, (flag, _)| flags | *flag);
        let ours = |number: u32| u64::from(number.wrapping_sub(FIRST));
        let Options { mss, sack_permitted, window_scale, stamps, sack } = &packet.options;
        let offer = Offer { mss: mss.map(u64::from), sack: *sack_permitted, scale: *window_scale };
        let from_sender = self.role == Role::Sender;
        let field = u64::from(packet.window);
        let shift = if flags.has(Flags::SYN) { 0 } else { self.shift(0) };
        let stamp = stamps.map(|(value, echo)| Stamps {
            value: from_sender.then(|| u64::from(value.wrapping_sub(self.clock))),
            echo: (!from_sender).then(|| u64::from(echo)),
        });
        script::Packet {
            flags,
            seq: u64::from(packet.seq.wrapping_sub(self.first)),
            len: u64::from(packet.len),
            ack: if flags.has(Flags::ACK) { ours(packet.ack) } else { 0 },
            window: Some(Window::Seen { field, bytes: field << shift }),
            ecn: Some(packet.ecn),
            sack: sack.iter().map(|(from, to)| (ours(*from), ours(*to))).collect(),
            stamp,
            offer: flags.has(Flags::SYN).then_some(offer),
        }
    }

    /// The stamp that the kernel has sent around this time, in milliseconds: its own timers are not the script's.
    fn stamp_near(&self, millis: u64) -> u32 {
        let wanted = self.clock.wrapping_add(millis as u32);
        let distance = |stamp: &&u32| stamp.wrapping_sub(wanted).cast_signed().unsigned_abs();
        self.stamps.iter().min_by_key(distance).copied().unwrap_or(wanted)
    }

    /// How the windows of one side are shifted, where both have offered it (RFC 7323, section 2.2).
    fn shift(&self, side: usize) -> u8 {
        self.shifts[0].and(self.shifts[1]).and(self.shifts[side]).unwrap_or(0)
    }
}

impl Host for Kernel {
    fn backend(&self) -> Backend {
        Backend::Kernel
    }

    fn act(&mut self, now: Time, act: Act) -> Result<(), String> {
        let now = self.wait(now)?;
        let done = match (act, &self.socket) {
            (Act::Open, Socket::Connected(stream)) => sys::connect(stream.as_fd(), THERE, PORT),
            (Act::Close, Socket::Connected(stream)) => stream.shutdown(Shutdown::Write),
            (Act::Open | Act::Close, Socket::Listening(_)) => Err(ErrorKind::NotConnected.into()),
            (Act::Read(len), _) => self.read(len),
            (Act::StopReading, _) => {
                self.reads = false;
                Ok(())
            }
            (Act::Write(len), _) => {
                self.owed += len;
                self.attend();
                Ok(())
            }
        };
        done.map_err(|error| format!("{act:?}: {error}"))?;
        self.collect(now)
    }

    fn hear(&mut self, now: Time, packet: &script::Packet) -> Result<(), String> {
        let now = self.wait(now)?;
        let usual = packet.window.is_none();
        let packet = self.incoming(packet);
        self.delay(true);
        self.tun.put(&packet).map_err(|error| error.to_string())?;
        if usual && packet.bits & (wire::SYN | wire::ACK) == wire::SYN | wire::ACK {
            self.tun.put(&behind(&packet)).map_err(|error| error.to_string())?;
        }
        self.attend();
        self.delay(false);
        self.collect(now)
    }

    fn say(&mut self, until: Time) -> Result<Option<(Time, script::Packet)>, String> {
        let now = self.now();
        let mut patience = until;
        if until <= self.believed {
            patience = now;
        } else if until.since(now) > LONGEST {
            (patience, self.believed) = (now + SILENCE, until);
        }
        self.watch(patience, true)?;
        let due = self.sent.front().is_some_and(|(at, _)| *at <= until);
        let sent = if due { self.sent.pop_front() } else { None };
        Ok(sent.map(|(at, packet)| (at, self.outgoing(&packet))))
    }

    fn look(&self, quantity: Quantity) -> Option<f64> {
        let info = sys::tcp_info(self.socket.fd()).ok()?;
        Some(f64::from(match quantity {
            Quantity::Cwnd => info.tcpi_snd_cwnd,
            Quantity::Ssthresh => info.tcpi_snd_ssthresh,
            Quantity::Flight => info.tcpi_unacked,
            Quantity::Rto => return Some(f64::from(info.tcpi_rto) / 1000.0),
            Quantity::Srtt => return Some(f64::from(info.tcpi_rtt) / 1000.0),
        }))
    }

    fn slack(&self, wait: Span) -> Span {
        SLACK + Span::from_nanos(wait.nanos() / WHEEL)
    }

    fn late(&self) -> bool {
        self.late > TOO_LATE
    }
}

impl Socket {
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Listening(listener) => listener.as_fd(),
            Socket::Connected(stream) => stream.as_fd(),
        }
    }
}

/// An ACK behind a SYN-ACK. The first segment with a new number says its window anew, and so would be no duplicate.
fn behind(answer: &Packet) -> Packet {
    let window = FULL_WINDOW >> answer.options.window_scale.unwrap_or(0);
    let options = Options { stamps: answer.options.stamps, ..Options::default() };
    Packet {
        seq: answer.seq.wrapping_add(1),
        bits: wire::ACK,
        window: window as u16,
        options,
        ..answer.clone()
    }
}

fn millis(time: Time) -> u32 {
    (time.nanos() / 1_000_000) as u32
}

/// What became of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// How often it was played.
    pub tries: u32,
    /// How it went the last time.
    pub outcome: Result<Vec<Passed>, Failure>,
}

/// Up to when exchanges are played again.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    ends: Instant,
}

/// Plays a script to this machine's TCP, on a thread of its own.
///
/// On a busy machine the script's side itself may be late, or the kernel's timers. What fails then is played again, a few
/// times; a wrong segment in an exchange that was on time is final.
pub fn replay(script: &Script, patience: Patience) -> Replay {
    for tries in 1.. {
        let outcome = try_once(script);
        if tries == TRIES
            || Instant::now() > patience.ends
            || outcome.as_ref().err().and_then(|failure| failure.late).is_none()
        {
            return Replay { tries, outcome };
        }
    }
    unreachable!("the tries are few")
}

fn try_once(script: &Script) -> Result<Vec<Passed>, Failure> {
    let fails =
        |seen: String| Failure { line: 0, expected: "a kernel".into(), seen, late: None, passed: Vec::new() };
    std::thread::scope(|scope| {
        let played = scope.spawn(|| match Kernel::new(&script.setup) {
            Ok(mut kernel) => play(script, &mut kernel),
            Err(error) => Err(fails(error.to_string())),
        });
        played.join().unwrap_or_else(|_| Err(fails("a panic".into())))
    })
}

/// Takes what right to networks of its own this process has; what it lacks, if something. Before any other thread.
pub fn prepare() -> Result<Patience, String> {
    sys::end_when_interrupted();
    sys::hurry();
    namespace::enter().map_err(|error| error.to_string())?;
    std::thread::spawn(|| Kernel::new(&Setup::default()).map(drop).map_err(|error| error.to_string()))
        .join()
        .map_err(|_| String::from("a panic"))??;
    Ok(Patience { ends: Instant::now() + PATIENCE })
}

/// Sets what a script asks for in the network of this thread.
fn configure(setup: &Setup, cc: &Choice) -> io::Result<()> {
    let profile = &setup.profile;
    let sack = match setup.role {
        Role::Sender => cc.recovery(profile.sack) == Ok(Recovery::Sack),
        Role::Receiver => profile.sack != Some(false),
    };
    let switch = |on: bool, value: u64| if on { value } else { 0 };
    let settings = [
        ("tcp_sack", switch(sack, 1)),
        ("tcp_dsack", switch(profile.dsack, 1)),
        ("tcp_window_scaling", switch(profile.window_scaling, 1)),
        ("tcp_ecn", switch(setup.ecn, 1)),
        // Time stamps without a random offset.
        ("tcp_timestamps", switch(profile.timestamps, 2)),
        ("tcp_early_retrans", switch(profile.tail_loss_probe, 3)),
        ("tcp_frto", switch(profile.frto, 2)),
        ("tcp_slow_start_after_idle", switch(profile.unused_window == UnusedWindow::Restart, 1)),
        ("tcp_rto_min_us", profile.min_rto.nanos() / 1000),
        ("tcp_rto_max_ms", profile.max_rto.nanos() / 1_000_000),
        // Every ACK with SACK blocks leaves at once (RFC 5681, section 4.2), none are put together.
        ("tcp_comp_sack_nr", 0),
        ("tcp_autocorking", 0),
        // What may be sent is sent, not kept back until it makes a larger burst.
        ("tcp_tso_win_divisor", 100),
        // The first retransmissions of a SYN back off as the others do (RFC 6298, 5.5).
        ("tcp_syn_linear_timeouts", 0),
    ];
    settings.iter().try_for_each(|(name, value)| namespace::set(name, value))?;
    namespace::set("tcp_wmem", &SEND_BUFFER)
}

/// The window where a script does not say: the same with and without a shift, so that no ACK is a window's update
/// (RFC 5681, section 2).
const FULL_WINDOW: u64 = 511 << 7;
/// Control bits as scripts and as headers have them.
const FLAGS: [(Flags, u8); 5] = [
    (Flags::FIN, wire::FIN),
    (Flags::SYN, wire::SYN),
    (Flags::ACK, wire::ACK),
    (Flags::ECE, wire::ECE),
    (Flags::CWR, wire::CWR),
];
/// The script's initial sequence number: near the end, so that what it sends wraps.
const FIRST: u32 = u32::MAX - 2_999;
/// The port of the script's side, and of a listener.
const PORT: u16 = 8080;
/// Least, usual and most bytes of a send buffer: more than any exchange writes ahead.
const SEND_BUFFER: &str = "4096 262144 262144";
/// What is written or read at once, bytes.
const CHUNK: usize = 1 << 14;
/// How far off the kernel's times may be: its timers go by ticks of up to 10 ms, and this machine does other things, too.
const SLACK: Span = Span::from_millis(25);
/// A long wait takes up to an eighth of itself longer: the wheel that holds the kernel's timers is coarse far out.
const WHEEL: u64 = 8;
/// How often an exchange is tried on a busy machine.
const TRIES: u32 = 3;
/// How long a run may last until nothing is played again.
const PATIENCE: Duration = Duration::from_secs(8);
/// Where the script is late by this much, a timeout of three round trips that has doubled is off by six times as much, which
/// [`SLACK`] must hold.
const TOO_LATE: Span = Span::from_millis(2);
/// No exchange takes longer.
const LIMIT: Span = Span::from_secs(60);
const TOO_LONG: &str = "that it takes more than a minute, the most that there is where time is real";
/// No segment is waited for longer;
const LONGEST: Span = Span::from_secs(8);
/// and where a script has nothing come for longer, it is believed after this time.
const SILENCE: Span = Span::from_secs(1);
