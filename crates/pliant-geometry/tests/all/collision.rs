//! Finding what is near what, against trying all pairs, of meshes of every bad sort.

use glam::DVec3;
use pliant_geometry::collision::{
    Body, BroadPhase, CollisionSurface, Columns, Detection, Found, Group, Moment, Near, PairKind, Search,
    SweptBoxes,
};
use pliant_geometry::{SplitMix64, TriMesh};
use pliant_testing::meshes::{point_triangle, segment_segment};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

/// Points as columns.
#[derive(Clone)]
struct Store([Vec<f64>; 3]);

impl Store {
    fn of(points: &[DVec3]) -> Store {
        Store([0, 1, 2].map(|k| points.iter().map(|p| p[k]).collect()))
    }

    fn columns(&self) -> Columns<'_> {
        let [x, y, z] = &self.0;
        Columns { x, y, z }
    }
}

/// A body to be searched: where its surface begins and ends, in the surface's numbering, too.
struct Case {
    surface: CollisionSurface,
    boxes: SweptBoxes,
    ends: [Vec<DVec3>; 2],
    margin: f64,
}

impl Case {
    fn new(surface: CollisionSurface, from: &[DVec3], to: &[DVec3], margin: f64, origin: DVec3) -> Case {
        let mut boxes = SweptBoxes::default();
        let (start, end) = (Store::of(from), Store::of(to));
        boxes.fit(&surface, start.columns(), end.columns(), margin, origin);
        let of = |p: &[DVec3]| surface.places().iter().map(|i| p[*i as usize]).collect();
        let ends = [of(from), of(to)];
        Case { surface, boxes, ends, margin }
    }

    fn body(&self) -> Body<'_> {
        Body { surface: &self.surface, boxes: &self.boxes }
    }

    fn at(&self, v: u32, moment: Moment) -> DVec3 {
        self.ends[usize::from(moment == Moment::End)][v as usize]
    }

    fn way(&self, vertices: &[u32]) -> f64 {
        let way = |v: &u32| self.ends[0][*v as usize].distance(self.ends[1][*v as usize]);
        vertices.iter().map(way).fold(0.0, f64::max)
    }

    /// The box around vertices on their way.
    fn hull(&self, vertices: &[u32]) -> (DVec3, DVec3) {
        let points = vertices.iter().flat_map(|v| [self.ends[0][*v as usize], self.ends[1][*v as usize]]);
        let wide =
            DVec3::splat(self.margin + vertices.iter().map(|v| self.surface.radius(*v)).fold(0.0, f64::max));
        let (lo, hi) = points.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
        (lo - wide, hi + wide)
    }
}

type Listed = Vec<(Group, Near)>;

/// All pairs of all bodies, on so many threads, and the work it took.
fn detect(cases: &[Case], search: Search, own: bool, threads: usize) -> (Listed, u64) {
    let body = |i: u32| cases[i as usize].body();
    let mut detection = Detection::default();
    // Twice, so that what is left over from before would show.
    for search in [Search { edges: !search.edges, ..search }, search] {
        detection.clear();
        BroadPhase::default().pairs(cases.iter().map(|c| c.boxes.bounds()), |a, b| {
            detection.add((a, body(a)), (b, body(b)), search);
            ControlFlow::Continue(())
        });
        for i in (0..cases.len() as u32).filter(|_| own) {
            detection.add((i, body(i)), (i, body(i)), search);
        }
        let (tasks, found) = detection.tasks();
        assert_eq!(tasks.len(), found.len());
        let queue: Mutex<Vec<(usize, &mut Found)>> = Mutex::new(found.iter_mut().enumerate().collect());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some((task, found)) = { queue.lock().unwrap().pop() } {
                        tasks.run(task, &body, found);
                    }
                });
            }
        });
    }
    let listed = detection.groups().flat_map(|(g, nears)| nears.iter().map(move |n| (g, *n))).collect();
    (listed, detection.visits())
}

/// What trying all pairs says of one: distance, how far it may be, and whether boxes overlap.
struct Tried {
    distance: f64,
    limit: f64,
    boxes: bool,
}

