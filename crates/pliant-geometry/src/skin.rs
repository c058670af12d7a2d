//! Skins: how the vertices of a render mesh follow simulated particles.
//!
//! A vertex is a sum of up to four parts, each a few fixed weights: particles, handles, normals and frames. Handles are
//! themselves fixed combinations of particles that many vertices share (the frame of a cluster or of a particle),
//! so the first two parts are linear. Normals are those of the cloth, and carry what lies off it. Frames only turn: they carry
//! what lies far outside a solid.

use crate::TriMesh;
use crate::rows::{self, SparseRows};
use glam::{DMat3, DVec3};
use pliant_math::nearest_rotation;

/// How each vertex is put together from particles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// `offsets[v]..offsets[v + 1]` are the entries of vertex `v`.
    pub offsets: Vec<u32>,
    /// Particle index of each entry, within the body.
    pub particles: Vec<u32>,
    /// Weight of each entry. The weights of a vertex sum to one, together with what reaches it through handles.
    pub weights: Vec<f64>,
    /// What vertices follow besides particles; mostly nothing.
    pub handles: Option<Box<Handles>>,
    /// How vertices stand off a cloth; mostly not.
    pub normal_offsets: Option<Box<NormalOffsets>>,
    /// How vertices lie far outside a solid; mostly not.
    pub rigid_offsets: Option<Box<RigidOffsets>>,
}

/// Combinations of particles that many vertices share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handles {
    /// Each handle by its particles: points (weights sum to one) or differences (to zero).
    pub handles: SparseRows,
    /// Each vertex by its handles.
    pub vertices: SparseRows,
}

/// Heights along the normals of a cloth, which turn with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NormalOffsets {
    /// Triangles of particles: the unit normal of a particle is that of [`TriMesh::vertex_normals`].
    pub triangles: Vec<[u32; 3]>,
    /// Each vertex by the normals of particles, in metres.
    pub vertices: SparseRows,
}

/// Offsets that turn with the particles near them but never stretch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigidOffsets {
    /// What they turn with.
    pub frames: Vec<RigidFrame>,
    /// Each vertex by axes of frames, in metres: columns 3 f, 3 f + 1 and 3 f + 2 are those of frame f.
    pub vertices: SparseRows,
}

/// The rotation that fits some particles best, by their best affine fit: how it maps the axes, and what it is a fit of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidFrame {
    /// The first of the three handles that are the images of x, y and z.
    pub first: u32,
    /// Σ m (X − C)(X − C)ᵀ of the particles at rest, which times the affine fit is the covariance of the rotation.
    pub spread: DMat3,
}

impl RigidFrame {
    /// How it is turned, with these handles; never anything but a rotation.
    fn turned(&self, handles: &[DVec3]) -> DMat3 {
        let [x, y, z] = [0, 1, 2].map(|k| handles[self.first as usize + k]);
        nearest_rotation(DMat3::from_cols(x, y, z) * self.spread, DMat3::IDENTITY)
    }
}

impl RigidOffsets {
    /// A vertex by handles, as if frames were the affine fits they are the rotations of.
    fn axes_of(&self, v: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.vertices.row(v).map(|(axis, w)| (self.frames[axis as usize / 3].first + axis % 3, w))
    }

    fn leave_out_unused(&mut self) {
        let mut number = vec![u32::MAX; self.frames.len()];
        self.vertices.columns.iter().for_each(|&axis| number[axis as usize / 3] = 0);
        let mut kept = Vec::new();
        for (frame, number) in self.frames.iter().zip(&mut number).filter(|(_, n)| **n == 0) {
            *number = kept.len() as u32;
            kept.push(*frame);
        }
        self.vertices.columns.iter_mut().for_each(|axis| *axis = 3 * number[*axis as usize / 3] + *axis % 3);
        self.frames = kept;
    }
}

/// What [`Skin::apply_within`] needs room for besides the vertices.
#[derive(Clone, Debug, Default)]
pub struct SkinScratch {
    handles: Vec<DVec3>,
    normals: Vec<DVec3>,
    /// Of all frames, one after the other.
    axes: Vec<DVec3>,
}

impl Skin {
    /// Each vertex is the particle of the same index.
    pub fn identity(count: usize) -> Skin {
        Skin {
            offsets: (0..=count as u32).collect(),
            particles: (0..count as u32).collect(),
            weights: vec![1.0; count],
            ..Skin::default()
        }
    }

