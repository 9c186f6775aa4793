//! Options of a script, which configure its host.

use sojourn_params::{Described, Errors, Spec};
use sojourn_tcp::cc::Choice;
use sojourn_tcp::{PROFILES, Profile};
use std::ops::RangeInclusive;

/// Configuration of the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// `--cc`: congestion control, by its name in the catalogue, with parameters: `cubic:hystart=false`.
    pub cc: Choice,
    /// `--profile`, with the settings of `--set`.
    pub profile: Profile,
    /// `--mss`: payload of a full-sized segment, bytes, excluding options.
    pub mss: u32,
    /// `--ecn`: the side that opens requests ECN.
    pub ecn: bool,
    /// `--role`.
    pub role: Role,
    /// `--kernel`: None if the script is for the kernel's TCP as well; otherwise the reason.
    pub not_for_kernel: Option<String>,
    /// `--pending`: reason for which our TCP does not pass yet.
    pub pending: Option<String>,
}

/// Side of the connection that the host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The host opens and sends data; the script acknowledges.
    Sender,
    /// The host accepts and acknowledges; the script sends data.
    Receiver,
}

impl Setup {
    /// Reads the options of a script from its lines.
    pub fn read(options: &[(usize, &str)]) -> Result<Setup, (usize, String)> {
        let mut setup = Setup::default();
        for (line, text) in options {
            setup.read_line(text).map_err(|message| (*line, message))?;
        }
        Ok(setup)
    }

    fn read_line(&mut self, line: &str) -> Result<(), String> {
        let mut rest = line;
        while let Some(option) = rest.strip_prefix("--") {
            // A reason may contain spaces: it extends to the end of the line.
            let reasons = ["kernel", "pending"].iter().any(|name| option.starts_with(name));
            let ends = if reasons { None } else { option.find(" --") };
            let (option, after) = ends.map_or((option, ""), |end| (&option[..end], &option[end + 1..]));
            self.read_option(option.trim())?;
            rest = after.trim_start();
        }
        if rest.is_empty() { Ok(()) } else { Err(no_option(rest)) }
    }

    fn read_option(&mut self, option: &str) -> Result<(), String> {
        if option == "ecn" {
            self.ecn = true;
            return Ok(());
        }
        if let Some(changes) = option.strip_prefix("set ") {
            return set(&mut self.profile, changes);
        }
        let (name, value) = option.split_once('=').ok_or_else(|| no_option(&format!("--{option}")))?;
        match name {
            "cc" => {
                let wrong = |errors: &Errors| format!("--cc={value}: {}", line(errors));
                self.cc = Choice::parse(value).map_err(|errors| wrong(&errors))?;
                self.cc.refuse_kernel().map_err(|error| wrong(&error.into()))?;
            }
            "profile" => {
                self.profile = profile(value)?;
            }
            "mss" => {
                let mss = number(value).ok().filter(|mss| SEGMENTS.contains(mss));
                let (least, most) = (SEGMENTS.start(), SEGMENTS.end());
                self.mss =
                    mss.ok_or_else(|| format!("\"{value}\" is no --mss; expected {least} to {most} bytes"))?;
            }
            "role" => {
                self.role = match value {
                    "sender" => Role::Sender,
                    "receiver" => Role::Receiver,
                    _ => return Err(format!("\"{value}\" is no --role; expected sender or receiver")),
                }
            }
            "kernel" => self.not_for_kernel = kernel(value)?,
            "pending" => self.pending = Some(reason(value)?),
            _ => return Err(no_option(&format!("--{name}"))),
        }
        Ok(())
    }
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            cc: "newreno".into(),
            profile: Profile::default(),
            mss: 1000,
            ecn: false,
            role: Role::Sender,
            not_for_kernel: Some("not stated".into()),
            pending: None,
        }
    }
}

/// The profile called `name`.
pub fn profile(name: &str) -> Result<Profile, String> {
    Profile::named(name).ok_or_else(|| format!("no profile \"{name}\"; expected {}", PROFILES.join(", ")))
}

/// `yes`, or `no: WHY`.
fn kernel(value: &str) -> Result<Option<String>, String> {
    if value == "yes" {
        return Ok(None);
    }
    reason(value.strip_prefix("no:").ok_or("--kernel=yes, or --kernel=no: WHY")?).map(Some)
}

fn reason(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("no reason; expected one after it".into())
    } else {
        Ok(text.trim().into())
    }
}

fn no_option(text: &str) -> String {
    format!(
        "\"{text}\" is no option; expected --cc, --profile, --set, --mss, --ecn, --role, --kernel, --pending"
    )
}

/// Range of a segment's payload: what IPv4 allows, options included.
const SEGMENTS: RangeInclusive<u32> = 1..=65_000;

/// Changes a setting of the profile, given as `NAME=VALUE`; names, words and ranges are those of scenarios.
fn set(profile: &mut Profile, setting: &str) -> Result<(), String> {
    let Spec { params, .. } = Spec::parse(&format!("tcp:{setting}")).map_err(|error| error.to_string())?;
    params.iter().try_for_each(|(name, value)| profile.assign(name, value)).map_err(|errors| line(&errors))
}

/// Errors in one line.
fn line(errors: &Errors) -> String {
    errors.to_string().replace('\n', "; ")
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a number that fits here"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Span;

    #[test]
    fn options_share_lines_and_a_reason_takes_the_rest_of_one() {
        let lines = [
            (3, "--cc=cubic --mss=1460 --ecn --set initial_window=2, ack_delay=25 ms"),
            (4, "--kernel=no: a -- b"),
        ];
        let setup = Setup::read(&lines).unwrap();
        assert_eq!((setup.cc.name(), setup.mss, setup.ecn), ("cubic", 1460, true));
        assert_eq!((setup.profile.initial_window, setup.profile.ack_delay), (2, Span::from_millis(25)));
        assert_eq!(setup.not_for_kernel.as_deref(), Some("a -- b"));
    }

    #[test]
    fn a_wrong_option_is_named_with_its_line() {
        for (line, hint) in [
            ("--color=blue", "--color"),
            ("--set colour=blue", "colour"),
            ("--set pipe=wide", "scoreboard, counted"),
            ("--set initial_window=0", "1 to 1000"),
            ("--cc=vegas", "runs live only"),
            ("--cc=veno", "veno"),
            ("--kernel=no:", "no reason"),
            ("--ecn yes", "ecn yes"),
        ] {
            let (number, message) = Setup::read(&[(7, line)]).unwrap_err();
            assert!(number == 7 && message.contains(hint), "{line}: {message}");
        }
    }
}
