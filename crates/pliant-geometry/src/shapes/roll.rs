//! A sheet that is rolled up: a shirt's front over its other front, a cuff, a scroll.

use super::Shape;
use crate::circle::turn;
use crate::error::positive;
use crate::lattice::MAX_PARTICLES;
use crate::{GeometryError, Skin, TriMesh};
use glam::DVec3;

/// Points by which a full turn is measured.
const FINE: usize = 4096;

/// What a rolled sheet is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roll {
    /// Width (x), height (y) and depth (z) of its innermost turn, which is an ellipse seen from above.
    pub size: DVec3,
    /// How far it goes round, in turns: above one its ends overlap in front (+z).
    pub turns: f64,
    /// How far it grows outwards with every turn.
    pub gap: f64,
}

impl Roll {
    /// Points along the rolled edge, evenly in their angle, from the inner end, at y = 0.
    fn edge(&self) -> Vec<DVec3> {
        let count = (self.turns * FINE as f64).round().max(2.0) as usize;
        let (a, b) = (0.5 * self.size.x, 0.5 * self.size.z);
        // Half of it goes to each side from the back.
        let first = (2 * FINE - count % (2 * FINE)) % (2 * FINE);
        let at = |k: usize| {
            let (c, s) = turn(first + 2 * k, 2 * FINE);
            let out = self.gap * k as f64 / FINE as f64;
            DVec3::new((a + out) * s, 0.0, -(b + out) * c)
        };
        (0..=count).map(at).collect()
    }

    /// How long the rolled edge is, in metres.
    pub fn length(&self) -> f64 {
        self.edge().windows(2).map(|p| p[0].distance(p[1])).sum()
    }

    fn check(&self) -> Result<(), GeometryError> {
        for (name, value) in [("width", self.size.x), ("height", self.size.y), ("depth", self.size.z)] {
            positive(name, value)?;
        }
        positive("number of turns", self.turns)?;
        if self.turns > 100.0 || !(self.gap >= 0.0 && self.gap.is_finite()) {
            return Err(GeometryError::new(
                format!("a roll of {} turns, {} m apart", self.turns, self.gap),
                "give up to a hundred turns, and a gap of at least 0",
            ));
        }
        if self.turns >= 1.0 && self.gap == 0.0 {
            return Err(GeometryError::new(
                "a roll that lies on itself",
                "give a gap between its turns, or less than a full turn",
            ));
        }
        Ok(())
    }
}

/// A rolled sheet of `around` × `along` cells, all equally long. Vertices are in rows from the inner to the outer end, row
/// after row upwards; what is seen from outside is its front, and diagonals alternate like a chessboard.
pub fn roll(roll: Roll, around: usize, along: usize) -> Result<Shape, GeometryError> {
    roll.check()?;
    if around == 0 || along == 0 {
        return Err(GeometryError::new(
            format!("a roll of {around} cells around and {along} along"),
            "a roll needs at least one cell each lengths",
        ));
    }
    if (around as f64 + 1.0) * (along as f64 + 1.0) > MAX_PARTICLES as f64 {
        return Err(GeometryError::new(
            format!("a roll of {around} by {along} cells has more than {MAX_PARTICLES} particles"),
            "use fewer cells",
        ));
    }
    let row = evenly(&roll.edge(), around);
    let step = roll.size.y / along as f64;
    let share = |i: usize, last: usize| if i == 0 || i == last { 0.5 } else { 1.0 };
    let mut shape = Shape { skin: Skin::identity((around + 1) * (along + 1)), ..Shape::default() };
    for j in 0..=along {
        let y = (j as f64 - 0.5 * along as f64) * step;
        for (i, p) in row.iter().enumerate() {
            let wide = row[i.saturating_sub(1)].distance(*p) + p.distance(row[(i + 1).min(around)]);
            shape.points.push(*p + y * DVec3::Y);
            shape.measure.push(share(j, along) * 0.5 * wide * step);
        }
    }
    for j in 0..along {
        for i in 0..around {
            let a = (j * (around + 1) + i) as u32;
            let (b, d) = (a + 1, a + 1 + around as u32);
            let c = d + 1;
            let cut = if (i + j) % 2 == 0 { [[a, c, b], [a, d, c]] } else { [[a, d, b], [b, d, c]] };
            shape.triangles.extend(cut);
        }
    }
    shape.surface = TriMesh { positions: shape.points.clone(), triangles: shape.triangles.clone() };
    shape.edges = shape.surface.edges();
    Ok(shape)
}

/// Points along a line that part it into `count` pieces of one length.
fn evenly(line: &[DVec3], count: usize) -> Vec<DVec3> {
    let mut lengths = vec![0.0];
    for p in line.windows(2) {
        lengths.push(lengths[lengths.len() - 1] + p[0].distance(p[1]));
    }
    let whole = lengths[lengths.len() - 1];
    let at = |i: usize| {
        let wanted = whole * i as f64 / count as f64;
        let k = lengths.partition_point(|w| *w <= wanted).clamp(1, line.len() - 1);
        let part = (wanted - lengths[k - 1]) / (lengths[k] - lengths[k - 1]);
        line[k - 1].lerp(line[k], part.clamp(0.0, 1.0))
    };
    (0..=count).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roll_overlaps_in_front_and_faces_outwards() {
        let shirt = Roll { size: DVec3::new(0.4, 0.6, 0.24), turns: 1.1, gap: 0.01 };
        let shape = roll(shirt, 40, 24).unwrap();
        assert_eq!((shape.points.len(), shape.triangles.len()), (41 * 25, 2 * 40 * 24));
        let cells: Vec<f64> = shape.points[..41].windows(2).map(|p| p[0].distance(p[1])).collect();
        let (least, most) = cells.iter().fold((f64::MAX, 0.0_f64), |(a, b), c| (a.min(*c), b.max(*c)));
        assert!(most / least < 1.02, "{least} to {most}");
        let sum: f64 = shape.measure.iter().sum();
        assert!((sum / (shirt.length() * 0.6) - 1.0).abs() < 2e-3, "{sum}");
        // Both ends in front, the outer one over the inner one and beyond it.
        let (inner, outer) = (shape.points[0], shape.points[40]);
        assert!(inner.z > 0.1 && outer.z > 0.11 && inner.x * outer.x < 0.0, "{inner} {outer}");
        let beside = shape.points[..41].iter().filter(|p| p.z > 0.0).map(|p| p.distance(outer));
        let next = beside.filter(|d| *d > 0.0).fold(f64::MAX, f64::min);
        assert!(next > 0.009, "{next} m between the layers");
        for t in &shape.triangles {
            let [a, b, c] = t.map(|i| shape.points[i as usize]);
            let out = (a + b + c) * DVec3::new(1.0, 0.0, 1.0);
            assert!((b - a).cross(c - a).dot(out) > 0.0, "{t:?}");
        }
    }

    #[test]
    fn what_is_no_roll_is_refused() {
        let fine = Roll { size: DVec3::ONE, turns: 1.5, gap: 0.01 };
        assert!(roll(fine, 20, 1).is_ok() && roll(Roll { turns: 0.5, gap: 0.0, ..fine }, 20, 1).is_ok());
        for broken in [
            Roll { gap: 0.0, ..fine },
            Roll { turns: 0.0, ..fine },
            Roll { turns: 1e9, ..fine },
            Roll { gap: f64::NAN, ..fine },
            Roll { size: DVec3::ZERO, ..fine },
        ] {
            assert!(roll(broken, 20, 1).is_err(), "{broken:?}");
        }
        assert!(roll(fine, 0, 1).is_err() && roll(fine, 10_000_000, 10_000).is_err());
    }
}
