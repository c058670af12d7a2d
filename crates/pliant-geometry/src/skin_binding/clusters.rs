//! Binding to clusters: smooth skinning by the affine motion that fits each cluster best.
//!
//! The best affine fit x ↦ c + A (X − C), with c = Σ μᵢ xᵢ and A = Σ μᵢ xᵢ ⊗ S⁻¹(Xᵢ − C), is linear in the members: one
//! handle for c and one for each column of A. A vertex blends the fits of the clusters that the particles
//! around it belong to, each by how deep in the cluster those are, so that weights vary continuously and an ear
//! does not follow clusters of the other ear.

use crate::cluster::Clusters;
use crate::eigen::symmetric_eigen;
use crate::rows::{self, SparseRows};
use crate::skin::Skin;
use crate::skin_binding::particles::MovingLeastSquares;
use glam::{DMat3, DVec3};

/// Most clusters a vertex may follow.
const MOST: usize = 8;
/// How much a cluster's say reaches beyond its outermost member, so that those have one too.
const RIM: f64 = 1.1;
/// A vertex that would swing more than this on a flat cluster follows it less, and not at all from twice this on.
const SWING: f64 = 6.0;
/// How often each particle takes over half of what its neighbours follow: borders between clusters, which would show
/// as creases, become as wide as clusters are.
const SMOOTHING: usize = 4;
/// A cluster whose members spread less than this share (squared) of their widest is flat.
const FLAT: f64 = 1e-8;

impl Skin {
    /// Binds `vertices` to clusters of particles, held together by `edges` if there are any. Affine motions are followed exactly.
    /// Where clusters are flat, in line or single particles, vertices follow the particles around them
    /// instead, as in [`bind_connected`](Skin::bind_connected). All positions must be finite.
    pub fn bind_clusters(
        points: &[DVec3],
        edges: &[[u32; 2]],
        clusters: &Clusters,
        vertices: &[DVec3],
    ) -> Skin {
        let fits: Vec<ClusterAffineFit> =
            (0..clusters.len()).map(|c| ClusterAffineFit::new(points, clusters, c)).collect();
        let depths = smoothed(depths(points.len(), &fits), edges);
        let mut handles = SparseRows::new();
        for fit in &fits {
            handles.push(fit.members.iter().map(|&(i, m)| (i, m)));
            for k in 0..3 {
                let slope = |(&(i, m), s): (&(u32, f64), &DVec3)| (i, m * s[k]);
                handles.push(fit.members.iter().zip(&fit.slopes).map(slope));
            }
        }
        let mut particles_around = MovingLeastSquares::new(points, (!edges.is_empty()).then_some(edges));
        let (mut direct, mut through) = (SparseRows::new(), SparseRows::new());
        for &vertex in vertices {
            let (mut row, mut left) = (Vec::new(), 1.0);
            for (c, part) in blend(&particles_around.shares(vertex), &depths) {
                let fit = &fits[c as usize];
                let off = vertex - fit.middle;
                let part = part * (2.0 - off.length() * fit.swing / SWING).clamp(0.0, 1.0);
                if part > 0.0 {
                    left -= part;
                    row.push((4 * c, part));
                    row.extend([0, 1, 2].map(|k| (4 * c + 1 + k, part * off[k as usize])));
                }
            }
            // What no cluster carries; rounding does not count.
            let left = if left > 1e-12 { left } else { 0.0 };
            let total: f64 = row.iter().filter(|e| e.0 % 4 == 0).map(|e| e.1).sum();
            let scale = if total > 0.0 { (1.0 - left) / total } else { 0.0 };
            row.iter_mut().for_each(|e| e.1 *= scale);
            let mut rest = Vec::new();
            if left > 0.0 {
                let followed = particles_around.follow(vertex, None, &mut handles);
                rest.extend(followed.particles.into_iter().map(|(i, w)| (i, w * left)));
                row.extend(followed.handles.into_iter().map(|(h, w)| (h, w * left)));
            }
            through.push(row);
            direct.push(rest);
        }
        Skin::assemble(direct, handles, through, None)
    }
}

/// The best affine fit of a cluster.
struct ClusterAffineFit {
    /// Particle and its part in the fit, which is the more the deeper it is inside; in sum one.
    members: Vec<(u32, f64)>,
    /// How deep each is inside: one in the middle, nearly zero at the rim.
    depth: Vec<f64>,
    /// S⁻¹(Xᵢ − C).
    slopes: Vec<DVec3>,
    /// C.
    middle: DVec3,
    /// How far the image of a unit vector may move when every particle moves by one; infinite if flat.
    swing: f64,
}

