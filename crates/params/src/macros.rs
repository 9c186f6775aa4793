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
/// Each field reads: documentation; `name: type = default`; its symbol, if it has one; the valid range, if its type has
/// values out of it: in words and as a predicate, or `in LOW to HIGH` for whole numbers; the reason of that default;
/// the source of the definition, if it is not that of all.
///
/// ```
/// sojourn_params::params! {
///     /// Parameters of a leaky integrator.
///     pub struct Params {
///         /// weight of a new sample in the average
///         weight: f64 = 0.002, "w_q", "0 < weight <= 1" if |w| *w > 0.0 && *w <= 1.0,
///             "Floyd and Jacobson 1993";
///         /// samples that it begins with
///         samples: u64 = 1, in 1 to 100, "the first one alone", "RFC 2330";
///     }
/// }
/// use sojourn_params::{Described, Value};
/// assert!(Params::default().assign("weight", &Value::Number(2.0)).is_err());
/// assert_eq!(Params::fields()[1].range(), "1 to 100");
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $about:literal])+
                $field:ident : $type:ty = $default:expr,
                $(in $low:literal to $high:literal,)?
                $($words:literal $(if $valid:expr)?),+
                ;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $about])+ pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $crate::Described for $name {
            fn fields() -> Vec<$crate::Field> {
                #[allow(unused_variables)]
                let default = <$name as Default>::default();
                vec![$({
                    let [symbol, rule, why, source] = $crate::params!(@words $($words $(if $valid)?),+);
                    $crate::Field {
                        key: stringify!($field),
                        symbol,
                        kind: <$type as $crate::Quantity>::kind(),
                        is_required: <$type as $crate::Quantity>::IS_REQUIRED,
                        default: $crate::Quantity::write(&default.$field),
                        bounds: $crate::params!(@bounds $($low to $high)?),
                        rule,
                        why,
                        about: concat!($($about),+).trim_ascii(),
                        source,
                    }
                }),*]
            }

            fn has(key: &str) -> bool {
                [$(stringify!($field)),*].contains(&key)
            }

            fn required() -> Vec<&'static str> {
                let fields = [$((stringify!($field), <$type as $crate::Quantity>::IS_REQUIRED)),*];
                fields.into_iter().filter(|(_, is_required)| *is_required).map(|(key, _)| key).collect()
            }

            #[allow(unused_variables)]
            fn assign(&mut self, key: &str, value: &$crate::Value) -> Result<(), $crate::Errors> {
                match key {
                    $(stringify!($field) => {
                        let out_of_range = || {
                            let fields = <$name as $crate::Described>::fields();
                            let field = fields.iter().find(|field| field.key == key);
                            let range = field.map_or(String::new(), $crate::Field::range);
                            $crate::Errors::from($crate::InputError::out_of_range(value, range).at(key))
                        };
                        if !$crate::is_within(value, $crate::params!(@bounds $($low to $high)?)) {
                            return Err(out_of_range());
                        }
                        let read = <$type as $crate::Quantity>::read(value).map_err(|errors| errors.at(key))?;
                        let is_valid: fn(&$type) -> bool = $crate::params!(@valid $($words $(if $valid)?),+);
                        if !is_valid(&read) {
                            return Err(out_of_range());
                        }
                        self.$field = read;
                        Ok(())
                    })*
                    _ => Err($crate::InputError::unknown_key(key, [$(stringify!($field)),*]).into()),
                }
            }

            fn take(&mut self, key: &str, other: &Self) {
                match key {
                    $(stringify!($field) => self.$field.clone_from(&other.$field),)*
                    _ => {}
                }
            }

            fn values(&self) -> Vec<(&'static str, $crate::Value)> {
                vec![$((stringify!($field), $crate::Quantity::write(&self.$field)),)*]
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
    (@words $symbol:literal, $rule:literal if $valid:expr, $why:literal $(, $source:literal)?) => {
        [$symbol, $rule, $why, concat!($($source)?)]
    };
    (@words $rule:literal if $valid:expr, $why:literal $(, $source:literal)?) => {
        ["", $rule, $why, concat!($($source)?)]
    };
    (@words $why:literal $(, $source:literal)?) => {
        ["", "", $why, concat!($($source)?)]
    };
    (@valid $symbol:literal, $rule:literal if $valid:expr $(, $more:literal)+) => { $valid };
    (@valid $rule:literal if $valid:expr $(, $more:literal)+) => { $valid };
    (@valid $($more:literal),+) => { |_| true };
    (@bounds $low:literal to $high:literal) => { Some(($low, $high)) };
    (@bounds) => { None };
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
            target: Amount = Amount::Packets(100.0), "q_ref", "any queue" if |_| true, "made up";
            /// the gain
            gain: Option<f64> = None, "a", "more than 0" if |a| a.is_none_or(|a| a > 0.0), "made up";
        }
    }

    #[test]
    fn a_written_value_reads_back() {
        let mut sample = Sample::default();
        sample.assign("gain", &Value::Number(0.5)).unwrap();
        let written: Vec<(String, Value)> =
            sample.values().into_iter().map(|(key, value)| (key.to_string(), value)).collect();
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
        assert_eq!(error.to_string(), "gain: -1.0 is out of range; expected more than 0");
        let error = Sample::default().assign("gian", &Value::Number(1.0)).unwrap_err();
        assert_eq!(error.to_string(), "gian: unknown key; did you mean \"gain\"? (expected target, gain)");
        let error = Sample::default().assign("target", &Value::Whole(100)).unwrap_err();
        assert!(error.to_string().contains("needs a unit"), "{error}");
        let error = Sample::default().assign("target", &Value::Number(f64::NAN)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "target: \"NaN\" is not a number with a unit; write it like \"300 packets\""
        );
    }
}
