//! The papers' figures redrawn from our own runs, and verdicts on their claims.
