//! What is said where a command was left out when the program was built.

use crate::failure::Failure;

/// Names what is missing and the feature that brings it.
pub fn failure(what: &str, feature: &str) -> Failure {
    Failure::usage(format!(
        "this build of pliant leaves out `{what}`; build it with `--features {feature}`, or with the default features"
    ))
}
