//! Where the camera goes while an animation plays: nowhere, or smoothly along with what moves.

use super::camera::{Camera, Framing};
use glam::DVec3;
use pliant_geometry::CameraMotion;

/// Seconds before and after a moment that its camera knows of: it sets off before what it follows, and arrives after.
const AHEAD: f64 = 0.4;
/// A fixed camera that shows things on average smaller than this share of their size in a frame of their own follows.
const SMALL: f64 = 0.55;

struct PathSample {
    time: f64,
    /// What is to be seen then.
    framing: Framing,
    /// How far away the camera is, which may be further than the framing needs.
    distance: f64,
}

/// What `of` makes of each value and the `half` before and after it. Beyond the ends the last values go on, so that a
/// camera does not set off with a jerk.
fn windows(values: &[f64], half: usize, of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let end = values.len().saturating_sub(1);
    let padded: Vec<f64> =
        (0..values.len() + 2 * half).map(|k| values[k.saturating_sub(half).min(end)]).collect();
    padded.windows(2 * half + 1).map(of).collect()
}

/// Values without jerks that are nowhere below those given, and not much above.
///
/// Averaged twice over `half` before and after, which keeps what changes evenly as it is. Where that is too low, what is
/// missing is added, averaged in the same way from the most that is missing within reach of the average.
fn smooth_above(values: &[f64], half: usize) -> Vec<f64> {
    let twice = |values: &[f64]| {
        let mean = |w: &[f64]| w.iter().sum::<f64>() / w.len() as f64;
        windows(&windows(values, half, mean), half, mean)
    };
    let smooth = twice(values);
    let missing: Vec<f64> = values.iter().zip(&smooth).map(|(v, s)| (v - s).max(0.0)).collect();
    let missing = twice(&windows(&missing, 2 * half, |w| w.iter().copied().fold(0.0, f64::max)));
    smooth.iter().zip(missing).map(|(s, m)| s + m).collect()
}

/// Looks over an animation, moment by moment and body by body, to find the path of the camera.
pub struct CameraPlanner {
    empty: Framing,
    /// Bodies of the moment that is being looked at.
    bodies: Vec<Framing>,
    seen: Vec<(f64, Framing)>,
}

impl CameraPlanner {
    /// Seen from a direction, as in [`Camera::fit`].
    pub fn new(aspect: f64, azimuth: f64, elevation: f64) -> CameraPlanner {
        let empty = Framing::new(aspect, azimuth, elevation);
        CameraPlanner { empty, bodies: Vec::new(), seen: Vec::new() }
    }

    /// A body that is to be seen at the coming moment: balls of one radius. Points that are not finite do not count.
    pub fn body(&mut self, points: &[DVec3], radius: f64) {
        let mut body = self.empty;
        points.iter().for_each(|p| body.add(*p, radius));
        if !body.is_empty() {
            self.bodies.push(body);
        }
    }

    /// The bodies since the last moment are what there is to see at this one; in order of time.
    pub fn moment(&mut self, time: f64) {
        if let Some(framing) = Framing::around(&self.bodies) {
            self.seen.push((time, framing));
        }
        self.bodies.clear();
    }

    /// How the camera follows all points it was shown, frame by frame, moved as `motion` says.
    pub fn path(self, motion: CameraMotion) -> CameraPath {
        if self.seen.is_empty() {
            return CameraPath::new(vec![(0.0, self.empty)], motion);
        }
        CameraPath::new(self.seen, motion)
    }
}

/// The camera at every moment.
pub struct CameraPath {
    /// Moments in order; a fixed camera has one.
    moments: Vec<PathSample>,
}

impl CameraPath {
    /// From what there is to see at some moments, in order of time; not empty.
    ///
    /// What a framing encloses is told by numbers, so their smoothed course from above encloses all of it: nothing leaves
    /// the picture, the camera moves without jerks, and what it follows fills the picture at every moment. The same is
    /// done once more with its distance, which would have a kink where what fills the picture changes from its width to
    /// its height.
    fn new(seen: Vec<(f64, Framing)>, motion: CameraMotion) -> CameraPath {
        let union = |from: &[Framing]| {
            let mut all = from[0];
            from.iter().for_each(|framing| all.take_in(framing));
            all
        };
        let framings: Vec<Framing> = seen.iter().map(|(_, framing)| *framing).collect();
        let whole = union(&framings);
        let small = || {
            let sum: f64 = framings.iter().map(Framing::distance).sum();
            sum < SMALL * seen.len() as f64 * whole.distance()
        };
        let follows = match motion {
            CameraMotion::Fixed => false,
            CameraMotion::Follow => true,
            CameraMotion::Auto => small(),
        };
        if !follows {
            let distance = whole.distance();
            return CameraPath { moments: vec![PathSample { time: 0.0, framing: whole, distance }] };
        }
        // Moments are evenly spaced, as frames are.
        let last = seen.len() - 1;
        let apart = (seen[last].0 - seen[0].0) / last.max(1) as f64;
        let half = if apart > 0.0 { ((0.5 * AHEAD / apart) as usize).clamp(1, last.max(1)) } else { 0 };
        let columns: Vec<[f64; 10]> = framings.iter().map(Framing::columns).collect();
        let column = |k: usize| columns.iter().map(|c| c[k]).collect::<Vec<f64>>();
        let smooth: [Vec<f64>; 10] = std::array::from_fn(|k| smooth_above(&column(k), half));
        let smooth = (0..framings.len()).map(|i| std::array::from_fn(|k| smooth[k][i]));
        let framings: Vec<Framing> =
            framings.iter().zip(smooth).map(|(f, columns)| f.with_columns(columns)).collect();
        let needed: Vec<f64> = framings.iter().map(Framing::distance).collect();
        let distances = smooth_above(&needed, half);
        let moments = seen.iter().zip(framings).zip(distances);
        CameraPath {
            moments: moments
                .map(|(((time, _), framing), distance)| PathSample { time: *time, framing, distance })
                .collect(),
        }
    }

