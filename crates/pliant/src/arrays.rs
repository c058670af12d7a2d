//! From plain arrays to what calls take, so that a program with another version of glam, or with none, names nothing of it.

use glam::{DAffine3, DQuat, DVec3};

/// A placement by position and unit quaternion, `[x, y, z, w]`. A quaternion of another length is brought to 1; one of length 0,
/// or of no numbers, turns nothing.
///
/// ```
/// let quarter_turn = [0.0, 0.5_f64.sqrt(), 0.0, 0.5_f64.sqrt()]; // about y
/// let at = pliant::placement([0.0, 1.0, 0.0], quarter_turn);
/// let [x, y, z]: [f64; 3] = at.transform_point3([1.0, 0.0, 0.0].into()).into();
/// assert!(x.abs() < 1e-15 && y == 1.0 && (z + 1.0).abs() < 1e-15);
/// ```
pub fn placement(position: impl Into<DVec3>, rotation: [f64; 4]) -> DAffine3 {
    let rotation = DQuat::from_array(rotation);
    let length = rotation.length();
    let turns = length > 0.0 && length.is_finite();
    let rotation = if turns { rotation / length } else { DQuat::IDENTITY };
    DAffine3::from_rotation_translation(rotation, position.into())
}

/// Vectors of arrays, for calls that take many.
///
/// ```
/// # use pliant::{Body, Builder, shapes};
/// # let mut simulation = Builder::new().body(Body::new("ball", shapes::ball(0.2, 0.1)?)).build()?;
/// let forces = vec![[0.0, 1.0, 0.0]; simulation.model().particle_count()];
/// simulation.load(0, &pliant::vectors(forces))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn vectors(arrays: impl IntoIterator<Item = impl Into<DVec3>>) -> Vec<DVec3> {
    arrays.into_iter().map(Into::into).collect()
}
