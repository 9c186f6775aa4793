//! Entries of a catalogue as variants of an enum.

use crate::error::{Errors, InputError};
use crate::field::{Described, Page};
use crate::value::Value;

/// Parameters of an entry whose value is one of few: an application, a link model.
pub trait EntryParams: Described {
    /// Its description.
    const PAGE: Page;

    /// Rules across its parameters.
    fn checked(self) -> Result<Self, InputError> {
        Ok(self)
    }
}

/// An entry of a catalogue whose values are `T`.
#[derive(Clone, Copy, Debug)]
pub struct EntryOf<T> {
    /// Description and parameters.
    pub page: Page,
    /// Reads its given parameters.
    pub read: ReadEntry<T>,
}

/// Reads the value of an entry from its given parameters: all errors of them.
pub type ReadEntry<T> = fn(&[(String, Value)]) -> Result<T, Errors>;

impl<T> EntryOf<T> {
    /// True if it has the parameter.
    pub fn has(&self, key: &str) -> bool {
        self.page.has(key)
    }
}

/// Defines an enum of the entries of a catalogue, a line each: the name of a struct that is [`EntryParams`].
///
/// ```
/// use sojourn_params::{Described, EntryOf, EntryParams, Page, Value, entries, params};
///
/// params! {
///     /// Waits.
///     pub struct Wait {
///         /// seconds
///         seconds: u64 = 1, in 1 to 60, "an example";
///     }
/// }
/// impl EntryParams for Wait {
///     const PAGE: Page = Page {
///         stem: "wait",
///         summary: "waits",
///         idea: "",
///         equation: "",
///         source: "",
///         fields: <Wait as Described>::fields,
///     };
/// }
/// entries! {
///     /// What to do.
///     pub enum Step {
///         /// Waits.
///         Wait,
///     }
/// }
/// let wait = (Step::ENTRIES[0].read)(&[("seconds".into(), Value::Whole(2))]).unwrap();
/// assert_eq!((wait.name(), wait.has("seconds")), ("wait", true));
/// assert_eq!(wait.written().to_string(), "{ wait = { seconds = 2 } }");
/// ```
#[macro_export]
macro_rules! entries {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$about:meta])+ $entry:ident,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $($(#[$about])+ $entry($entry),)+
        }

        impl $name {
            /// All of them, in the order of help.
            pub const ENTRIES: &'static [$crate::EntryOf<$name>] = &[
                $($crate::EntryOf {
                    page: <$entry as $crate::EntryParams>::PAGE,
                    read: |values| {
                        let params = <$entry as $crate::Described>::from_values(values)?;
                        Ok($name::$entry($crate::EntryParams::checked(params)?))
                    },
                },)+
            ];

            /// The entry of this name.
            pub fn named(name: &str) -> Option<&'static $crate::EntryOf<$name>> {
                Self::ENTRIES.iter().find(|entry| entry.page.stem == name)
            }

            /// The value of an entry with its parameters.
            fn read_chosen(chosen: $crate::Chosen) -> Result<Self, $crate::Errors> {
                let entry = &Self::ENTRIES[chosen.place];
                chosen.read(entry.read)
            }

            /// The description of its entry.
            pub fn page(&self) -> $crate::Page {
                match self { $($name::$entry(_) => <$entry as $crate::EntryParams>::PAGE,)+ }
            }

            /// Its name in files.
            pub fn name(&self) -> &'static str {
                self.page().stem
            }

            /// True if it has the parameter.
            pub fn has(&self, key: &str) -> bool {
                self.page().has(key)
            }

            /// All parameters with their values, in order.
            pub fn values(&self) -> Vec<(&'static str, $crate::Value)> {
                match self { $($name::$entry(params) => $crate::Described::values(params),)+ }
            }

            /// The value that names it, with the parameters that differ from their defaults.
            pub fn written(&self) -> $crate::Value {
                let changed = match self { $($name::$entry(params) => $crate::Described::changed(params),)+ };
                $crate::Catalogue::written(self.name(), changed)
            }
        }
    };
}