fn try_pair(a: &Case, b: &Case, kind: PairKind, first: u32, second: u32, moment: Moment) -> Tried {
    let (p, q): (Vec<u32>, Vec<u32>) = match kind {
        PairKind::VertexTriangle => (vec![first], b.surface.triangles()[second as usize].to_vec()),
        PairKind::EdgeEdge => {
            (a.surface.edges()[first as usize].to_vec(), b.surface.edges()[second as usize].to_vec())
        }
        PairKind::VertexVertex => (vec![first], vec![second]),
    };
    let at = |case: &Case, v: &[u32], k: usize| case.at(v[k], moment).to_array();
    let (radius_a, radius_b) = match kind {
        PairKind::EdgeEdge => (0.0, 0.0),
        PairKind::VertexTriangle => (a.surface.radius(first), 0.0),
        PairKind::VertexVertex => (a.surface.radius(first), b.surface.radius(second)),
    };
    let between = match kind {
        PairKind::VertexTriangle => point_triangle(at(a, &p, 0), [at(b, &q, 0), at(b, &q, 1), at(b, &q, 2)]),
        PairKind::EdgeEdge => segment_segment([at(a, &p, 0), at(a, &p, 1)], [at(b, &q, 0), at(b, &q, 1)]),
        PairKind::VertexVertex => a.at(first, moment).distance(b.at(second, moment)),
    };
    let ((lo, hi), (low, high)) = (a.hull(&p), b.hull(&q));
    Tried {
        distance: between - radius_a - radius_b,
        limit: a.margin + b.margin + a.way(&p) + b.way(&q),
        boxes: lo.cmple(high).all() && low.cmple(hi).all(),
    }
}

fn incident(s: &CollisionSurface, kind: PairKind, first: u32, second: u32) -> bool {
    match kind {
        PairKind::VertexTriangle => s.triangles()[second as usize].contains(&first),
        PairKind::EdgeEdge => {
            s.edges()[first as usize].iter().any(|v| s.edges()[second as usize].contains(v))
        }
        PairKind::VertexVertex => first == second,
    }
}

fn count(s: &CollisionSurface, kind: PairKind) -> [u32; 2] {
    match kind {
        PairKind::VertexTriangle => [s.places().len(), s.triangles().len()],
        PairKind::EdgeEdge => [s.edges().len(); 2],
        PairKind::VertexVertex => [s.places().len(); 2],
    }
    .map(|n| n as u32)
}

/// Compares what was found with what trying all pairs says, up to `eps`.
fn check_all(cases: &[Case], listed: &Listed, search: Search, own: bool, eps: f64) {
    let key = |g: &Group, i: u32, j: u32| (g.first, g.second, g.kind, i, j);
    let mut found: BTreeMap<_, f64> = BTreeMap::new();
    for (g, near) in listed {
        // Of a body with itself, either of two edges or balls may come first.
        let swapped = g.first == g.second && g.kind != PairKind::VertexTriangle && near.first > near.second;
        let (i, j) = if swapped { (near.second, near.first) } else { (near.first, near.second) };
        assert!(found.insert(key(g, i, j), near.distance).is_none(), "twice: {g:?} {near:?}");
        assert!(near.at.iter().all(|w| (0.0..=1.0).contains(w)) && near.distance.is_finite());
    }
    let mut known = 0;
    for first in 0..cases.len() as u32 {
        for second in 0..cases.len() as u32 {
            for kind in [PairKind::VertexTriangle, PairKind::EdgeEdge, PairKind::VertexVertex] {
                let (a, b) = (&cases[first as usize], &cases[second as usize]);
                let clouds = a.surface.triangles().is_empty() && b.surface.triangles().is_empty();
                let both = kind == PairKind::VertexTriangle || first <= second;
                let wanted = (kind != PairKind::EdgeEdge || search.edges)
                    && (kind == PairKind::VertexVertex) == clouds
                    && (first != second || own)
                    && both;
                if !wanted {
                    continue;
                }
                let ([firsts, _], [_, seconds]) = (count(&a.surface, kind), count(&b.surface, kind));
                for (i, j) in (0..firsts).flat_map(|i| (0..seconds).map(move |j| (i, j))) {
                    let same = first == second;
                    if same
                        && (incident(&a.surface, kind, i, j) || (kind != PairKind::VertexTriangle && i > j))
                    {
                        continue;
                    }
                    let tried = try_pair(a, b, kind, i, j, search.moment);
                    let have = found.get(&(first, second, kind, i, j));
                    known += usize::from(have.is_some());
                    let must = tried.boxes && tried.distance <= tried.limit - eps;
                    assert!(!must || have.is_some(), "missed: {first} {second} {kind:?} {i} {j}");
                    if let Some(distance) = have {
                        let off = (distance - tried.distance).abs();
                        assert!(off <= eps && tried.distance <= tried.limit + eps, "{off:e} {kind:?}");
                    }
                }
            }
        }
    }
    assert_eq!(known, found.len(), "found what is none");
}

fn random(rng: &mut SplitMix64) -> DVec3 {
    DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5
}

