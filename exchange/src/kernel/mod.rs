//! The kernel's TCP as a host: a socket in a network of its own, whose peer is the script.
//!
//! Time is real here. The kernel's timers are off by a few milliseconds, and on a busy machine inputs are late as
//! well: times are compared within [`Host::slack`].
#![allow(clippy::disallowed_types)] // the only use of a clock: the kernel runs in real time

mod namespace;
mod netlink;
mod run_delay;
mod sys;
mod tun;
mod wire;

use crate::play::{Failure, Host, Passed, play, slack_of_kernels};
use crate::script::{self, Act, Backend, Offer, Quantity, Script, Stamps, Window};
use crate::setup::{Role, Setup};
use netlink::{HERE, THERE};
use nix::libc;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, getsockopt, setsockopt, socket, sockopt};
use run_delay::RunDelay;
use sojourn_tcp::cc::Recovery;
use sojourn_tcp::{Flags, HEADER, TIMESTAMPS, UnusedWindow};
use sojourn_units::{Span, Time};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};
use tun::Tun;
use wire::{Options, Packet};

/// The kernel's TCP in a network of its own, which ends with the thread that created it.
pub struct Kernel {
    tun: Tun,
    socket: Socket,
    role: Role,
    /// Zero of the script's clock, which starts with the first event.
    started: Option<Instant>,
    /// Port of the kernel's side, once known.
    port: u16,
    /// Initial sequence number of the kernel.
    first: u32,
    /// Value of the kernel's timestamp clock at the script's zero.
    clock: u32,
    /// Window scales offered by the kernel and by the script.
    shifts: [Option<u8>; 2],
    /// The script has accepted the connection, and the kernel's bare ACK of that is outstanding.
    opening: bool,
    /// Segments sent by the kernel and not yet compared.
    sent: VecDeque<(Time, Packet)>,
    /// Bytes to write once there is room.
    owed: u64,
    /// Time up to which silence is assumed.
    silent_until: Time,
    /// Payload of a full-sized segment, bytes.
    mss: usize,
    /// Distinct timestamps in the kernel's segments.
    stamps: Vec<u32>,
    /// The application reads data on arrival.
    reads: bool,
    /// ACKs may be delayed.
    delays: bool,
    /// Delays of this thread by the scheduler.
    run_delay: RunDelay,
    /// Greatest lateness of the script's side.
    late: Span,
}

enum Socket {
    Listening(TcpListener),
    Connected(TcpStream),
}

