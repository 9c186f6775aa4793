//! Catalogue entry of a law: its description and its constructors.

use crate::fluid_law::FluidLaw;
use crate::law::{Law, ParamValues};
use crate::link_context::LinkContext;
use sojourn_params::{InputError, Page};

/// A law of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Description and parameters.
    pub page: Page,
    /// Constructor.
    pub build: Build<dyn Law>,
    /// Constructor of the fluid counterpart. None: the fluid plant applies [`Law::probability`], or the law's page
    /// gives the reason why there is none.
    pub fluid: Option<Build<dyn FluidLaw>>,
}

/// Builds a law for a link from parameter values; parameters without a value take their defaults.
pub type Build<L> = fn(&ParamValues, &LinkContext) -> Result<Box<L>, InputError>;