/// Triangles of a sort.
fn soup(rng: &mut SplitMix64, sort: u32, count: usize) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let loose = |points: Vec<DVec3>| {
        let triangles = (0..points.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        (points, triangles)
    };
    match sort {
        // Anywhere; slivers; on a line or in one place.
        0 | 1 | 2 => {
            let thin = [0.3, 1e-9, 0.0][sort as usize];
            let corner = |rng: &mut SplitMix64, at: DVec3, line: DVec3| {
                at + line * 0.4 * (rng.unit() * 3.0).floor() + thin * random(rng)
            };
            let mut points = Vec::new();
            for _ in 0..count {
                let (at, line) = (random(rng), random(rng));
                points.extend((0..3).map(|_| corner(rng, at, line)));
            }
            loose(points)
        }
        // A crumpled sheet, some vertices of which are in the same places.
        3 => {
            let side = 2 + (count as f64).sqrt() as u32 / 2;
            let mut points: Vec<DVec3> = (0..side * side)
                .map(|k| DVec3::new(f64::from(k % side), 0.0, f64::from(k / side)) / f64::from(side))
                .map(|p| p + 0.3 * random(rng))
                .collect();
            for _ in 0..side {
                let n = points.len();
                points[(rng.unit() * n as f64) as usize % n] = points[(rng.unit() * n as f64) as usize % n];
            }
            let cells = (0..(side - 1) * (side - 1)).map(|c| c % (side - 1) + c / (side - 1) * side);
            let triangles =
                cells.flat_map(|a| [[a, a + side, a + 1], [a + 1, a + side, a + side + 1]]).collect();
            (points, triangles)
        }
        // Nested boxes, and all on one grid, so that much touches.
        _ => {
            let mut mesh = TriMesh::default();
            for k in 0..count / 12 + 1 {
                let half = if sort == 4 { 0.1 + 0.05 * k as f64 } else { 0.25 };
                let at = if sort == 4 { DVec3::ZERO } else { (random(rng) * 4.0).round() * 0.5 };
                let first = mesh.positions.len() as u32;
                let corner = |i: u32| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2));
                mesh.positions.extend((0..8).map(|i| at + half * (2.0 * corner(i) - 1.0)));
                mesh.triangles.extend(CUBE.map(|t| t.map(|v| v + first)));
            }
            (mesh.positions, mesh.triangles)
        }
    }
}

const CUBE: [[u32; 3]; 12] = [
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
];

/// Bodies of a few sorts that move.
fn world(seed: u64, sorts: &[u32], scale: f64, far: f64, moving: f64, origin: bool) -> Vec<Case> {
    let mut rng = SplitMix64::new(seed);
    let place = DVec3::splat(far);
    let cases = sorts.iter().map(|&sort| {
        let count = 4 + (rng.unit() * 40.0) as usize;
        let margin = scale * [0.0, 0.01, 0.1][(rng.unit() * 3.0) as usize % 3];
        let origin = if origin { place } else { DVec3::ZERO };
        let (rest, triangles) = soup(&mut rng, sort, count);
        let speed = moving * random(&mut rng);
        let here = |p: DVec3| scale * p + place;
        let from: Vec<DVec3> = rest.iter().map(|p| here(*p)).collect();
        let to: Vec<DVec3> =
            rest.iter().map(|p| here(*p + speed + 0.2 * moving * random(&mut rng))).collect();
        let surface = if rng.unit() < 0.2 {
            let radii: Vec<f64> = rest.iter().map(|_| 0.1 * scale * rng.unit()).collect();
            CollisionSurface::cloud(&rest, &radii)
        } else {
            CollisionSurface::new(&rest, &triangles)
        };
        Case::new(surface.unwrap(), &from, &to, margin, origin)
    });
    cases.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_that_is_near_is_found_once_on_any_number_of_threads(
        seed in any::<u64>(),
        sorts in prop::collection::vec(0_u32..6, 1..4),
        place in 0_usize..6,
        moving in prop::sample::select(vec![0.0, 0.05, 2.0]),
        edges: bool,
        own: bool,
        end: bool,
    ) {
        let (scale, far) = [(1.0, 0.0), (1.0, 1e5), (1e-5, 0.0), (1e-5, 1.0), (1e30, 0.0), (1e4, -1e5)][place];
        let moment = if end { Moment::End } else { Moment::Start };
        let search = Search { nearest: false, edges, moment };
        let cases = world(seed, &sorts, scale, far, moving, seed % 2 == 0);
        let (listed, visits) = detect(&cases, search, own, 1);
        check_all(&cases, &listed, search, own, 4e-8 * scale + 1e-9 * far.abs().min(1.0));
        for threads in [2, 7] {
            let again = detect(&cases, search, own, threads);
            prop_assert!(again.0 == listed && again.1 == visits);
        }
    }
}
