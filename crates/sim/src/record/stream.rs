//! A record on its way to its file.

use std::io::{self, Write};

/// Receives the bytes of a record, some whole blocks or lines at a time.
pub type Sink = Box<dyn Write + Send>;

/// A record that could not be written.
#[derive(Debug)]
pub struct Unwritten {
    /// The name of the record.
    pub name: String,
    /// The error of the system.
    pub why: io::Error,
}

/// A buffer in front of a sink. A part that has begun goes to the sink with its end; after an error nothing does.
pub(super) struct Stream {
    name: String,
    sink: Sink,
    pending: Vec<u8>,
    failure: Option<Unwritten>,
}

impl Stream {
    pub(super) fn new(name: String, sink: Sink) -> Stream {
        Stream { name, sink, pending: Vec::new(), failure: None }
    }

    /// Appends a whole part.
    pub(super) fn append(&mut self, part: impl FnOnce(&mut Vec<u8>)) {
        if self.failure.is_some() {
            return;
        }
        part(&mut self.pending);
        if self.pending.len() >= ENOUGH {
            self.flush();
        }
    }

    /// Hands over what is pending.
    pub(super) fn flush(&mut self) {
        if self.failure.is_some() {
            return;
        }
        let written = self.sink.write_all(&self.pending).and_then(|()| self.sink.flush());
        self.pending.clear();
        self.failure = written.err().map(|why| Unwritten { name: self.name.clone(), why });
    }

    pub(super) fn failure(&self) -> Option<&Unwritten> {
        self.failure.as_ref()
    }
}

/// Bytes that are worth a call of the system.
const ENOUGH: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes.
    struct Disk(usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            Ok(taken)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_first_failure_stays() {
        let mut stream = Stream::new("a.pcapng".into(), Box::new(Disk(ENOUGH + 1)));
        let part = |out: &mut Vec<u8>| out.resize(out.len() + ENOUGH, 0);
        stream.append(part);
        assert!(stream.failure().is_none());
        stream.append(part);
        stream.append(part);
        let Unwritten { name, why } = stream.failure().expect("no space");
        assert_eq!((name.as_str(), why.kind()), ("a.pcapng", io::ErrorKind::StorageFull));
        assert!(stream.pending.is_empty(), "nothing is collected any more");
    }
}
