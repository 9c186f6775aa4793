//! Catalogue entry of a law: its description, and its design for a link.

use crate::fluid_law::FluidLaw;
use crate::law::Law;
use crate::link_context::LinkContext;
use sojourn_params::{Errors, Given, InputError, Page, Params, Value};
use std::sync::Arc;

/// A law of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Description and parameters.
    pub page: Page,
    /// Reads its given parameters.
    pub read: Read,
    /// Designs it.
    pub design: Design,
}

/// Reads given parameters: all errors of them.
pub type Read = fn(&[(String, Value)]) -> Result<Given, Errors>;

/// Designs a law for a link from the parameters of its entry; the last errors are those of parameters that do not fit
/// the link or each other.
pub type Design = fn(&dyn Params, &LinkContext) -> Result<Designed, InputError>;

/// A law designed for its link, as it is at the start of a run. Each run takes a copy.
#[derive(Clone)]
pub struct Designed {
    law: Arc<dyn Law + Sync>,
    fluid: Option<Arc<dyn FluidLaw + Sync>>,
}

impl Designed {
    /// Of a law without a fluid counterpart: the fluid plant applies [`Law::probability`], or the law's page gives the
    /// reason why there is none.
    pub fn new(law: impl Law + Sync + 'static) -> Designed {
        Designed { law: Arc::new(law), fluid: None }
    }

    /// Of a law of the caller, such as one written in Python.
    pub fn custom(law: Box<dyn Law + Sync>) -> Designed {
        Designed { law: law.into(), fluid: None }
    }

    /// Adds its fluid counterpart.
    pub fn with_fluid(self, fluid: impl FluidLaw + Sync + 'static) -> Designed {
        Designed { fluid: Some(Arc::new(fluid)), ..self }
    }

    /// The law, without a copy.
    pub fn as_law(&self) -> &dyn Law {
        &*self.law
    }

    /// A copy of the law.
    pub fn law(&self) -> Box<dyn Law> {
        dyn_clone::clone_box(&*self.law)
    }

    /// A copy of the fluid counterpart, if there is one.
    pub fn fluid(&self) -> Option<Box<dyn FluidLaw>> {
        self.fluid.as_ref().map(|fluid| -> Box<dyn FluidLaw> { dyn_clone::clone_box(&**fluid) })
    }

    /// True if the fluid plant can run it.
    pub fn is_for_fluids(&self) -> bool {
        self.law.probability().is_some() || self.fluid.is_some()
    }
}