    /// Of vertices by particles, handles by particles, vertices by handles and by frames. Handles that nobody uses are left out.
    pub(crate) fn assemble(
        particles: SparseRows,
        handles: SparseRows,
        mut through: SparseRows,
        mut rigid_offsets: Option<Box<RigidOffsets>>,
    ) -> Skin {
        let SparseRows { offsets, columns: particles, weights } = particles;
        let mut number = vec![u32::MAX; handles.len()];
        through.columns.iter().for_each(|&h| number[h as usize] = 0);
        if let Some(rigid) = &mut rigid_offsets {
            rigid.leave_out_unused();
            rigid.frames.iter().for_each(|f| (f.first..f.first + 3).for_each(|h| number[h as usize] = 0));
        }
        let mut kept = SparseRows::new();
        for (h, number) in number.iter_mut().enumerate().filter(|n| *n.1 == 0) {
            *number = kept.len() as u32;
            kept.push(handles.row(h));
        }
        through.columns.iter_mut().for_each(|h| *h = number[*h as usize]);
        // Three handles that are all used stay one after the other.
        let frames = rigid_offsets.iter_mut().flat_map(|r| &mut r.frames);
        frames.for_each(|f| f.first = number[f.first as usize]);
        let handles = (!kept.is_empty()).then(|| Box::new(Handles { handles: kept, vertices: through }));
        Skin { offsets, particles, weights, handles, normal_offsets: None, rigid_offsets }
    }

