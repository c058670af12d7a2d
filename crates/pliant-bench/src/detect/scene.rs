//! Bodies that are near each other: a sheet rolled up, and a pile of blocks.

use pliant_geometry::collision::{
    BroadPhase, CollisionBody, CollisionSurface, Columns, Detection, MotionEnd, Search, SweptBoxes,
};
use pliant_geometry::{GeometryError, SplitMix64, parallel};
use std::f64::consts::TAU;
use std::ops::ControlFlow;

/// Points as columns.
type Points = [Vec<f64>; 3];

fn columns([x, y, z]: &Points) -> Columns<'_> {
    Columns { x, y, z }
}

fn push(points: &mut Points, p: [f64; 3]) {
    points.iter_mut().zip(p).for_each(|(column, v)| column.push(v));
}

/// Bodies of one surface, where each begins and ends, and all that is kept from step to step.
pub(crate) struct Scene {
    surface: CollisionSurface,
    bodies: Vec<[Points; 2]>,
    margin: f64,
    search: Search,
    itself: bool,
    boxes: Vec<SweptBoxes>,
    broad: BroadPhase,
    detection: Detection,
}

impl Scene {
    fn new(
        surface: CollisionSurface,
        bodies: Vec<[Points; 2]>,
        margin: f64,
        search: Search,
        itself: bool,
    ) -> Scene {
        let boxes = vec![SweptBoxes::default(); bodies.len()];
        let (broad, detection) = (BroadPhase::default(), Detection::default());
        Scene { surface, bodies, margin, search, itself, boxes, broad, detection }
    }

    /// A sheet of about so many vertices 5 mm apart, 200 wide, rolled up with 2.5 mm between its layers; it finds what comes within
    /// these, and moves by up to 0.5 mm.
    pub fn rolled(vertices: usize) -> Result<Scene, GeometryError> {
        let (cell, pitch, inner) = (0.005, 0.0025, 0.01);
        let across = 200.min(vertices / 40) as u32;
        let along = vertices as u32 / across;
        let (mut rest, mut from, mut to) = (Vec::new(), Points::default(), Points::default());
        let mut rng = SplitMix64::new(1);
        let mut angle = 0.0_f64;
        for i in 0..along {
            let r = inner + pitch * angle / TAU;
            for j in 0..across {
                let wide = cell * f64::from(j);
                rest.push([cell * f64::from(i), 0.0, wide].into());
                let p = [r * angle.cos(), r * angle.sin(), wide];
                push(&mut from, p);
                push(&mut to, p.map(|v| v + 0.0005 * (rng.unit() - 0.5)));
            }
            angle += cell / r;
        }
        let mut triangles = Vec::new();
        for i in 0..along - 1 {
            for j in 0..across - 1 {
                let a = i * across + j;
                triangles.extend([[a, a + across, a + 1], [a + 1, a + across, a + across + 1]]);
            }
        }
        let surface = CollisionSurface::new(&rest, &triangles)?;
        let search = Search { nearest: false, edges: true, moment: MotionEnd::Start };
        Ok(Scene::new(surface, vec![[from, to]], 0.5 * pitch, search, true))
    }

    /// A hundred blocks of 296 vertices each, one decimetre wide, heaped so that they enter each other by a millimetre or so,
    /// falling by 1 cm.
    pub fn pile() -> Result<Scene, GeometryError> {
        let (rest, triangles) = block(7, 0.1);
        let mut rng = SplitMix64::new(2);
        let mut bodies = Vec::new();
        for k in 0..100 {
            let mut jitter = || 0.004 * (rng.unit() - 0.5);
            let (i, j, level) = (k % 5, k / 5 % 5, k / 25);
            let shift = 0.05 * f64::from(level % 2);
            let at = [
                0.1 * f64::from(i) + shift + jitter(),
                0.1 * f64::from(level),
                0.1 * f64::from(j) + shift + jitter(),
            ];
            let (s, c) = (10.0 * jitter()).sin_cos();
            let (mut from, mut to) = (Points::default(), Points::default());
            for p in &rest {
                let p = [
                    at[0] + c * p[0] - s * p[2],
                    at[1] + 0.999 * p[1] + 0.1 * jitter(),
                    at[2] + s * p[0] + c * p[2],
                ];
                push(&mut from, p);
                push(&mut to, [p[0], p[1] - 0.01, p[2]]);
            }
            bodies.push([from, to]);
        }
        let rest: Vec<_> = rest.into_iter().map(Into::into).collect();
        let surface = CollisionSurface::new(&rest, &triangles)?;
        let search = Search { nearest: true, edges: false, moment: MotionEnd::End };
        Ok(Scene::new(surface, bodies, 0.001, search, false))
    }

    /// Fits all boxes.
    pub fn fit(&mut self, threads: usize) {
        let (surface, margin) = (&self.surface, self.margin);
        parallel::for_each(
            self.boxes.iter_mut().zip(&self.bodies),
            threads,
            || (),
            |_, (boxes, [from, to]), ()| {
                boxes.fit(surface, columns(from), columns(to), margin, [0.0; 3].into())
            },
        );
    }

    /// Finds all pairs.
    pub fn detect(&mut self, threads: usize) {
        let Scene { surface, boxes, broad, detection, search, .. } = self;
        let body = |i: u32| CollisionBody { surface, boxes: &boxes[i as usize] };
        detection.clear();
        broad.pairs(boxes.iter().map(SweptBoxes::bounds), |a, b| {
            detection.add((a, body(a)), (b, body(b)), *search);
            ControlFlow::Continue(())
        });
        for i in (0..boxes.len() as u32).filter(|_| self.itself) {
            detection.add((i, body(i)), (i, body(i)), *search);
        }
        let (tasks, found) = detection.tasks();
        parallel::for_each(found.iter_mut(), threads, || (), |task, found, ()| tasks.run(task, &body, found));
    }

    /// Vertices of all bodies, pairs found, and boxes that were compared for them.
    pub fn size(&self) -> (usize, usize, u64) {
        let vertices = self.surface.places().len() * self.bodies.len();
        let found = self.detection.groups().map(|(_, nears)| nears.len()).sum();
        (vertices, found, self.detection.visits())
    }
}

/// The surface of a cube in `n` cells a side.
fn block(n: u32, size: f64) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let mut numbers = std::collections::BTreeMap::new();
    let mut points = Vec::new();
    let mut number = |p: [u32; 3]| {
        *numbers.entry(p).or_insert_with(|| {
            points.push(p.map(|v| size * (f64::from(v) / f64::from(n) - 0.5)));
            points.len() as u32 - 1
        })
    };
    let mut triangles = Vec::new();
    for axis in 0..3 {
        for side in [0, n] {
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let mut at = |i: u32, j: u32| {
                    let mut p = [0; 3];
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, i, j);
                    number(p)
                };
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                let outward = side > 0;
                triangles.extend(if outward { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
            }
        }
    }
    (points, triangles)
}
