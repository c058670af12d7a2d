//! The scene file: schema, places in the file, diagnostics, and building a simulation from it.
