//! Finds the points of a body that a bound point is to follow: near it, and spread enough to tell a rotation.
//!
//! A best-fit rotation needs parents that are not on a line, and passes on their noise the less the rounder the cloud
//! they make and the nearer the bound point is to it. So the nearest points are taken where they do; where they lie in a
//! line or in a clump far from the bound point, more and more of what is near is looked at and a spread-out few of it are taken.

use crate::eigen::symmetric_eigen;
use crate::{GeometryError, KdTree};
use glam::{DMat3, DVec3};

/// Parents of this quality are good enough to look no further; at best it is 1.5 for solids and 2 for cloth.
const GOOD: f64 = 6.0;

/// Clouds of a worse condition are lines (a hundredth of their length wide), and are refused.
const WORST: f64 = 1e4;

/// The farthest parent has this share of the distance at which weights vanish.
const FARTHEST: f64 = 0.8;

/// As many as are taken where nothing was asked for, and the most.
const ENOUGH: (usize, usize) = (6, 10);

/// The most parents one may ask for.
const MOST: usize = 64;

/// Up to so many neighbours are searched by the tree, which inserts them one by one.
const FEW: usize = 256;

/// What the parents of a bound point are to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParentOptions<'a> {
    /// How many, from three to 64: more average out more of the parents' noise. `None` takes the fewest of six to ten that
    /// are spread well.
    pub count: Option<usize>,
    /// None is farther from the bound point than this.
    pub radius: f64,
    /// Points that are no parents: the bound point's own neighbourhood, if it is a point of the same body.
    pub excluded: &'a [u32],
}

impl Default for ParentOptions<'_> {
    fn default() -> Self {
        ParentOptions { count: None, radius: f64::INFINITY, excluded: &[] }
    }
}

/// Points that a bound point follows, nearest first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parents {
    /// Their numbers.
    pub indices: Vec<u32>,
    /// Their weights: positive, of sum one, falling with the distance.
    pub weights: Vec<f64>,
    /// The condition κ of a rotation fitted to them: 1.5 for a ball, 2 for a disc, at most 10⁴.
    pub condition: f64,
    /// Distance of the bound point from their mean, over their root mean square distance from it: how many times the
    /// noise of the rotation is that of the parents.
    pub reach: f64,
}

impl Parents {
    /// What is made small: the condition, times how far out the bound point is if that is beyond the cloud.
    pub fn quality(&self) -> f64 {
        self.condition * self.reach.max(1.0)
    }
}

/// The points of a body that may be parents, ready for many searches.
#[derive(Clone, Debug)]
pub struct ParentFinder {
    points: Vec<DVec3>,
    numbers: Vec<u32>,
    tree: KdTree,
}

/// A possible parent: squared distance from the bound point, and its position in the finder.
type Near = (f64, u32);

impl ParentFinder {
    /// The points of a body at rest, all of them or only some.
    pub fn new(points: &[DVec3], candidates: Option<&[u32]>) -> Result<ParentFinder, GeometryError> {
        let mut numbers = match candidates {
            Some(some) => some.to_vec(),
            None => (0..points.len() as u32).collect(),
        };
        numbers.sort_unstable();
        numbers.dedup();
        let mut chosen = Vec::with_capacity(numbers.len());
        for &i in &numbers {
            match points.get(i as usize) {
                Some(p) if p.is_finite() => chosen.push(*p),
                Some(p) => {
                    let message = format!("point {i} is at {p}, which is not finite");
                    return Err(GeometryError::new(message, "parents need a place at rest"));
                }
                None => {
                    let message = format!("there is no point {i} to be a parent; there are {}", points.len());
                    return Err(GeometryError::new(message, "points are numbered from 0"));
                }
            }
        }
        Ok(ParentFinder { tree: KdTree::new(&chosen), points: chosen, numbers })
    }

