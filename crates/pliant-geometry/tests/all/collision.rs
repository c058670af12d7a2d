//! Finding what is near what, against trying all pairs, of meshes of every bad sort.

use glam::DVec3;
use pliant_geometry::collision::{
    BroadPhase, CollisionBody, CollisionSurface, Columns, Detection, Found, Group, MotionEnd, Near, PairKind,
    Search, SweptBoxes,
};
use pliant_geometry::{SplitMix64, TriMesh};
use pliant_testing::meshes::{Mesh, point_triangle, segment_segment, signed_distance};
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

    fn body(&self) -> CollisionBody<'_> {
        CollisionBody { surface: &self.surface, boxes: &self.boxes }
    }

    fn at(&self, v: u32, moment: MotionEnd) -> DVec3 {
        self.ends[usize::from(moment == MotionEnd::End)][v as usize]
    }

    fn path(&self, vertices: &[u32]) -> f64 {
        let path = |v: &u32| self.ends[0][*v as usize].distance(self.ends[1][*v as usize]);
        vertices.iter().map(path).fold(0.0, f64::max)
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

fn try_pair(a: &Case, b: &Case, kind: PairKind, first: u32, second: u32, moment: MotionEnd) -> Tried {
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
        limit: a.margin + b.margin + a.path(&p) + b.path(&q),
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
        0..=2 => {
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
        let moment = if end { MotionEnd::End } else { MotionEnd::Start };
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

/// A closed ball of triangles that is dented here and there.
fn dented_ball(rng: &mut SplitMix64, detail: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (around, down) = (3 + 2 * detail, 2 + detail);
    let mut points = vec![DVec3::Y];
    for i in 1..down {
        for j in 0..around {
            let (s, c) = (std::f64::consts::PI * f64::from(i) / f64::from(down)).sin_cos();
            let (u, v) = (std::f64::consts::TAU * f64::from(j) / f64::from(around)).sin_cos();
            points.push(DVec3::new(s * v, c, s * u) * (1.0 - 0.2 * rng.unit()));
        }
    }
    points.push(DVec3::NEG_Y);
    let last = points.len() as u32 - 1;
    let at = |i: u32, j: u32| 1 + (i - 1) * around + j % around;
    let mut triangles = Vec::new();
    for j in 0..around {
        triangles.extend([[0, at(1, j + 1), at(1, j)], [last, at(down - 1, j), at(down - 1, j + 1)]]);
        for i in 1..down - 1 {
            let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    (points, triangles)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// However deep inside, and wherever it came from.
    #[test]
    fn each_vertex_knows_the_nearest_triangle_of_a_solid_and_its_side(
        seed in any::<u64>(),
        place in 0_usize..4,
        moving in prop::sample::select(vec![0.0, 0.1, 3.0]),
        inner in 0.05..1.5_f64,
        end: bool,
    ) {
        let (scale, far) = [(1.0, 0.0), (1.0, 1e5), (1e-5, 0.0), (1e10, 0.0)][place];
        let mut rng = SplitMix64::new(seed);
        let mut cases = Vec::new();
        for size in [1.0, inner] {
            let detail = 3 + (rng.unit() * 8.0) as u32;
            let (rest, triangles) = dented_ball(&mut rng, detail);
            let (shift, speed) = (random(&mut rng), moving * random(&mut rng));
            let from: Vec<DVec3> =
                rest.iter().map(|p| scale * (size * *p + shift) + DVec3::splat(far)).collect();
            let to: Vec<DVec3> = from.iter().map(|p| *p + scale * speed).collect();
            let surface = CollisionSurface::new(&rest, &triangles).unwrap();
            prop_assert!(surface.is_closed());
            cases.push(Case::new(surface, &from, &to, 0.02 * scale, DVec3::ZERO));
        }
        let moment = if end { MotionEnd::End } else { MotionEnd::Start };
        let search = Search { nearest: true, edges: false, moment };
        let (listed, _) = detect(&cases, search, false, 1);
        let eps = 1e-12 * scale + 1e-9 * far.signum();
        for (first, second) in [(0, 1), (1, 0)] {
            let (a, b) = (&cases[first], &cases[second]);
            let corners: Vec<[f64; 3]> =
                (0..b.surface.places().len() as u32).map(|v| b.at(v, moment).to_array()).collect();
            let mesh = Mesh { positions: &corners, triangles: b.surface.triangles() };
            for v in 0..a.surface.places().len() as u32 {
                let mut found =
                    listed.iter().filter(|(g, n)| g.first == first as u32 && n.first == v).map(|(_, n)| *n);
                let (near, more) = (found.next(), found.next());
                prop_assert!(more.is_none());
                let p = a.at(v, moment).to_array();
                let signed = signed_distance(mesh, p);
                // The angle sum says nothing for certain of what lies on the surface.
                let certain = signed.abs() > 10.0 * eps;
                let reach = a.margin + b.margin;
                match near {
                    Some(n) => {
                        let t = b.surface.triangles()[n.second as usize].map(|v| corners[v as usize]);
                        prop_assert!((n.distance.abs() - point_triangle(p, t)).abs() <= eps);
                        prop_assert!(!certain || (n.distance < 0.0) == (signed < 0.0));
                        // Further away it is the nearest of those on the way.
                        let nearest = signed <= reach;
                        prop_assert!(!nearest || (n.distance.abs() - signed.abs()).abs() <= eps, "{n:?} {signed}");
                        prop_assert!(n.distance >= signed - eps);
                    }
                    None => prop_assert!(signed > reach - eps, "{signed} missed"),
                }
            }
        }
    }
}

/// What pairs are, in numbers of the meshes before they were permuted.
fn names(cases: &[Case], listed: &Listed, vertex: &[Vec<u32>]) -> Vec<(PairKind, Vec<u32>, Vec<u32>, f64)> {
    let name = |body: u32, vertices: &[u32]| {
        let mut all: Vec<u32> =
            vertices.iter().map(|v| 1000 * body + vertex[body as usize][*v as usize]).collect();
        all.sort_unstable();
        all
    };
    let mut named: Vec<_> = listed
        .iter()
        .map(|(g, n)| {
            let (a, b) = (&cases[g.first as usize].surface, &cases[g.second as usize].surface);
            let (mut p, mut q) = match g.kind {
                PairKind::VertexTriangle => {
                    (name(g.first, &[n.first]), name(g.second, &b.triangles()[n.second as usize]))
                }
                PairKind::EdgeEdge => (
                    name(g.first, &a.edges()[n.first as usize]),
                    name(g.second, &b.edges()[n.second as usize]),
                ),
                PairKind::VertexVertex => (name(g.first, &[n.first]), name(g.second, &[n.second])),
            };
            if g.kind != PairKind::VertexTriangle && p > q {
                std::mem::swap(&mut p, &mut q);
            }
            (g.kind, p, q, n.distance)
        })
        .collect();
    named.sort_by(|a, b| (a.0, &a.1, &a.2).cmp(&(b.0, &b.1, &b.2)));
    named
}

#[test]
fn meshes_in_another_order_have_the_same_pairs() {
    let search = Search { nearest: false, edges: true, moment: MotionEnd::End };
    for seed in 0..10 {
        let mut rng = SplitMix64::new(seed);
        let (mut plain, mut mixed, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for sort in [3, 5] {
            let (points, triangles) = soup(&mut rng, sort, 60);
            let to: Vec<DVec3> = points.iter().map(|p| *p + 0.05 * random(&mut rng)).collect();
            let mut order: Vec<u32> = (0..points.len() as u32).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, (rng.unit() * (i + 1) as f64) as usize % (i + 1));
            }
            let mut back = vec![0; order.len()];
            order.iter().enumerate().for_each(|(k, i)| back[*i as usize] = k as u32);
            let turned: Vec<[u32; 3]> =
                triangles.iter().rev().map(|&[a, b, c]| [b, c, a].map(|v| back[v as usize])).collect();
            let sorted = |p: &[DVec3]| order.iter().map(|i| p[*i as usize]).collect::<Vec<_>>();
            let case = |from: &[DVec3], to: &[DVec3], triangles: &[[u32; 3]]| {
                let surface = CollisionSurface::new(from, triangles).unwrap();
                Case::new(surface, from, to, 0.02, DVec3::ZERO)
            };
            plain.push(case(&points, &to, &triangles));
            mixed.push(case(&sorted(&points), &sorted(&to), &turned));
            let places = |case: &Case, to: &dyn Fn(u32) -> u32| {
                case.surface.places().iter().map(|i| to(*i)).collect::<Vec<u32>>()
            };
            numbers.push([
                places(&plain[plain.len() - 1], &|i| i),
                places(&mixed[mixed.len() - 1], &|i| order[i as usize]),
            ]);
        }
        let [one, other] = [0, 1].map(|k| numbers.iter().map(|n| n[k].clone()).collect::<Vec<_>>());
        let (a, b) = (detect(&plain, search, true, 1).0, detect(&mixed, search, true, 1).0);
        let (a, b) = (names(&plain, &a, &one), names(&mixed, &b, &other));
        assert!(a.len() > 100, "{}", a.len());
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            assert_eq!((a.0, &a.1, &a.2), (b.0, &b.1, &b.2));
            assert!((a.3 - b.3).abs() < 1e-14);
        }
    }
}

#[test]
fn vertices_that_are_nowhere_hide_nothing_and_are_found_by_nothing() {
    let mut rng = SplitMix64::new(1);
    let (points, triangles) = soup(&mut rng, 3, 200);
    let surface = || CollisionSurface::new(&points, &triangles).unwrap();
    let mut lost = points.clone();
    lost[7] = DVec3::NAN;
    lost[20].y = f64::NAN;
    lost[11].x = f64::INFINITY;
    let whole = [Case::new(surface(), &points, &points, 0.05, DVec3::ZERO)];
    let part = [Case::new(surface(), &lost, &lost, 0.05, DVec3::ZERO)];
    let search = Search { edges: true, ..Search::default() };
    let [whole, part] = [whole, part].map(|cases| {
        let (listed, _) = detect(&cases, search, true, 1);
        let surface = &cases[0].surface;
        let gone = |v: &u32| [7, 20, 11].contains(&surface.places()[*v as usize]);
        let of = |(g, n): &(Group, Near)| match g.kind {
            PairKind::VertexTriangle => {
                gone(&n.first) || surface.triangles()[n.second as usize].iter().any(gone)
            }
            _ => [n.first, n.second].iter().any(|e| surface.edges()[*e as usize].iter().any(gone)),
        };
        assert!(listed.iter().all(|(_, n)| n.distance.is_finite()));
        listed.into_iter().filter(|near| !of(near)).collect::<Vec<_>>()
    });
    assert!(whole == part && !part.is_empty());
}

#[test]
fn work_grows_as_n_log_n_with_what_is_near() {
    // A sheet folded in many layers, in detail that keeps everything else as it was.
    let work = |side: u32| {
        let points: Vec<DVec3> = (0..side * side)
            .map(|k| (f64::from(k % side), f64::from(k / side)))
            .map(|(u, v)| DVec3::new((u * 0.1).sin() * 4.0, u * 0.02, v))
            .collect();
        let cells = (0..(side - 1) * (side - 1)).map(|c| c % (side - 1) + c / (side - 1) * side);
        let triangles: Vec<[u32; 3]> =
            cells.flat_map(|a| [[a, a + side, a + 1], [a + 1, a + side, a + side + 1]]).collect();
        let surface = CollisionSurface::new(&points, &triangles).unwrap();
        let cases = [Case::new(surface, &points, &points, 0.3, DVec3::ZERO)];
        let (listed, visits) = detect(&cases, Search { edges: true, ..Search::default() }, true, 2);
        let n = f64::from(side * side);
        assert!(listed.len() as f64 > n);
        visits as f64 / (n * n.log2())
    };
    let (small, large) = (work(64), work(256));
    assert!(large < 1.1 * small, "{small} {large}");
    assert!(large < 30.0, "{large}");
}

#[test]
fn meshes_that_are_none_are_refused() {
    let points = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let error = |triangles: &[[u32; 3]]| CollisionSurface::new(&points, triangles).unwrap_err().message;
    assert_eq!(error(&[[0, 1, 3]]), "a triangle refers to vertex 3, and there are 3");
    assert_eq!(error(&[[0, 1, 2], [0, 1, 1]]), "triangle 1 has a vertex twice");
    let nowhere = [DVec3::ZERO, DVec3::NAN, DVec3::Y];
    assert_eq!(CollisionSurface::new(&nowhere, &[[0, 1, 2]]).unwrap_err().message, "vertex 1 is not finite");
    assert!(CollisionSurface::cloud(&points, &[1.0, 2.0]).is_err());
    assert!(CollisionSurface::cloud(&points, &[1.0, -2.0, 1.0]).is_err());
    // Nothing meets nothing.
    let none = || Case::new(CollisionSurface::new(&[], &[]).unwrap(), &[], &[], 1.0, DVec3::ZERO);
    let one =
        Case::new(CollisionSurface::new(&points, &[[0, 1, 2]]).unwrap(), &points, &points, 1.0, DVec3::ZERO);
    assert_eq!(
        detect(&[none(), none(), one], Search { edges: true, ..Search::default() }, true, 2).0.len(),
        0
    );
}

#[test]
fn distances_at_rest_tell_neighbours_from_others() {
    let points: Vec<DVec3> = (0..6).map(|k| DVec3::new(f64::from(k % 3), 0.0, f64::from(k / 3))).collect();
    let surface = CollisionSurface::new(&points, &[[0, 3, 1], [1, 3, 4], [1, 4, 2], [2, 4, 5]]).unwrap();
    assert_eq!((surface.edges().len(), surface.is_closed()), (9, false));
    let edge = |a, b| surface.edges().iter().position(|e| *e == [a, b]).unwrap() as u32;
    assert_eq!(surface.rest_edge_edge(edge(0, 3), edge(2, 5)), 2.0);
    assert_eq!(surface.rest_edge_edge(edge(0, 3), edge(1, 3)), 0.0);
    assert_eq!(
        (surface.rest_vertex_triangle(0, 3), surface.rest_vertex_triangle(0, 0)),
        (2.0_f64.sqrt(), 0.0)
    );
    assert_eq!(surface.around(4), &[1, 2, 3]);
}
