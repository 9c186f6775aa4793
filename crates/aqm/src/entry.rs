//! Catalogue entry of a law: its description and its constructors.

use crate::fluid_law::FluidLaw;
use crate::law::Law;
use crate::link_context::LinkContext;
use sojourn_params::{Errors, Given, InputError, Page, Params, Value};

/// A law of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Description and parameters.
    pub page: Page,
    /// Reads its given parameters.
    pub read: Read,
    /// Constructor.
    pub build: Build<dyn Law>,
    /// Constructor of the fluid counterpart. None: the fluid plant applies [`Law::probability`], or the law's page
    /// gives the reason why there is none.
    pub fluid: Option<Build<dyn FluidLaw>>,
}

/// Reads given parameters: all errors of them.
pub type Read = fn(&[(String, Value)]) -> Result<Given, Errors>;

/// Builds a law for a link from the parameters of its entry.
pub type Build<L> = fn(&dyn Params, &LinkContext) -> Result<Box<L>, InputError>;
