//! Which units and axes a program expects of a file, so that what was simulated stands upright and full size in it.
//!
//! Scenes are in metres with y up. Where a format says what it is in (USD) or must be so (glTF), and where a
//! program's importer turns y up by itself, nothing is converted; docs/exports.md tells why for each.

use super::Conversion;

/// A program that files are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Metres, z up; importers turn all but PLY.
    Blender,
    /// Centimetres, y up.
    Maya,
    /// Metres, y up.
    Houdini,
    /// Centimetres, z up, left-handed; importers turn and mirror, and scale what has units.
    Unreal,
    /// Metres, y up, left-handed; importers mirror. Its Alembic importer expects centimetres.
    Unity,
    /// Whatever it is given.
    Paraview,
}

impl Target {
    /// All programs.
    pub const ALL: [Target; 6] =
        [Target::Blender, Target::Maya, Target::Houdini, Target::Unreal, Target::Unity, Target::Paraview];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Blender => "blender",
            Target::Maya => "maya",
            Target::Houdini => "houdini",
            Target::Unreal => "unreal",
            Target::Unity => "unity",
            Target::Paraview => "paraview",
        }
    }

    /// What it expects of files with this extension (lower case, no dot).
    pub fn conversion(self, extension: &str) -> Conversion {
        let centimetres = Conversion { scale: 100.0, z_up: false };
        match (self, extension) {
            // Always metres, y up.
            (_, "glb" | "gltf") => Conversion::default(),
            (Target::Blender, "ply") => Conversion { scale: 1.0, z_up: true },
            (Target::Maya, _) => centimetres,
            (Target::Unreal, "abc" | "obj") => centimetres,
            (Target::Unity, "abc") => centimetres,
            _ => Conversion::default(),
        }
    }
}

/// What was asked for: a program, and single wishes that go before what it expects.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TargetOptions {
    /// The program that reads the files.
    pub target: Option<Target>,
    /// Units of the files per metre.
    pub scale: Option<f64>,
    /// Whether z is up in the files.
    pub z_up: Option<bool>,
}

impl TargetOptions {
    /// Units and axes of a file with this extension (lower case, no dot).
    pub fn conversion(&self, extension: &str) -> Conversion {
        let expected = self.target.map_or(Conversion::default(), |t| t.conversion(extension));
        if matches!(extension, "glb" | "gltf") {
            return expected;
        }
        Conversion { scale: self.scale.unwrap_or(expected.scale), z_up: self.z_up.unwrap_or(expected.z_up) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_what_they_expect_and_wishes_go_first() {
        let of = |target, extension| {
            TargetOptions { target: Some(target), ..Default::default() }.conversion(extension)
        };
        assert_eq!(of(Target::Blender, "pc2"), Conversion::default());
        assert!(of(Target::Blender, "ply").z_up);
        assert_eq!(of(Target::Maya, "usda").scale, 100.0);
        for target in Target::ALL {
            assert_eq!(of(target, "glb"), Conversion::default());
            assert!(target == Target::Maya || of(target, "usda") == Conversion::default());
        }
        let placing = TargetOptions { target: Some(Target::Maya), scale: Some(2.0), z_up: Some(true) };
        assert_eq!(placing.conversion("obj"), Conversion { scale: 2.0, z_up: true });
        assert_eq!(placing.conversion("glb"), Conversion::default());
        assert_eq!(TargetOptions::default().conversion("obj"), Conversion::default());
    }
}
