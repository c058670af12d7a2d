//! How bodies look and how pictures of them are taken: words of scenes, kept in logs, acted on by the renderer.
//!
//! Defined here because all of them use this crate; each word exists once.

/// Words of a fixed list, each with a name in files and on the command line.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$variant_about:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_about])* $variant),+ }

        impl $name {
            /// All of them, the default first.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Their names, in the same order.
            pub const NAMES: &'static [&'static str] = &[$($word),+];

            /// Name in files and on the command line.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            /// The one of this name.
            pub fn named(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|word| word.name() == name)
            }
        }
    };
}

words! {
    /// How a surface answers light.
    Look {
        /// Glossy, translucent gelatine: darker and more saturated where it is thick, glowing where it is thin.
        #[default]
        Jelly = "jelly",
        /// Plain and rough, for diagrams and colour maps: colours are close to what was asked for.
        Matte = "matte",
        /// Thin woven sheet: lit from both sides, smooth across all folds, a little light coming through.
        Cloth = "cloth",
        /// Matte, and not what the picture is about: a table, a press, a line. Pictures neither name it nor make room
        /// for it.
        Prop = "prop",
    }
}

words! {
    /// What colours show.
    ColorBy {
        /// The body's own colour.
        #[default]
        Body = "body",
        /// Relative deformation.
        Strain = "strain",
        /// By the cluster whose centre is nearest to a particle: neighbours have colours that are told apart.
        Cluster = "cluster",
        /// By speed in m/s, from still to the fastest particle of the film.
        Speed = "speed",
    }
}

words! {
    /// Whether the camera goes along with what it shows.
    CameraMotion {
        /// It follows where a fixed one would show everything small, and stands still elsewhere.
        #[default]
        Auto = "auto",
        /// It stands where all of the run is in the picture.
        Fixed = "fixed",
        /// It keeps what is there at each moment in the picture.
        Follow = "follow",
    }
}

/// Size, camera and colours of pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureSettings {
    /// Pixels in a row of a picture; where one is drawn, at most 16,384.
    pub width: u32,
    /// Rows of a picture; where one is drawn, at most 16,384.
    pub height: u32,
    /// What colours show.
    pub color_by: ColorBy,
    /// Direction of the camera around the scene, degrees; 0 looks along −z.
    pub azimuth: f64,
    /// Height of the camera, degrees above the horizon.
    pub elevation: f64,
    /// Whether the camera goes along with what it shows.
    pub camera: CameraMotion,
}

impl Default for PictureSettings {
    fn default() -> Self {
        PictureSettings {
            width: 480,
            height: 360,
            color_by: ColorBy::Body,
            azimuth: 25.0,
            elevation: 15.0,
            camera: CameraMotion::Auto,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_by_its_name_and_the_default_is_the_first() {
        for &look in Look::ALL {
            assert_eq!(Look::named(look.name()), Some(look));
        }
        for &by in ColorBy::ALL {
            assert_eq!(ColorBy::named(by.name()), Some(by));
        }
        assert_eq!(CameraMotion::named("follow"), Some(CameraMotion::Follow));
        assert_eq!(CameraMotion::named("Follow"), None);
        assert_eq!(Look::ALL[0], Look::default());
        assert_eq!(ColorBy::ALL[0], ColorBy::default());
        assert_eq!(CameraMotion::ALL[0], CameraMotion::default());
    }
}
