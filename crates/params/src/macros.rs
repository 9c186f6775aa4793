//! Macros that define parameters and their words.

/// Defines an enum with a word for each value of a parameter.
///
/// ```
/// sojourn_params::choice! {
///     /// Rate of progress.
///     pub enum Pace {
///         /// one step after the other
///         Slow = "slow",
///         /// all at once
///         Fast = "fast",
///     }
/// }
/// use sojourn_params::{Quantity, Value};
/// assert_eq!(Pace::read(&Value::Text("fast".into())), Ok(Pace::Fast));
/// let error = Pace::read(&Value::Text("fats".into())).unwrap_err().to_string();
/// assert!(error.contains("did you mean \"fast\"?"));
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$about:meta])+
                $member:ident = $word:literal,
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$about])+ $member,)+
        }

        impl $crate::Quantity for $name {
            fn kind() -> $crate::Kind {
                $crate::Kind::Word(&[$($word),+])
            }
            fn read(value: &$crate::Value) -> Result<Self, $crate::Errors> {
                let members = [$($name::$member),+];
                Ok(members[$crate::word(value, &[$($word),+], "is none of the words")?])
            }
            fn write(&self) -> $crate::Value {
                $crate::Value::Text(match self { $($name::$member => $word.into(),)+ })
            }
        }
    };
}