impl Kernel {
    /// Creates the socket of a script, in a network that this thread moves into.
    pub fn new(setup: &Setup) -> io::Result<Kernel> {
        let profile = &setup.profile;
        let cc = &setup.cc;
        namespace::isolate()?;
        let stamps = if profile.timestamps { TIMESTAMPS } else { 0 };
        let tun = Tun::open(setup.mss + stamps + HEADER)?;
        configure(setup)?;
        netlink::add_route(tun::NAME, profile.initial_window as u32)?;
        let socket = match setup.role {
            Role::Sender => {
                let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
                let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
                Socket::Connected(TcpStream::from(socket))
            }
            Role::Receiver => {
                let listener = TcpListener::bind((HERE, PORT))?;
                listener.set_nonblocking(true)?;
                Socket::Listening(listener)
            }
        };
        setsockopt(&socket.fd(), sockopt::TcpNoDelay, &true)?;
        // Reset on close: an orphan that continues to send would keep its network for minutes.
        setsockopt(&socket.fd(), sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 })?;
        let control = if cc.name() == "newreno" { "reno" } else { cc.name() };
        setsockopt(&socket.fd(), sockopt::TcpCongestion, &control.into())?;
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
            silent_until: Time::ZERO,
            mss: (setup.mss as usize).clamp(1, CHUNK),
            stamps: Vec::new(),
            reads: true,
            delays: profile.delayed_ack,
            run_delay: RunDelay::open(),
            late: Span::ZERO,
        })
    }

    fn now(&mut self) -> Time {
        let started = *self.started.get_or_insert_with(Instant::now);
        Time::from_nanos(started.elapsed().as_nanos() as u64)
    }

    /// Waits until `until`, or for the first segment that the kernel sends.
    fn watch(&mut self, until: Time, first: bool) -> Result<(), String> {
        while !first || self.sent.is_empty() {
            self.run_application();
            if self.now() > Time::ZERO + LIMIT {
                return Err(TOO_LONG.into());
            }
            let left = Duration::from_nanos(until.since(self.now()).nanos());
            let seen = self.tun.receive(left).map_err(|error| error.to_string())?;
            self.late = self.late.max(self.run_delay.increase());
            match seen {
                Some(packet) if packet.rst => return Err("the kernel resets".into()),
                Some(packet) => {
                    let now = self.now();
                    self.record(now, packet);
                }
                None if left.is_zero() => break,
                None => (),
            }
        }
        Ok(())
    }

    /// Waits until the script's side acts, returning the time.
    fn wait(&mut self, until: Time) -> Result<Time, String> {
        if until > Time::ZERO + LIMIT {
            return Err(TOO_LONG.into());
        }
        self.watch(until, false)?;
        let now = self.now();
        self.late = self.late.max(now.since(until));
        Ok(now)
    }

    /// Records the segments that the kernel has sent in immediate answer to an event, with its time.
    fn collect(&mut self, now: Time) -> Result<(), String> {
        while let Some(packet) = self.tun.receive(Duration::ZERO).map_err(|error| error.to_string())? {
            self.record(now, packet);
        }
        Ok(())
    }

    /// Records a segment that the kernel has sent.
    fn record(&mut self, now: Time, packet: Packet) {
        if packet.flags.has(Flags::SYN) {
            (self.first, self.port) = (packet.seq, packet.from.port());
            self.shifts[0] = packet.options.window_scale;
            let stamp = packet.options.stamps.map_or(0, |(value, _)| value);
            self.clock = stamp.wrapping_sub(millis(now));
        }
        if let Some((stamp, _)) = packet.options.stamps
            && self.stamps.last() != Some(&stamp)
        {
            self.stamps.push(stamp);
        }
        let bare = packet.flags == Flags::ACK && packet.len == 0;
        if !(std::mem::take(&mut self.opening) && bare) {
            self.sent.push_back((now, packet));
        }
    }

    /// Runs the application: writes when there is room, and reads arriving data.
    fn run_application(&mut self) {
        // Errors show in the segments.
        let mut bytes = [0; CHUNK];
        while self.reads
            && let Some(Ok(len)) = self.stream().map(|mut stream| stream.read(&mut bytes))
        {
            if len == 0 {
                // The script's side has closed, and so does this one.
                self.reads = false;
                let _ = self.stream().map(|stream| stream.shutdown(Shutdown::Write));
            }
        }
        bytes.fill(0);
        // Whole segments: with Nagle's algorithm off, the rest of a write would be sent as a small one.
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

    /// Enables delayed ACKs, which the kernel turns off in interactive mode; disabling sends those that must not wait.
    fn set_delayed_acks(&mut self, on: bool) {
        if self.role == Role::Receiver && (on || !self.delays) {
            let _ = self.stream().map(|stream| setsockopt(stream, sys::QuickAck, &!on));
        }
    }

    /// The connection, accepted by the listener if necessary.
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

    /// Converts a script's segment to the numbers of this connection.
    fn incoming(&mut self, packet: &script::Packet) -> Packet {
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
            from: SocketAddrV4::new(THERE, PORT),
            to: SocketAddrV4::new(HERE, self.port),
            seq: FIRST.wrapping_add(packet.seq as u32),
            ack: if packet.flags.has(Flags::ACK) { theirs(packet.ack) } else { 0 },
            flags: packet.flags,
            rst: false,
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

    /// Converts a segment of the kernel to the numbers of the script.
    fn outgoing(&self, packet: &Packet) -> script::Packet {
        let flags = packet.flags;
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

    /// Timestamp of the kernel's next to this time, in milliseconds, as its timers are not the script's.
    fn stamp_near(&self, millis: u64) -> u32 {
        let wanted = self.clock.wrapping_add(millis as u32);
        let distance = |stamp: &&u32| stamp.wrapping_sub(wanted).cast_signed().unsigned_abs();
        self.stamps.iter().min_by_key(distance).copied().unwrap_or(wanted)
    }

    /// Window scale of a side, if both have offered one (RFC 7323, section 2.2).
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
            (Act::Open, Socket::Connected(stream)) => sys::connect(stream, SocketAddrV4::new(THERE, PORT)),
            (Act::Close, Socket::Connected(stream)) => stream.shutdown(Shutdown::Write),
            (Act::Open | Act::Close, Socket::Listening(_)) => Err(ErrorKind::NotConnected.into()),
            (Act::Read(len), _) => self.read(len),
            (Act::StopReading, _) => {
                self.reads = false;
                Ok(())
            }
            (Act::Write(len), _) => {
                self.owed += len;
                self.run_application();
                Ok(())
            }
        };
        done.map_err(|error| format!("{act:?}: {error}"))?;
        self.collect(now)
    }

    fn receive(&mut self, now: Time, packet: &script::Packet) -> Result<(), String> {
        let now = self.wait(now)?;
        let usual = packet.window.is_none();
        let packet = self.incoming(packet);
        self.set_delayed_acks(true);
        self.tun.send(&packet).map_err(|error| error.to_string())?;
        if usual && packet.flags.has(Flags::SYN | Flags::ACK) {
            self.tun.send(&ack_after(&packet)).map_err(|error| error.to_string())?;
        }
        self.run_application();
        self.set_delayed_acks(false);
        self.collect(now)
    }

    fn transmit(&mut self, until: Time) -> Result<Option<(Time, script::Packet)>, String> {
        let now = self.now();
        let mut deadline = until;
        if until <= self.silent_until {
            deadline = now;
        } else if until.since(now) > LONGEST {
            (deadline, self.silent_until) = (now + SILENCE, until);
        }
        self.watch(deadline, true)?;
        let due = self.sent.front().is_some_and(|(at, _)| *at <= until);
        let sent = if due { self.sent.pop_front() } else { None };
        Ok(sent.map(|(at, packet)| (at, self.outgoing(&packet))))
    }

    fn measure(&self, quantity: Quantity) -> Option<f64> {
        let info = getsockopt(&self.socket.fd(), sys::TcpInfo).ok()?;
        Some(f64::from(match quantity {
            Quantity::Cwnd => info.tcpi_snd_cwnd,
            Quantity::Ssthresh => info.tcpi_snd_ssthresh,
            Quantity::Flight => info.tcpi_unacked,
            Quantity::Rto => return Some(f64::from(info.tcpi_rto) / 1000.0),
            Quantity::Srtt => return Some(f64::from(info.tcpi_rtt) / 1000.0),
        }))
    }

    fn slack(&self, wait: Span) -> Span {
        slack_of_kernels(wait)
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

/// ACK after a SYN-ACK. The first segment with a new number updates the window, and so would not count as a duplicate.
fn ack_after(answer: &Packet) -> Packet {
    let window = FULL_WINDOW >> answer.options.window_scale.unwrap_or(0);
    let options = Options { stamps: answer.options.stamps, ..Options::default() };
    Packet {
        seq: answer.seq.wrapping_add(1),
        flags: Flags::ACK,
        window: window as u16,
        options,
        ..answer.clone()
    }
}

fn millis(time: Time) -> u32 {
    (time.nanos() / 1_000_000) as u32
}

/// Plays a script to the kernel's TCP, on a thread of its own.
pub fn replay(script: &Script) -> Result<Vec<Passed>, Failure> {
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

/// Acquires the capability to create networks, or returns what is missing. To be called before any thread is started.
pub fn prepare() -> Result<(), String> {
    let mut interrupt = SigSet::empty();
    interrupt.add(Signal::SIGINT);
    interrupt.thread_block().map_err(|error| error.to_string())?;
    sys::prioritize();
    namespace::enter().map_err(|error| error.to_string())?;
    std::thread::spawn(move || {
        if interrupt.wait().is_ok() {
            eprintln!("interrupted: scripts played so far are listed above");
            std::process::exit(INTERRUPTED);
        }
    });
    std::thread::spawn(|| Kernel::new(&Setup::default()).map(drop).map_err(|error| error.to_string()))
        .join()
        .map_err(|_| String::from("a panic"))?
}

/// Configures the network of this thread for a script.
fn configure(setup: &Setup) -> io::Result<()> {
    let Setup { cc, profile, .. } = setup;
    let sack = match setup.role {
        Role::Sender => cc.recovery(profile.sack) == Recovery::Sack,
        Role::Receiver => profile.sack != Some(false),
    };
    let switch = |on: bool, value: u64| if on { value } else { 0 };
    let settings = [
        ("tcp_sack", switch(sack, 1)),
        ("tcp_dsack", switch(profile.dsack, 1)),
        ("tcp_window_scaling", switch(profile.window_scaling, 1)),
        ("tcp_ecn", switch(setup.ecn, 1)),
        // Timestamps without a random offset.
        ("tcp_timestamps", switch(profile.timestamps, 2)),
        ("tcp_early_retrans", switch(profile.tail_loss_probe, 3)),
        ("tcp_frto", switch(profile.frto, 2)),
        ("tcp_slow_start_after_idle", switch(profile.unused_window == UnusedWindow::Restart, 1)),
        ("tcp_rto_min_us", profile.min_rto.nanos() / 1000),
        ("tcp_rto_max_ms", profile.max_rto.nanos() / 1_000_000),
        // Every ACK with SACK blocks is sent at once (RFC 5681, section 4.2), none are compressed.
        ("tcp_comp_sack_nr", 0),
        ("tcp_autocorking", 0),
        // Segments are sent when allowed, not held back for a larger burst.
        ("tcp_tso_win_divisor", 100),
        // The first retransmissions of a SYN back off like the others (RFC 6298, 5.5).
        ("tcp_syn_linear_timeouts", 0),
    ];
    settings.iter().try_for_each(|(name, value)| namespace::set(name, value))?;
    namespace::set("tcp_wmem", &SEND_BUFFER)
}

/// Window of segments for which a script gives none: the same with and without scaling, so that no ACK is a window
/// update (RFC 5681, section 2).
const FULL_WINDOW: u64 = 511 << 7;
/// Initial sequence number of the script: near the end, so that its numbers wrap.
const FIRST: u32 = u32::MAX - 2_999;
/// Port of the script's side, and of a listener.
const PORT: u16 = 8080;
/// Least, default and largest send buffer, bytes: more than any exchange writes ahead.
const SEND_BUFFER: &str = "4096 262144 262144";
/// Exit code.
const INTERRUPTED: i32 = 130;
/// Bytes written or read at once.
const CHUNK: usize = 1 << 14;
/// With the script late by this much, a timeout of three round trips that has doubled is off by six times as much,
/// which [`slack_of_kernels`] must cover.
const TOO_LATE: Span = Span::from_millis(2);
/// Longest exchange.
const LIMIT: Span = Span::from_secs(60);
const TOO_LONG: &str = "that it takes more than a minute, the limit in real time";
/// Longest wait for a segment;
const LONGEST: Span = Span::from_secs(8);
/// if a script has silence for longer, it is assumed after this time.
const SILENCE: Span = Span::from_secs(1);
