//! Every test of the engine but `no_allocation`, in one program: it is linked once.
#![allow(clippy::unwrap_used)] // tests may panic, and their helpers

mod animated_input;
mod balloon;
mod bodies_alone;
mod body_contact;
mod checkpoints;
mod colliders;
mod common;
mod conservation;
mod contact;
mod contact_energy;
mod contact_events;
#[path = "../counting/mod.rs"]
mod counting;
mod coupling_changes;
mod couplings;
mod deformer;
mod edits;
mod elements;
mod forces;
mod glue;
mod glue_cycles;
mod glue_response;
mod goals;
mod hinges;
mod hostile_input;
mod implicit_options;
mod keyframes;
mod lanes;
mod mass;
mod newton;
mod pins;
mod plasticity;
mod position_based;
mod projective_objective;
mod queries;
mod queries_no_allocation;
mod recovery;
mod reference;
mod refusals;
mod rigid;
mod same_bits;
#[cfg(feature = "serde")]
mod serde;
mod shown_surface;
mod sleep;
mod solids;
mod strain_limiting;
mod symmetry;
mod tearing;
mod thin_contact;
mod timeline;
mod unbreakable;