    /// Of skins that have some of the vertices each: with every one the vertices it is of, and the particles it names.
    /// Lifts are not taken over. A vertex of none follows nothing.
    pub(crate) fn gather(vertices: usize, skins: &[(Skin, Vec<usize>, Vec<u32>)]) -> Skin {
        let mut place = vec![None; vertices];
        let mut handles = SparseRows::new();
        let mut first_handle = Vec::with_capacity(skins.len());
        let mut frames = Vec::new();
        let mut first_frame = Vec::with_capacity(skins.len());
        for (k, (skin, own, particles)) in skins.iter().enumerate() {
            own.iter().enumerate().for_each(|(at, &v)| place[v] = Some((k, at)));
            first_handle.push(handles.len() as u32);
            first_frame.push(frames.len() as u32);
            let first = handles.len() as u32;
            let own = skin.rigid_offsets.iter().flat_map(|r| &r.frames);
            frames.extend(own.map(|f| RigidFrame { first: first + f.first, ..*f }));
            for through in skin.handles.iter().map(|h| &h.handles) {
                for h in 0..through.len() {
                    handles.push(through.row(h).map(|(i, w)| (particles[i as usize], w)));
                }
            }
        }
        let (mut rows, mut through, mut rigid) = (SparseRows::new(), SparseRows::new(), SparseRows::new());
        for at in place {
            let Some((k, v)) = at else {
                rows.push([]);
                through.push([]);
                rigid.push([]);
                continue;
            };
            let (skin, _, particles) = &skins[k];
            let direct = rows::entries(&skin.offsets, v);
            rows.push(direct.map(|e| (particles[skin.particles[e] as usize], skin.weights[e])));
            let own = skin.handles.iter().flat_map(|h| h.vertices.row(v));
            through.push(own.map(|(h, w)| (first_handle[k] + h, w)));
            let own = skin.rigid_offsets.iter().flat_map(|r| r.vertices.row(v));
            rigid.push(own.map(|(axis, w)| (3 * first_frame[k] + axis, w)));
        }
        let rigid = (!frames.is_empty()).then(|| Box::new(RigidOffsets { frames, vertices: rigid }));
        Skin::assemble(rows, handles, through, rigid)
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether each vertex is the particle of the same index.
    pub fn is_identity(&self, particles: usize) -> bool {
        self.handles.is_none()
            && self.normal_offsets.is_none()
            && self.rigid_offsets.is_none()
            && (self.len() == particles && self.particles.len() == particles)
            && self.offsets.iter().zip(0..).all(|(&o, k)| o == k)
            && self.particles.iter().zip(0..).all(|(&p, k)| p == k)
            && self.weights.iter().all(|w| *w == 1.0)
    }

    /// Vertex positions for particle positions given as one slice per coordinate.
    pub fn apply(&self, [x, y, z]: [&[f64]; 3], vertices: &mut Vec<DVec3>) {
        // Together, because a vertex wants all three of a particle.
        let particles: Vec<DVec3> = (0..x.len()).map(|i| DVec3::new(x[i], y[i], z[i])).collect();
        self.apply_within(&particles, &mut SkinScratch::default(), vertices);
    }

    /// Vertex positions for particle positions, without allocating once `scratch` and `vertices` were used.
    pub fn apply_within(&self, particles: &[DVec3], scratch: &mut SkinScratch, vertices: &mut Vec<DVec3>) {
        self.linear(particles, &mut scratch.handles, vertices);
        if let Some(normal_offsets) = &self.normal_offsets {
            TriMesh::vertex_normals(particles, &normal_offsets.triangles, &mut scratch.normals);
            for (v, vertex) in vertices.iter_mut().enumerate() {
                *vertex += normal_offsets.vertices.times(v, &scratch.normals);
            }
        }
        if let Some(rigid) = &self.rigid_offsets {
            scratch.axes.clear();
            let turned = rigid.frames.iter().map(|f| f.turned(&scratch.handles));
            scratch.axes.extend(turned.flat_map(|r| [r.x_axis, r.y_axis, r.z_axis]));
            for (v, vertex) in vertices.iter_mut().enumerate() {
                *vertex += rigid.vertices.times(v, &scratch.axes);
            }
        }
    }

    /// All but the normals and the frames.
    fn linear<V: rows::RowValue>(&self, particles: &[V], handles: &mut Vec<V>, vertices: &mut Vec<V>) {
        let direct = |v: usize| rows::product(&self.offsets, &self.particles, &self.weights, v, particles);
        vertices.clear();
        vertices.extend((0..self.len()).map(direct));
        if let Some(through) = &self.handles {
            handles.clear();
            handles.extend((0..through.handles.len()).map(|h| through.handles.times(h, particles)));
            for (v, vertex) in vertices.iter_mut().enumerate() {
                *vertex += through.vertices.times(v, handles);
            }
        }
    }

    /// Values of vertices for values of particles (strain, speed), mixed as positions are.
    pub fn mix(&self, values: &[f32]) -> Vec<f64> {
        let values: Vec<f64> = values.iter().copied().map(f64::from).collect();
        let mut mixed = Vec::new();
        self.linear(&values, &mut Vec::new(), &mut mixed);
        mixed
    }

    /// The particle that each vertex follows most, for pictures. Of a handle its own strongest particle counts.
    pub fn strongest(&self) -> Vec<Option<u32>> {
        let strongest = |row: &mut dyn Iterator<Item = (u32, f64)>| {
            row.filter(|e| e.1 > 0.0).reduce(|best, e| if e.1 > best.1 { e } else { best }).map(|e| e.0)
        };
        let through: Vec<Option<u32>> = match &self.handles {
            Some(through) => {
                (0..through.handles.len()).map(|h| strongest(&mut through.handles.row(h))).collect()
            }
            None => Vec::new(),
        };
        let by_handle = |v: usize| {
            let rows = &self.handles.as_ref()?.vertices;
            strongest(&mut rows.row(v)).and_then(|h| through[h as usize])
        };
        let direct = |v: usize| {
            let mut row = rows::entries(&self.offsets, v).map(|k| (self.particles[k], self.weights[k]));
            strongest(&mut row)
        };
        (0..self.len()).map(|v| direct(v).or_else(|| by_handle(v))).collect()
    }

    /// The particles that vertex `v` follows, directly and through handles, each once with all of its weight.
    pub fn weights_of(&self, v: usize) -> Vec<(u32, f64)> {
        let mut all = Vec::new();
        self.add_weights(v, 1.0, &mut all);
        rows::merge(&mut all);
        all
    }

    /// Appends the particles that vertex `v` follows, directly and through handles, with `factor` times their weights. One
    /// that is reached in several ways comes several times; [`merge_weights`](crate::merge_weights) makes them one. Frames are told as
    /// the affine fits they are the rotations of: the same at rest.
    pub fn add_weights(&self, v: usize, factor: f64, all: &mut Vec<(u32, f64)>) {
        let direct = rows::entries(&self.offsets, v).map(|k| (self.particles[k], factor * self.weights[k]));
        all.extend(direct);
        if let Some(through) = &self.handles {
            for (handle, weight) in through.vertices.row(v) {
                all.extend(through.handles.row(handle as usize).map(|(p, w)| (p, factor * (w * weight))));
            }
            for (axis, weight) in self.rigid_offsets.iter().flat_map(|r| r.axes_of(v)) {
                all.extend(through.handles.row(axis as usize).map(|(p, w)| (p, factor * (w * weight))));
            }
        }
    }

    /// What keeps it from being the skin of `vertices` vertices on `particles` particles, if anything does.
    pub fn check(&self, vertices: usize, particles: usize) -> Result<(), String> {
        if self.len() != vertices {
            return Err(format!("the skin has {} vertices, the mesh {vertices}", self.len()));
        }
        rows::check(&self.offsets, &self.particles, &self.weights, particles)
            .map_err(|why| format!("the skin's particles: {why}"))?;
        let fits = |rows: &SparseRows, what: &str, count: usize, columns: usize| {
            if rows.len() != count {
                return Err(format!("the skin's {what} have {} rows, not {count}", rows.len()));
            }
            rows.check(columns).map_err(|why| format!("the skin's {what}: {why}"))
        };
        if let Some(through) = &self.handles {
            fits(&through.handles, "handles", through.handles.len(), particles)?;
            fits(&through.vertices, "vertices on handles", vertices, through.handles.len())?;
        }
        if let Some(normal_offsets) = &self.normal_offsets {
            fits(&normal_offsets.vertices, "heights", vertices, particles)?;
            if let Some(i) = normal_offsets.triangles.iter().flatten().find(|&&i| i as usize >= particles) {
                return Err(format!("a triangle under the skin uses particle {i} of {particles}"));
            }
        }
        if let Some(rigid) = &self.rigid_offsets {
            fits(&rigid.vertices, "offsets", vertices, 3 * rigid.frames.len())?;
            let handles = self.handles.as_ref().map_or(0, |h| h.handles.len());
            let sound =
                |f: &RigidFrame| (f.first as usize).saturating_add(3) <= handles && f.spread.is_finite();
            if let Some(f) = rigid.frames.iter().position(|f| !sound(f)) {
                return Err(format!("frame {f} of the skin is not of three of its {handles} handles"));
            }
        }
        Ok(())
    }
}