    /// The camera at a moment; between two that are known it goes straight from one to the other.
    pub fn at(&self, time: f64) -> Camera {
        let next = self.moments.partition_point(|m| m.time <= time).min(self.moments.len() - 1);
        let (before, after) = (&self.moments[next.saturating_sub(1)], &self.moments[next]);
        let duration = after.time - before.time;
        let share = if duration > 0.0 { ((time - before.time) / duration).clamp(0.0, 1.0) } else { 0.0 };
        let camera = before.framing.mixed(&after.framing, share).camera();
        let distance = before.distance + share * (after.distance - before.distance);
        // From a single moment the camera is where its framing says, to the last bit.
        match self.moments.len() {
            1 => camera,
            _ => {
                Camera { eye: camera.target + (camera.eye - camera.target).normalize() * distance, ..camera }
            }
        }
    }

    /// A size for the grid that holds at all moments: that of the middle one.
    pub fn radius(&self) -> f64 {
        self.moments.get(self.moments.len() / 2).map_or(1.0, |m| m.framing.camera().radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball of the given radius that flies far and fast, sampled at 60 frames a second.
    fn flight() -> Vec<(f64, DVec3)> {
        (0..240)
            .map(|k| f64::from(k) / 60.0)
            .map(|t| (t, DVec3::new(3.0 * t * t, 5.0 * t.sin(), t)))
            .collect()
    }

    fn framing(p: DVec3) -> Framing {
        let mut framing = Framing::new(1.5, 20.0, 10.0);
        framing.add(p, 0.2);
        framing
    }

    #[test]
    fn what_is_followed_never_leaves_the_picture_and_the_camera_has_no_jerks() {
        let settings = crate::render::RenderSettings::sized(600, 400);
        let path =
            CameraPath::new(flight().iter().map(|(t, p)| (*t, framing(*p))).collect(), CameraMotion::Auto);
        assert!(path.moments.len() > 1, "a ball that is tiny in the whole is followed");
        let mut eyes = Vec::new();
        for (t, p) in flight() {
            let camera = path.at(t);
            let (x, y) = camera.projection(&settings)(p).expect("in front of the camera");
            assert!(x > 30.0 && x < 570.0 && y > 30.0 && y < 370.0, "{t}: {x} {y}");
            eyes.push(camera.eye);
        }
        // Speed changes by little from frame to frame: below a tenth of its largest.
        let steps: Vec<DVec3> = eyes.windows(2).map(|w| w[1] - w[0]).collect();
        let fastest = steps.iter().map(|s| s.length()).fold(0.0, f64::max);
        let jerk = steps.windows(2).map(|w| (w[1] - w[0]).length()).fold(0.0, f64::max);
        assert!(jerk < 0.1 * fastest, "{jerk} of {fastest}");
    }

    #[test]
    fn the_smooth_course_is_nowhere_below_and_keeps_what_changes_evenly() {
        // Falls, stops dead, jumps up and trembles.
        let needed: Vec<f64> = (0..200)
            .map(|k| match k {
                0..60 => 10.0 - 0.1 * f64::from(k),
                60..120 => 4.0,
                _ => 7.0 + f64::from(k * 37 % 11) / 11.0,
            })
            .collect();
        let smooth = smooth_above(&needed, 8);
        assert!(smooth.iter().zip(&needed).all(|(s, n)| *s > n - 1e-12), "{smooth:?}");
        // Away from where it changes it is nearly what is needed, and not what was or will be.
        for k in (25..45).chain(85..95) {
            assert!((smooth[k] - needed[k]).abs() < 0.2, "{k}: {} for {}", smooth[k], needed[k]);
        }
        assert!(smooth.iter().all(|s| *s < 10.4), "{smooth:?}");
    }

    #[test]
    fn what_fills_the_picture_anyway_is_not_followed() {
        let still = |k: u32| (f64::from(k), framing(DVec3::new(0.1 * f64::from(k), 0.0, 0.0)));
        let path = CameraPath::new((0..4).map(still).collect(), CameraMotion::Auto);
        assert_eq!(path.at(0.0), path.at(3.0));
        let path = CameraPath::new((0..4).map(still).collect(), CameraMotion::Follow);
        assert_ne!(path.at(0.0), path.at(3.0));
        let far = |k: u32| (f64::from(k), framing(DVec3::new(5.0 * f64::from(k), 0.0, 0.0)));
        let path = CameraPath::new((0..4).map(far).collect(), CameraMotion::Fixed);
        assert_eq!(path.at(0.0), path.at(3.0));
    }
}
