//! What a flow has now and then.

/// A value that comes and goes. Its place on the heap is kept for the next one, until it is given up.
#[derive(Clone, Debug)]
pub(crate) struct Kept<T> {
    place: Option<Box<T>>,
    is_there: bool,
}

impl<T> Kept<T> {
    pub(crate) const NONE: Kept<T> = Kept { place: None, is_there: false };

    pub(crate) fn is_some(&self) -> bool {
        self.is_there
    }

    pub(crate) fn is_none(&self) -> bool {
        !self.is_there
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if self.is_there { self.place.as_deref() } else { None }
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        if self.is_there { self.place.as_deref_mut() } else { None }
    }

    pub(crate) fn set(&mut self, value: T) {
        self.is_there = true;
        match &mut self.place {
            Some(place) => **place = value,
            None => self.place = Some(Box::new(value)),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.is_there = false;
    }

    /// The value, without its place.
    pub(crate) fn take(&mut self) -> Option<T> {
        let value = self.place.take().filter(|_| self.is_there);
        self.is_there = false;
        value.map(|place| *place)
    }

    /// Gives the place up, if nothing is there.
    pub(crate) fn trim(&mut self) {
        if !self.is_there {
            self.place = None;
        }
    }
}
