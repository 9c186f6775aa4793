//! Optional boxed values.

/// Optional boxed value. Clearing keeps the allocation for the next value; [`trim`](Self::trim) frees it.
#[derive(Clone, Debug)]
pub(crate) struct LazyBox<T>(Option<Box<Slot<T>>>);

#[derive(Clone, Debug)]
struct Slot<T> {
    is_set: bool,
    value: T,
}

impl<T> LazyBox<T> {
    pub(crate) const NONE: LazyBox<T> = LazyBox(None);

    pub(crate) fn is_some(&self) -> bool {
        self.0.as_ref().is_some_and(|slot| slot.is_set)
    }

    pub(crate) fn is_none(&self) -> bool {
        !self.is_some()
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref().filter(|slot| slot.is_set).map(|slot| &slot.value)
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_mut().filter(|slot| slot.is_set).map(|slot| &mut slot.value)
    }

    pub(crate) fn set(&mut self, value: T) {
        let value = Slot { is_set: true, value };
        match &mut self.0 {
            Some(slot) => **slot = value,
            None => self.0 = Some(Box::new(value)),
        }
    }

    pub(crate) fn clear(&mut self) {
        if let Some(slot) = &mut self.0 {
            slot.is_set = false;
        }
    }

    /// Takes the value out and frees the allocation.
    pub(crate) fn take(&mut self) -> Option<T> {
        self.0.take().filter(|slot| slot.is_set).map(|slot| slot.value)
    }

    /// Frees the allocation if no value is set.
    pub(crate) fn trim(&mut self) {
        self.0.take_if(|slot| !slot.is_set);
    }
}