    /// The parents of a point bound at this place, which need not be near the body. The same for the same input on every
    /// machine: of points equally near, those of lower number come first.
    pub fn find(
        &self,
        bound: impl Into<DVec3>,
        options: &ParentOptions<'_>,
    ) -> Result<Parents, GeometryError> {
        let bound = bound.into();
        check(bound, options)?;
        let mut excluded = options.excluded.to_vec();
        excluded.sort_unstable();
        let (least, most) = options.count.map_or(ENOUGH, |n| (n, n));
        let mut best: Option<Parents> = None;
        let mut wanted = least;
        loop {
            let near = self.nearest(bound, wanted, options.radius, &excluded);
            if near.len() < 3 {
                return Err(self.too_few(bound, near.len(), options));
            }
            for some in self.selections(&near, most) {
                let parents = self.weigh(bound, &some);
                if best.as_ref().is_none_or(|b| parents.quality() < b.quality()) {
                    best = Some(parents);
                }
            }
            let good = best.as_ref().is_some_and(|b| b.quality() <= GOOD);
            if good || near.len() < wanted {
                break;
            }
            wanted = if wanted < most { wanted + 1 } else { 2 * wanted };
        }
        match best {
            Some(parents) if parents.condition <= WORST => Ok(parents),
            _ => Err(self.on_a_line(bound, options)),
        }
    }

    /// The nearest that may be parents, nearest first: so many, or all there are.
    fn nearest(&self, bound: DVec3, count: usize, radius: f64, excluded: &[u32]) -> Vec<Near> {
        let mut near = Vec::new();
        let searched = count + excluded.len();
        if searched <= FEW {
            self.tree.nearest(bound, searched, &mut near);
        } else {
            near = self.points.iter().zip(0..).map(|(p, i)| (p.distance_squared(bound), i)).collect();
            near = in_order(near);
        }
        near.retain(|&(square, i)| {
            square <= radius * radius && excluded.binary_search(&self.numbers[i as usize]).is_err()
        });
        near.truncate(count);
        near
    }

    /// Ways to take at most so many of what is near, each nearest first.
    fn selections(&self, near: &[Near], most: usize) -> Vec<Vec<Near>> {
        if near.len() <= most {
            return vec![near.to_vec()];
        }
        // The nearest, with one beside the line that they may lie on; and points from all over.
        let mut beside = near[..most - 1].to_vec();
        beside.push(self.farthest_beside(near, &beside));
        vec![in_order(beside), in_order(self.spread(near, most))]
    }

    fn at(&self, near: Near) -> DVec3 {
        self.points[near.1 as usize]
    }

    /// The point farthest from the line through the first of some and the farthest of them from it.
    fn farthest_beside(&self, near: &[Near], some: &[Near]) -> Near {
        let first = self.at(near[0]);
        let second = self.at(farthest(some, |p| self.at(p).distance_squared(first)));
        let line = (second - first).normalize_or_zero();
        farthest(near, |p| line.cross(self.at(p) - first).length_squared())
    }

    /// The nearest, the farthest from that, the farthest from the line through both, then each time the one farthest from
    /// all that were taken.
    fn spread(&self, near: &[Near], count: usize) -> Vec<Near> {
        let first = near[0];
        let second = farthest(near, |p| self.at(p).distance_squared(self.at(first)));
        let mut taken = vec![first, second, self.farthest_beside(near, near)];
        let mut gap: Vec<f64> = vec![f64::INFINITY; near.len()];
        for k in 0.. {
            for (gap, p) in gap.iter_mut().zip(near) {
                *gap = gap.min(self.at(*p).distance_squared(self.at(taken[k])));
            }
            if k + 1 < taken.len() {
                continue;
            }
            if taken.len() == count {
                break;
            }
            let widest = (1..near.len()).fold(0, |best, i| if gap[i] > gap[best] { i } else { best });
            if gap[widest] == 0.0 {
                break; // all others are in the same places
            }
            taken.push(near[widest]);
        }
        taken
    }

