//! A guess at the units of a mesh: files rarely say, and a bear of 26 metres falls differently from one of 26 cm.

use glam::DVec3;

/// What a mesh's numbers probably mean.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnitGuess {
    /// Name of the unit, such as "centimetres".
    pub unit: &'static str,
    /// Scale by this to get metres.
    pub metres_per_unit: f64,
    /// The longest extent in metres, if the guess is right.
    pub size: f64,
    /// What suggests it, in words for a user: the size of the mesh, or what wrote the file.
    pub reason: String,
}

/// Guesses from the size of the bounding box and the format (as `MeshFile::format` says it; may be empty).
pub fn guess_units(extent: DVec3, format: &str) -> UnitGuess {
    let longest = extent.max_element();
    let format = format.to_lowercase();
    let guess = |unit, metres_per_unit: f64, why: &str| {
        let size = longest * metres_per_unit;
        let reason = format!("{} units long: {why}", short(longest));
        UnitGuess { unit, metres_per_unit, size, reason }
    };
    if format.contains("gltf") || format.contains("glb") {
        return guess("metres", 1.0, "glTF files are in metres");
    }
    if format.contains("stl") && longest >= 5.0 {
        return guess("millimetres", 0.001, "STL files mostly come from CAD and are in millimetres");
    }
    // Things that people simulate are mostly between a few centimetres and a few metres long.
    match longest {
        l if l <= 0.0 => guess("metres", 1.0, "there is no size to tell from"),
        l if l < 0.01 => guess("metres", 1.0, "very small in any unit; scale it to the size it should have"),
        l if l <= 10.0 => guess("metres", 1.0, "likely metres (or a model scaled to a size of about one)"),
        l if l <= 300.0 => guess("centimetres", 0.01, "likely centimetres"),
        l if l <= 10_000.0 => guess("millimetres", 0.001, "likely millimetres"),
        _ => guess("millimetres", 0.001, "very large in any unit; scale it to the size it should have"),
    }
}

/// A number with three figures.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || !(1e-3..1e6).contains(&x.abs()) {
        return format!("{x:.2e}").replace("0.00e0", "0");
    }
    let digits = (2 - x.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_follow_size_and_format() {
        let bear = guess_units(DVec3::new(12.0, 26.0, 9.0), "OBJ");
        assert_eq!((bear.unit, bear.metres_per_unit), ("centimetres", 0.01));
        assert!((bear.size - 0.26).abs() < 1e-12);
        assert_eq!(bear.reason, "26 units long: likely centimetres");
        assert_eq!(guess_units(DVec3::splat(26.0), "GLB").unit, "metres");
        assert_eq!(guess_units(DVec3::splat(26.0), "STL, binary").unit, "millimetres");
        assert_eq!(guess_units(DVec3::ONE, "").unit, "metres");
        assert_eq!(guess_units(DVec3::ZERO, "").metres_per_unit, 1.0);
        assert_eq!(guess_units(DVec3::splat(1800.0), "").size, 1.8);
    }

    #[test]
    fn short_numbers() {
        let pairs = [(0.0, "0"), (26.0, "26"), (0.2612, "0.261"), (1234.5, "1234"), (1e9, "1.00e9")];
        pairs.iter().for_each(|&(x, text)| assert_eq!(short(x), text));
    }
}
