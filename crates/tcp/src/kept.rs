//! What a flow has now and then.

/// A value that comes and goes. Its place on the heap is kept for the next one, until it is given up.
#[derive(Clone, Debug)]
pub(crate) struct Kept<T>(Option<Box<Place<T>>>);

#[derive(Clone, Debug)]
struct Place<T> {
    is_taken: bool,
    value: T,
}

impl<T> Kept<T> {
    pub(crate) const NONE: Kept<T> = Kept(None);

    pub(crate) fn is_some(&self) -> bool {
        self.0.as_ref().is_some_and(|place| place.is_taken)
    }

    pub(crate) fn is_none(&self) -> bool {
        !self.is_some()
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref().filter(|place| place.is_taken).map(|place| &place.value)
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_mut().filter(|place| place.is_taken).map(|place| &mut place.value)
    }

    pub(crate) fn set(&mut self, value: T) {
        let value = Place { is_taken: true, value };
        match &mut self.0 {
            Some(place) => **place = value,
            None => self.0 = Some(Box::new(value)),
        }
    }

    pub(crate) fn clear(&mut self) {
        if let Some(place) = &mut self.0 {
            place.is_taken = false;
        }
    }

    /// The value, without its place.
    pub(crate) fn take(&mut self) -> Option<T> {
        self.0.take().filter(|place| place.is_taken).map(|place| place.value)
    }

    /// Gives the place up, if nothing is there.
    pub(crate) fn trim(&mut self) {
        self.0.take_if(|place| !place.is_taken);
    }
}