    /// Weights by distance, and what a rotation fitted with them would be worth.
    fn weigh(&self, bound: DVec3, some: &[Near]) -> Parents {
        // (1 − (d/D)²)²: flat at the bound point, falling smoothly toward zero somewhat beyond the farthest.
        let farthest = some.iter().fold(0.0, |m: f64, p| m.max(p.0));
        let weight = |square: f64| {
            let share = if farthest > 0.0 { FARTHEST * FARTHEST * square / farthest } else { 0.0 };
            (1.0 - share) * (1.0 - share)
        };
        let sum: f64 = some.iter().map(|p| weight(p.0)).sum();
        let weights: Vec<f64> = some.iter().map(|p| weight(p.0) / sum).collect();
        let first = self.at(some[0]);
        let each = || some.iter().map(|p| self.at(*p) - first).zip(&weights);
        let mean = each().fold(DVec3::ZERO, |m, (p, w)| m + p * *w);
        let mut covariance = DMat3::ZERO;
        for (p, w) in each() {
            let (v, s) = (p - mean, (p - mean) * *w);
            covariance += DMat3::from_cols(s * v.x, s * v.y, s * v.z);
        }
        let mut values = symmetric_eigen(covariance).0.max(DVec3::ZERO).to_array();
        values.sort_by(f64::total_cmp);
        let square = values[0] + values[1] + values[2];
        let across = values[0] + values[1];
        let condition = if across > 0.0 { square / across } else { f64::INFINITY };
        let reach = if square > 0.0 { (bound - first).distance(mean) / square.sqrt() } else { f64::INFINITY };
        let indices = some.iter().map(|p| self.numbers[p.1 as usize]).collect();
        Parents { indices, weights, condition, reach }
    }

    fn too_few(&self, bound: DVec3, found: usize, options: &ParentOptions<'_>) -> GeometryError {
        let limits = limits(options);
        let message = format!(
            "{found} of {} points may be parents of the point at {bound}{limits}; at least three are needed",
            self.points.len()
        );
        GeometryError::new(message, "allow a larger radius or more points, or exclude fewer")
    }

    fn on_a_line(&self, bound: DVec3, options: &ParentOptions<'_>) -> GeometryError {
        let message = format!(
            "all points that may be parents of the point at {bound}{} lie on a line, about which nothing would hold it",
            limits(options)
        );
        let help = "allow a point beside it: a larger radius, more points, another body";
        GeometryError::new(message, help)
    }
}

/// Nearest first, of equals the lower number, each once.
fn in_order(mut some: Vec<Near>) -> Vec<Near> {
    some.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    some.dedup();
    some
}

/// The limits that were set, for messages.
fn limits(options: &ParentOptions<'_>) -> String {
    let radius =
        if options.radius.is_finite() { format!(" within {}", options.radius) } else { String::new() };
    match options.excluded.len() {
        0 => radius,
        n => format!("{radius}, {n} excluded"),
    }
}

fn check(bound: DVec3, options: &ParentOptions<'_>) -> Result<(), GeometryError> {
    if !bound.is_finite() {
        let message = format!("the bound point is at {bound}, which is not finite");
        return Err(GeometryError::new(message, "give it a place"));
    }
    if let Some(count) = options.count
        && !(3..=MOST).contains(&count)
    {
        let message = format!("{count} parents were asked for");
        return Err(GeometryError::new(message, format!("a rotation needs 3; at most {MOST} are taken")));
    }
    if options.radius.is_nan() || options.radius <= 0.0 {
        let message = format!("parents were to be within {}", options.radius);
        return Err(GeometryError::new(message, "a radius is larger than zero"));
    }
    Ok(())
}

/// The one with the largest measure, the first of equals.
fn farthest(of: &[Near], measure: impl Fn(Near) -> f64) -> Near {
    let mut best = (of[0], measure(of[0]));
    for &p in &of[1..] {
        let m = measure(p);
        if m > best.1 {
            best = (p, m);
        }
    }
    best.0
}
