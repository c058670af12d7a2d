//! Where the picture is taken from, and the lamps that stand around the camera.

use super::RenderSettings;
use glam::{DVec3, Vec3};

/// A perspective camera: an eye, where it looks, and how much it sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where rays begin, in metres, in world coordinates.
    pub eye: DVec3,
    /// The point in the middle of the picture.
    pub target: DVec3,
    /// Up in the picture and in the world; y unless there is a reason.
    pub up: DVec3,
    /// Vertical opening angle in degrees.
    pub fov: f64,
    /// Radius of what the picture is about; sets how far planes reach before they fade.
    pub radius: f64,
}

impl Camera {
    /// Frames the box `bounds = (min, max)`, which should enclose the items over all frames of an animation.
    ///
    /// `aspect` is width / height. Angles are in degrees: azimuth 0 looks along −z, 90 along −x; elevation is the
    /// height of the eye above the horizon.
    pub fn fit(bounds: (DVec3, DVec3), aspect: f64, azimuth: f64, elevation: f64) -> Camera {
        Camera::fit_points(&corners(bounds), aspect, azimuth, elevation)
    }

    /// Frames points that enclose what is to be seen, such as the corners of many boxes: closer than the one box
    /// around all of them, where things move slantwise or swing. Points that are not finite do not count.
    pub fn fit_points(points: &[DVec3], aspect: f64, azimuth: f64, elevation: f64) -> Camera {
        let mut framing = Framing::new(aspect, azimuth, elevation);
        points.iter().for_each(|p| framing.add(*p, 0.0));
        framing.camera()
    }

    /// Where points are in a picture, in pixels from its upper left corner; `None` behind the camera.
    pub fn projection(&self, settings: &RenderSettings) -> impl Fn(DVec3) -> Option<(f64, f64)> + use<> {
        let view = CameraView::new(self, settings);
        move |point| {
            let p = view.see(view.local(point)?);
            (p.z > NEAR).then(|| {
                let scale = view.focal / p.z;
                (f64::from(view.center[0] + p.x * scale), f64::from(view.center[1] - p.y * scale))
            })
        }
    }

    /// The smallest box around all finite points, ready for [`Camera::fit`]; a unit box if there are none.
    pub fn bounds<'a>(points: impl IntoIterator<Item = &'a DVec3>) -> (DVec3, DVec3) {
        let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for p in points.into_iter().filter(|p| p.is_finite()) {
            min = min.min(*p);
            max = max.max(*p);
        }
        if min.x <= max.x { (min, max) } else { (DVec3::splat(-1.0), DVec3::splat(1.0)) }
    }
}

/// Part of the picture's height or width, whichever is the tighter, that what is to be seen fills. The rest is air:
/// shadows fall sideways, and bodies pressed to the rim look cramped.
const FILLED: f64 = 0.77;
/// Vertical opening angle in degrees.
const OPENING: f64 = 28.0;

/// Places the camera so that points just fit, one after the other: none has to be kept.
///
/// Seen from a fixed direction, the four sides of what fits in the picture are planes of fixed directions. The points
/// furthest along these four settle everything.
#[derive(Clone, Copy)]
pub(crate) struct Framing {
    right: DVec3,
    up: DVec3,
    back: DVec3,
    /// Half the picture's width and height at unit depth, as far as it is to be filled.
    half: [f64; 2],
    /// Furthest along right, left, up and down.
    reach: [f64; 4],
    min: DVec3,
    max: DVec3,
}

impl Framing {
    /// As [`Camera::fit`].
    pub fn new(aspect: f64, azimuth: f64, elevation: f64) -> Framing {
        let aspect = if aspect.is_finite() { aspect.clamp(0.05, 20.0) } else { 4.0 / 3.0 };
        let (azimuth, elevation) = (azimuth.to_radians(), elevation.clamp(-89.0, 89.0).to_radians());
        let back =
            DVec3::new(azimuth.sin() * elevation.cos(), elevation.sin(), azimuth.cos() * elevation.cos());
        let right = DVec3::new(azimuth.cos(), 0.0, -azimuth.sin());
        let half = (0.5 * OPENING.to_radians()).tan() * FILLED;
        Framing {
            right,
            up: back.cross(right),
            back,
            half: [half * aspect, half],
            reach: [f64::NEG_INFINITY; 4],
            min: DVec3::INFINITY,
            max: DVec3::NEG_INFINITY,
        }
    }

