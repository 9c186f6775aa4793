//! Transactions: one transfer of data over a connection, on request or not.

use sojourn_units::{Span, Time};

/// Purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Opens a connection, without data.
    Open,
    /// Data of this payload, bytes; over a new connection it opens that, too.
    Data(u64),
    /// Data without end, over a new connection; its first byte answers the request.
    Endless,
    /// So many of the bytes that a connection with data without end sends next.
    Interleaved(u64),
    /// Closes the connection.
    Close,
}

/// The newest transaction of a connection slot.
///
/// The host may report deliveries ahead of the user's own time: a transaction depends on its connection alone.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// Number of its connection among those of the slot, from 1; 0: no transaction yet.
    pub connection_id: u32,
    /// Purpose of its request.
    pub purpose: Purpose,
    /// Number of its request among those of the slot.
    pub serial: u64,
    /// Start time.
    pub began: Time,
    /// End of its data, bytes from the start of the connection; of interleaved ones [`u64::MAX`] until the sender has the
    /// request.
    pub end: u64,
    /// The receiver awaits data.
    pub is_pending: bool,
    /// Size of its request as an IP packet, bytes.
    pub request_size: u16,
    /// Arrival of the first byte of the answer; NEVER: not known yet.
    pub(crate) first_byte_at: Time,
    /// Time of the next retransmission of the request; NEVER: there is no request.
    pub(crate) retry_at: Time,
    /// Wait before that retransmission.
    retry_timeout: Span,
}

impl Transaction {
    pub(crate) const NONE: Transaction = Transaction {
        connection_id: 0,
        purpose: Purpose::Open,
        serial: 0,
        began: Time::ZERO,
        end: 0,
        is_pending: false,
        request_size: 0,
        first_byte_at: Time::NEVER,
        retry_at: Time::NEVER,
        retry_timeout: Span::ZERO,
    };

    /// Starts the transmission of `bytes` over a new connection.
    pub(crate) fn send(&mut self, now: Time, bytes: u64) {
        self.connection_id += 1;
        self.purpose = Purpose::Data(bytes);
        (self.began, self.end, self.is_pending) = (now, bytes, true);
    }

    /// Sends a request of `size` bytes, over a new connection or the present one.
    pub(crate) fn request(&mut self, now: Time, is_new: bool, (size, purpose): (u16, Purpose)) {
        if is_new {
            self.connection_id += 1;
            self.end = 0;
        }
        self.is_pending = !matches!(purpose, Purpose::Open | Purpose::Close);
        match purpose {
            Purpose::Data(bytes) => self.end = self.end.saturating_add(bytes),
            Purpose::Endless => self.end = 1,
            Purpose::Interleaved(_) => self.end = u64::MAX,
            Purpose::Open | Purpose::Close => {}
        }
        self.serial += 1;
        (self.began, self.purpose, self.request_size) = (now, purpose, size);
        (self.first_byte_at, self.retry_at, self.retry_timeout) =
            (Time::NEVER, now + RETRY_TIMEOUT, RETRY_TIMEOUT);
    }

    /// Abandons the transaction: its request is not repeated, and an answer on its way belongs to no connection any more.
    pub(crate) fn abandon(&mut self) {
        (self.is_pending, self.connection_id, self.retry_at) = (false, self.connection_id + 1, Time::NEVER);
    }

    /// End of the data that the sender is to send.
    pub fn requested(&self) -> u64 {
        if self.purpose == Purpose::Endless { u64::MAX } else { self.end }
    }

    /// The sender of data without end, which has sent `sent` bytes, has the request with this serial number.
    pub fn interleave(&mut self, serial: u64, sent: u64) {
        if let Purpose::Interleaved(bytes) = self.purpose
            && serial == self.serial
            && self.end == u64::MAX
        {
            self.end = sent.saturating_add(bytes);
        }
    }

    /// The receiver has all data up to byte `end` at `at`. Returns whether that completes the transaction.
    pub fn delivered(&mut self, at: Time, end: u64) -> bool {
        // Other data of the connection may come before the sender has the request.
        if self.end == u64::MAX {
            return false;
        }
        self.first_byte_at = self.first_byte_at.min(at);
        let completes = self.is_pending && end >= self.end;
        self.is_pending &= !completes;
        completes
    }

    /// The receiver has the SYN at `at`. Returns whether that completes the transaction: it only opens the connection.
    pub fn connected(&mut self, at: Time) -> bool {
        let opens = self.purpose == Purpose::Open && self.first_byte_at == Time::NEVER;
        if opens {
            self.first_byte_at = at;
        }
        opens
    }

    /// Time of the next retransmission of the request, where one is due by `end` and before `until`; later ones wait
    /// twice as long each.
    pub(crate) fn retry(&mut self, end: Time, until: Time) -> Option<Time> {
        let at = self.retry_at;
        // A first byte due later has not arrived yet.
        if at > end || at >= until || self.first_byte_at <= at {
            return None;
        }
        self.retry_timeout = self.retry_timeout.saturating_mul(2).min(LONGEST_RETRY_TIMEOUT);
        self.retry_at += self.retry_timeout;
        Some(at)
    }
}

/// Initial retransmission timeout of a request, as of a SYN; doubled at each retransmission (RFC 6298, 2.1 and 5.5).
const RETRY_TIMEOUT: Span = Span::from_secs(1);
/// RFC 6298 (2.5) allows a bound of a minute or more.
const LONGEST_RETRY_TIMEOUT: Span = Span::from_secs(60);
