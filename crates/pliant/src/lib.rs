//! Pliant, the engine: soft bodies that cannot blow up.