    /// Takes in a ball; what is not finite does not count.
    pub fn add(&mut self, p: DVec3, radius: f64) {
        if !p.is_finite() || !radius.is_finite() {
            return;
        }
        let across = [p.dot(self.right), p.dot(self.up)];
        let depth = p.dot(self.back);
        for (k, reach) in self.reach.iter_mut().enumerate() {
            let slope = if k % 2 == 0 { 1.0 } else { -1.0 } / self.half[k / 2];
            *reach = reach.max(depth + slope * across[k / 2] + radius * slope.hypot(1.0));
        }
        self.min = self.min.min(p - radius);
        self.max = self.max.max(p + radius);
    }

    /// Takes in all that another of the same direction has.
    pub fn take_in(&mut self, other: &Framing) {
        self.reach = std::array::from_fn(|k| self.reach[k].max(other.reach[k]));
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Whether there is anything to see.
    pub fn is_empty(&self) -> bool {
        self.min.x > self.max.x
    }

    /// How far away the camera has to be.
    pub fn distance(&self) -> f64 {
        let camera = self.camera();
        camera.eye.distance(camera.target)
    }

    /// Between this one and another, `share` of the way; encloses what both enclose.
    pub fn mixed(&self, other: &Framing, share: f64) -> Framing {
        let mix = |a: f64, b: f64| a + share * (b - a);
        Framing {
            reach: std::array::from_fn(|k| mix(self.reach[k], other.reach[k])),
            min: self.min.lerp(other.min, share),
            max: self.max.lerp(other.max, share),
            ..*self
        }
    }

    /// Encloses all of a few bodies, and of a crowd most: one in fifty may be further out along each direction. There is
    /// room for it in the air around; if there is not, a single stray does not make all others small.
    pub fn around(bodies: &[Framing]) -> Option<Framing> {
        let first = bodies.first()?;
        let strays = bodies.len() / 50;
        let columns = std::array::from_fn(|k| {
            let mut column: Vec<f64> = bodies.iter().map(|body| body.columns()[k]).collect();
            column.sort_unstable_by(|a, b| b.total_cmp(a));
            column[strays]
        });
        Some(first.with_columns(columns))
    }

    /// Numbers that are the larger the more is enclosed; all of them above those of another enclose what it encloses.
    pub fn columns(&self) -> [f64; 10] {
        let ([a, b, c, d], high, low) = (self.reach, self.max, -self.min);
        [a, b, c, d, high.x, high.y, high.z, low.x, low.y, low.z]
    }

    /// With the same direction and other numbers.
    pub fn with_columns(&self, [a, b, c, d, x, y, z, u, v, w]: [f64; 10]) -> Framing {
        Framing { reach: [a, b, c, d], max: DVec3::new(x, y, z), min: -DVec3::new(u, v, w), ..*self }
    }

    /// The camera; of a unit box if there was nothing.
    pub fn camera(&self) -> Camera {
        if self.is_empty() {
            let mut unit = Framing { reach: [f64::NEG_INFINITY; 4], min: DVec3::INFINITY, ..*self };
            unit.max = DVec3::NEG_INFINITY;
            corners((DVec3::splat(-1.0), DVec3::splat(1.0))).into_iter().for_each(|p| unit.add(p, 0.0));
            return unit.camera();
        }
        let (min, max) = (self.min, self.max);
        let radius = (0.5 * (max - min).length()).max(1e-9 * (1.0 + min.length().max(max.length())));
        let [right, left, up, down] = self.reach;
        let middle = (0.5 * (min + max)).dot(self.back);
        let far = (0.5 * (right + left)).max(0.5 * (up + down)).max(middle + 1.05 * radius);
        let target = 0.5 * (right - left) * self.half[0] * self.right
            + 0.5 * (up - down) * self.half[1] * self.up
            + middle * self.back;
        Camera { eye: target + (far - middle) * self.back, target, up: DVec3::Y, fov: OPENING, radius }
    }
}

/// The corners of a box; of a unit box if this one is not finite.
pub(crate) fn corners(bounds: (DVec3, DVec3)) -> [DVec3; 8] {
    let (mut min, mut max) = (bounds.0.min(bounds.1), bounds.0.max(bounds.1));
    if !(min.is_finite() && max.is_finite()) {
        (min, max) = (DVec3::splat(-1.0), DVec3::splat(1.0));
    }
    std::array::from_fn(|corner| {
        let pick = |bit: usize, lo: f64, hi: f64| if corner >> bit & 1 == 0 { lo } else { hi };
        DVec3::new(pick(0, min.x, max.x), pick(1, min.y, max.y), pick(2, min.z, max.z))
    })
}

/// The camera in working form: f32 coordinates around the target, in units of the scene radius.
pub(super) struct CameraView {
    pub target: DVec3,
    /// Scene units to working units.
    pub scale: f64,
    pub eye: Vec3,
    pub right: Vec3,
    pub up: Vec3,
    pub forward: Vec3,
    /// Up in the world, not in the picture.
    pub sky: Vec3,
    /// Pixels for a unit length at unit depth.
    pub focal: f32,
    pub center: [f32; 2],
    pub size: [u32; 2],
    pub samples: u32,
    pub key: Vec3,
    pub fill: Vec3,
    pub rim: Vec3,
}

/// Nothing nearer to the eye than this (in scene radii) is drawn.
pub(super) const NEAR: f32 = 0.02;

impl CameraView {
    pub fn new(camera: &Camera, settings: &RenderSettings) -> CameraView {
        let finite = |v: DVec3, or: DVec3| if v.is_finite() { v } else { or };
        let target = finite(camera.target, DVec3::ZERO);
        let radius = if camera.radius.is_finite() && camera.radius > 0.0 { camera.radius } else { 1.0 };
        let scale = 1.0 / radius;
        let eye = (finite(camera.eye, target + DVec3::Z) - target) * scale;
        let eye = if eye.length() > 1e-6 { eye } else { DVec3::new(0.0, 0.0, 1e-3) };
        let eye = eye.clamp_length_max(1e6);
        let forward = -eye.normalize();
        let sky = finite(camera.up, DVec3::Y).normalize_or(DVec3::Y);
        let right = forward.cross(sky);
        let right = if right.length() > 1e-6 { right.normalize() } else { forward.any_orthonormal_vector() };
        let up = right.cross(forward);
        let fov = if camera.fov.is_finite() { camera.fov.clamp(0.5, 150.0) } else { 28.0 };
        let focal = 0.5 * f64::from(settings.height) / (0.5 * fov.to_radians()).tan();
        // The rig stands with the camera, turned so that "up" is the world's: the light always comes from the
        // upper left front, as in a photograph.
        let ahead = sky.cross(right);
        let rig = |r: f64, u: f64, a: f64| (r * right + u * sky + a * ahead).normalize().as_vec3();
        CameraView {
            target,
            scale,
            eye: eye.as_vec3(),
            right: right.as_vec3(),
            up: up.as_vec3(),
            forward: forward.as_vec3(),
            sky: sky.as_vec3(),
            focal: focal as f32,
            center: [0.5 * settings.width as f32, 0.5 * settings.height as f32],
            size: [settings.width, settings.height],
            samples: settings.samples,
            key: rig(-0.62, 1.25, -0.48),
            fill: rig(0.85, 0.35, -0.75),
            rim: rig(0.55, 0.75, 0.95),
        }
    }

    /// Working coordinates of a scene point; `None` if it is not finite or absurdly far away.
    pub fn local(&self, p: DVec3) -> Option<Vec3> {
        let q = (p - self.target) * self.scale;
        (q.is_finite() && q.abs().max_element() < 1e6).then(|| q.as_vec3())
    }

    /// Right, up and forward coordinates as seen from the eye.
    pub fn see(&self, p: Vec3) -> Vec3 {
        let q = p - self.eye;
        Vec3::new(q.dot(self.right), q.dot(self.up), q.dot(self.forward))
    }

    /// Direction through a point of the picture (in pixels), with unit depth along the view axis.
    pub fn ray(&self, x: f32, y: f32) -> Vec3 {
        self.forward
            + ((x - self.center[0]) / self.focal) * self.right
            + ((self.center[1] - y) / self.focal) * self.up
    }
}