/// Defines a struct of parameters together with their descriptions.
///
/// Each field reads: documentation; name, and its symbol in the source if it has one; type and default; range; the reason
/// of that default; the source of the definition, if it is not that of all. A field without a default is required, and
/// has no reason.
///
/// The range has two parts, and a field may have both, one, or that of its type:
///
/// | bounds | rule |
/// |---|---|
/// | `in 1 to 100`: with both ends | `where "rising" if is_rising`: in words and as a predicate |
/// | `in above 0.0 to 1.0`, `in 0.0 to below 1.0`, `in above 0.0 to below 1.0` | `where "less than max"`: of several parameters, which their reader or constructor checks |
/// | `at least 0.0`, `above 0.0` | |
/// | `within RATES`: a constant of type [`Bounds`](crate::Bounds) | |
///
/// Bounds of quantities are written as in a file: `above "0 s"`. Those of a queue are `above 0`, whatever its unit.
///
/// ```
/// sojourn_params::params! {
///     /// Parameters of a leaky integrator.
///     pub struct Params {
///         /// weight of a new sample in the average
///         weight "w_q": f64 = 0.002, in above 0.0 to 1.0, "Floyd and Jacobson 1993";
///         /// time between samples
///         period: Option<Span> = None, in "1 us" to "1 h", where "less than length", "a tenth of length", "RFC 2330";
///         /// length of the memory
///         length: Span, above "0 s";
///     }
/// }
/// use sojourn_params::{Described, Value};
/// use sojourn_units::Span;
/// let length = ("length".to_string(), Value::Text("1 s".into()));
/// let mut params = Params::from_values(&[length]).unwrap();
/// assert_eq!(params.weight, 0.002);
/// assert!(params.assign("weight", &Value::Number(2.0)).is_err());
/// assert_eq!(Params::fields()[0].range(), "more than 0, at most 1");
/// assert_eq!(Params::fields()[1].range(), "1 us to 1 h; less than length");
/// assert!(Params::from_values(&[]).unwrap_err().to_string().contains("length: is missing"));
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $about:literal])+
                $field:ident $($symbol:literal)? : $type:ty $(= $default:expr)?
                $(, in $(above $over:literal)? $($from:literal)? to $(below $under:literal)? $($up:literal)?)?
                $(, above $more:literal)?
                $(, at least $least:literal)?
                $(, within $bounds:path)?
                $(, where $rule:tt $(if $valid:expr)?)?
                $(, $why:literal $(, $source:literal)?)?
                ;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $about])+ pub $field: $type,)*
        }

        $crate::params!(@default $name $([$field $(= $default)?])*);

        impl $crate::Described for $name {
            fn fields() -> Vec<$crate::Field> {
                vec![$($crate::Field {
                    key: stringify!($field),
                    symbol: concat!($($symbol)?),
                    kind: <$type as $crate::Quantity>::kind(),
                    is_required: $crate::params!(@is_required $($default)?),
                    default: $crate::params!(@usual $type $(= $default)?),
                    bounds: $crate::params!(
                        @bounds
                        $(in $(above $over)? $($from)? to $(below $under)? $($up)?)?
                        $(above $more)? $(at least $least)? $(within $bounds)?
                    )
                    .or(<$type as $crate::Quantity>::BOUNDS),
                    rule: $crate::params!(@rule $type $(, $rule)?),
                    why: $crate::params!(@why $($default)? ; $($why)?),
                    about: concat!($($about),+).trim_ascii(),
                    source: concat!($($($source)?)?),
                }),*]
            }

            fn keys() -> Vec<&'static str> {
                vec![$(stringify!($field)),*]
            }

            fn value(&self, key: &str) -> $crate::Value {
                match key {
                    $(stringify!($field) => $crate::Quantity::write(&self.$field),)*
                    _ => $crate::Value::Absent,
                }
            }

            #[allow(unused_variables)]
            fn assign(&mut self, key: &str, value: &$crate::Value) -> Result<(), $crate::Errors> {
                match key {
                    $(stringify!($field) => {
                        self.$field = $crate::read_parameter(key, value, Self::fields, $crate::params!(
                            @is_valid $type, [
                                $(in $(above $over)? $($from)? to $(below $under)? $($up)?)?
                                $(above $more)? $(at least $least)? $(within $bounds)?
                            ]
                            $($($valid)?)?
                        ))?;
                        Ok(())
                    })*
                    _ => Err($crate::InputError::unknown_key(key, Self::keys()).into()),
                }
            }

            fn take(&mut self, key: &str, other: &Self) {
                match key {
                    $(stringify!($field) => {
                        self.$field = $crate::Quantity::after(&self.$field, &other.$field);
                    })*
                    _ => {}
                }
            }

            #[allow(unused_variables)]
            fn from_table(table: &mut $crate::Table<'_>) -> Option<Self> {
                $(let $field: Option<$type> = table.take(
                    stringify!($field),
                    $crate::params!(@given $($default)?),
                    Self::fields,
                    $crate::params!(
                        @is_valid $type, [
                            $(in $(above $over)? $($from)? to $(below $under)? $($up)?)?
                            $(above $more)? $(at least $least)? $(within $bounds)?
                        ]
                        $($($valid)?)?
                    ),
                );)*
                Some($name { $($field: $field?,)* })
            }
        }

        /// A table of these keys.
        impl $crate::Quantity for $name {
            fn kind() -> $crate::Kind {
                $crate::Kind::Keys(<$name as $crate::Described>::fields)
            }
            fn read(value: &$crate::Value) -> Result<Self, $crate::Errors> {
                <$name as $crate::Described>::from_values($crate::table_of(value)?)
            }
            fn write(&self) -> $crate::Value {
                $crate::Value::Table($crate::Described::changed(self))
            }
        }
    };

    // A struct in which a parameter is required has no default.
    (@default $name:ident $([$field:ident = $default:expr])*) => {
        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }
    };
    (@default $name:ident $($fields:tt)*) => {};

    (@is_required) => { true };
    (@is_required $default:expr) => { false };

    (@usual $type:ty) => { $crate::Value::Absent };
    (@usual $type:ty = $default:expr) => {{
        let usual: $type = $default;
        $crate::Quantity::write(&usual)
    }};

    (@given) => { None };
    (@given $default:expr) => { Some(|| $default) };

    // Every default has its reason, and nothing else has one.
    (@why $default:expr ; $why:literal) => { $why };
    (@why ;) => { "" };

    (@rule $type:ty) => { <$type as $crate::Quantity>::RULE };
    (@rule $type:ty, $rule:tt) => { $rule };

    (@bounds) => { $crate::Bounds::NONE };
    (@bounds in $low:literal to $high:literal) => {
        $crate::Bounds::at_least($crate::Edge::from($low)).to($crate::Edge::from($high))
    };
    (@bounds in above $low:literal to $high:literal) => {
        $crate::Bounds::above($crate::Edge::from($low)).to($crate::Edge::from($high))
    };
    (@bounds in $low:literal to below $high:literal) => {
        $crate::Bounds::at_least($crate::Edge::from($low)).below($crate::Edge::from($high))
    };
    (@bounds in above $low:literal to below $high:literal) => {
        $crate::Bounds::above($crate::Edge::from($low)).below($crate::Edge::from($high))
    };
    (@bounds above $low:literal) => { $crate::Bounds::above($crate::Edge::from($low)) };
    (@bounds at least $low:literal) => { $crate::Bounds::at_least($crate::Edge::from($low)) };
    (@bounds within $bounds:path) => { $bounds };

    (@is_valid $type:ty, []) => { |_: &$type| true };
    (@is_valid $type:ty, [] $valid:expr) => {{
        let is_valid: fn(&$type) -> bool = $valid;
        is_valid
    }};
    (@is_valid $type:ty, [$($bounds:tt)+]) => {
        |read: &$type| $crate::params!(@bounds $($bounds)+).contain(read)
    };
    (@is_valid $type:ty, [$($bounds:tt)+] $valid:expr) => {
        |read: &$type| {
            let is_valid: fn(&$type) -> bool = $valid;
            $crate::params!(@bounds $($bounds)+).contain(read) && is_valid(read)
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::*;
    use sojourn_units::*;

    params! {
        /// Example parameters.
        #[allow(unreachable_pub)]
        pub struct Sample {
            /// the set-point
            target "q_ref": Amount = Amount::Packets(100.0), above 0, "made up";
            /// the gain
            gain "a": Option<f64> = None, in above 0.0 to below 9.0,
                where "in halves" if |gain| gain.is_none_or(is_in_halves), "made up";
            /// a share
            share: Option<Prob> = None, above 0.0, "made up";
        }
    }

    fn is_in_halves(gain: f64) -> bool {
        (2.0 * gain).fract() == 0.0
    }

    params! {
        /// Parameters without a default.
        #[allow(unreachable_pub)]
        pub struct Needy {
            /// a length
            length: Span, above "0 s";
            /// a number
            number: f64, in 1.0 to 9.0;
        }
    }

    #[test]
    fn a_written_value_reads_back() {
        let mut sample = Sample::default();
        sample.assign("gain", &Value::Number(0.5)).unwrap();
        let written: Vec<(String, Value)> = sample
            .values()
            .into_iter()
            .filter(|(_, value)| *value != Value::Absent)
            .map(|(key, value)| (key.to_string(), value))
            .collect();
        assert_eq!(Sample::from_values(&written), Ok(sample));
    }

    #[test]
    fn an_example_of_a_kind_is_read_by_its_type() {
        fn reads<T: Quantity>() -> bool {
            let example = T::kind().example().trim_matches('"').to_string();
            let units = T::kind().units();
            T::read(&Value::Text(example.clone())).is_ok() && units.iter().any(|unit| example.ends_with(unit))
        }
        assert!(reads::<Amount>() && reads::<Span>() && reads::<LinkRate>());
        assert!(reads::<Frequency>() && reads::<Bytes>());
        assert!(Kind::Flag.units().is_empty());
    }

    #[test]
    fn a_list_may_have_one_number_without_brackets() {
        let seven = Ok(vec![7]);
        assert_eq!(Vec::<u64>::read(&Value::Whole(7)), seven);
        assert_eq!(Vec::<u64>::read(&Value::List(vec![Value::Whole(7)])), seven);
        let error = Vec::<u64>::read(&Value::List(vec![Value::Text("x".into())])).unwrap_err();
        assert_eq!(error.to_string(), "\"x\" is not a whole number; write it like 50");
        let error = Vec::<u64>::read(&Value::Flag(true)).unwrap_err();
        assert_eq!(error.to_string(), "true is not a list of whole numbers; write it like [7, 9]");
    }

    #[test]
    fn an_error_names_key_value_range_and_source() {
        let error = Sample::default().assign("gain", &Value::Number(-1.0)).unwrap_err();
        let range = "more than 0, less than 9; in halves";
        assert_eq!(error.to_string(), format!("gain: -1.0 is out of range; expected {range}"));
        for gain in [9.0, 0.3] {
            let error = Sample::default().assign("gain", &Value::Number(gain)).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("gain: {gain} is out of range; expected {range}").replace("9 is", "9.0 is")
            );
        }
        assert_eq!(Sample::default().assign("gain", &Value::Number(8.5)), Ok(()));
        let error = Sample::default().assign("gian", &Value::Number(1.0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "gian: unknown key; did you mean \"gain\"? (expected target, gain, share)"
        );
    }

    #[test]
    fn an_error_of_a_value_has_units_an_example_and_the_range() {
        let sample = |key: &str, value: &Value| {
            Sample::default().assign(key, value).map_err(|errors| errors.to_string()).unwrap_err()
        };
        let needy = |key: &str, value: &Value| {
            let other =
                if key == "length" { ("number", Value::Number(2.0)) } else { ("length", text("1 s")) };
            let given = [(key.to_string(), value.clone()), (other.0.to_string(), other.1)];
            Needy::from_values(&given).unwrap_err().to_string()
        };
        assert_eq!(
            needy("length", &Value::Whole(60)),
            "length: \"60\" needs a unit; expected a time such as \"20 ms\" (ns, us, ms, s, min, h; more than 0 s)"
        );
        assert_eq!(
            needy("length", &Value::Flag(true)),
            "length: true is not text with a unit; expected a time such as \"20 ms\" (more than 0 s)"
        );
        assert_eq!(needy("length", &text("-1 s")), "length: \"-1 s\" is negative; expected more than 0 s");
        assert_eq!(needy("number", &text("x")), "number: \"x\" is not a number; expected a number (1 to 9)");
        let error = sample("target", &Value::Whole(100));
        let expected = "expected a queue such as \"100 packets\" (packets, packet, B, kB,";
        assert!(error.contains(expected) && error.ends_with("; more than 0)"), "{error}");
        assert_eq!(
            sample("target", &Value::Number(f64::NAN)),
            "target: \"NaN\" is not a number with a unit; expected a queue such as \"100 packets\" (more than 0)"
        );
        let error = sample("share", &Value::Number(1.5));
        assert_eq!(error, "share: 1.5 is not a probability; expected more than 0, at most 1");
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn a_table_lists_its_errors_in_the_order_of_its_keys() {
        let given = [("x", Value::Flag(true)), ("number", Value::Number(0.0)), ("x", Value::Flag(true))];
        let given = given.map(|(key, value)| (key.to_string(), value));
        assert_eq!(
            Needy::from_values(&given).unwrap_err().to_string(),
            "x: unknown key (expected length, number)\nnumber: 0.0 is out of range; expected 1 to 9\n\
             x: is given twice; expected once\nlength: is missing; expected a time such as \"20 ms\" (more than 0 s)"
        );
    }
}