impl ClusterAffineFit {
    fn new(points: &[DVec3], clusters: &Clusters, c: usize) -> ClusterAffineFit {
        let members: Vec<u32> =
            clusters.members_of(c).iter().copied().filter(|&i| (i as usize) < points.len()).collect();
        // From the first, so that particles all in one place are exactly so.
        let origin = members.first().map_or(DVec3::ZERO, |&i| points[i as usize]);
        let at = |i: u32| points[i as usize] - origin;
        let mean = members.iter().map(|&i| at(i)).sum::<DVec3>() / members.len().max(1) as f64;
        let ball = clusters.middles.get(c).filter(|m| m.is_finite()).map_or(mean, |m| *m - origin);
        let reach = RIM * members.iter().map(|&i| at(i).distance(ball)).fold(0.0, f64::max);
        let deep = |&i: &u32| {
            let q = if reach > 0.0 { at(i).distance_squared(ball) / (reach * reach) } else { 0.0 };
            (1.0 - q).max(0.0).powi(2)
        };
        let depth: Vec<f64> = members.iter().map(deep).collect();
        let total: f64 = depth.iter().sum();
        let members: Vec<(u32, f64)> = members.into_iter().zip(depth.iter().map(|d| d / total)).collect();
        let middle: DVec3 = members.iter().map(|&(i, m)| m * at(i)).sum();
        let mut scatter = DMat3::ZERO;
        for &(i, m) in &members {
            let d = at(i) - middle;
            scatter += DMat3::from_cols(m * d * d.x, m * d * d.y, m * d * d.z);
        }
        let (values, _) = symmetric_eigen(scatter);
        let flat = values.min_element() <= FLAT * values.max_element();
        let inverse = if flat { DMat3::ZERO } else { scatter.inverse() };
        let mut slopes: Vec<DVec3> = members.iter().map(|&(i, _)| inverse * (at(i) - middle)).collect();
        // Bounds Σ μ |slope · e| by Cauchy and Schwarz.
        let mut swing = values.min_element().sqrt().recip();
        if flat || !swing.is_finite() || !slopes.iter().all(|s| s.is_finite()) {
            slopes.fill(DVec3::ZERO);
            swing = f64::INFINITY;
        }
        ClusterAffineFit { members, depth, slopes, middle: origin + middle, swing }
    }
}

/// For each particle the clusters it is in, and how deep.
fn depths(particles: usize, fits: &[ClusterAffineFit]) -> Vec<Vec<(u32, f64)>> {
    let mut of: Vec<Vec<(u32, f64)>> = vec![Vec::new(); particles];
    for (c, fit) in fits.iter().enumerate() {
        for (member, &depth) in fit.members.iter().zip(&fit.depth) {
            of[member.0 as usize].push((c as u32, depth));
        }
    }
    of
}

/// Depths in sum one, spread over neighbours; only the strongest of each particle.
fn smoothed(mut depths: Vec<Vec<(u32, f64)>>, edges: &[[u32; 2]]) -> SparseRows {
    depths.iter_mut().for_each(strongest);
    let mut neighbours = vec![0u32; depths.len()];
    edges.iter().flatten().for_each(|&i| neighbours[i as usize] += 1);
    for _ in 0..if edges.is_empty() { 0 } else { SMOOTHING } {
        let before = depths.clone();
        for (row, &count) in depths.iter_mut().zip(&neighbours).filter(|n| *n.1 > 0) {
            row.iter_mut().for_each(|e| e.1 *= f64::from(count));
        }
        for &[a, b] in edges {
            for (to, from) in [(a, b), (b, a)] {
                let row = &mut depths[to as usize];
                before[from as usize].iter().for_each(|e| rows::add(row, e.0, e.1));
            }
        }
        depths.iter_mut().for_each(strongest);
    }
    let mut rows = SparseRows::new();
    depths.into_iter().for_each(|row| rows.push(row));
    rows
}

/// Keeps the strongest, one more than a vertex may follow, and makes their sum one.
fn strongest(row: &mut Vec<(u32, f64)>) {
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    row.truncate(MOST + 1);
    let total: f64 = row.iter().map(|e| e.1).sum();
    row.iter_mut().filter(|_| total > 0.0).for_each(|e| e.1 /= total);
}

/// The clusters of a vertex and their parts, in sum one: none if its neighbours are in no cluster.
fn blend(neighbours: &[(u32, f64)], depths: &SparseRows) -> Vec<(u32, f64)> {
    let mut parts = Vec::new();
    for &(i, share) in neighbours {
        depths.row(i as usize).for_each(|(c, depth)| rows::add(&mut parts, c, share * depth));
    }
    parts.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    // The next one not taken is where parts begin, so that clusters come and go without a jump.
    if let Some(&(_, next)) = parts.get(MOST) {
        parts.truncate(MOST);
        if parts[0].1 > next {
            parts.iter_mut().for_each(|p| p.1 -= next);
        }
    }
    let total: f64 = parts.iter().map(|p| p.1).sum();
    parts.retain(|p| p.1 > 0.0);
    parts.iter_mut().for_each(|p| p.1 /= total);
    parts
}
