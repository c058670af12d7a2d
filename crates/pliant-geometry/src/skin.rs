//! Skins: how the vertices of a render mesh follow simulated particles.
//!
//! A vertex is a sum of up to three parts, each a few fixed weights: particles, handles and normals. Handles are
//! themselves fixed combinations of particles that many vertices share (the frame of a cluster or of a particle),
//! so the first two parts are linear. Normals are those of the cloth, and carry what lies off it.

use glam::DVec3;

use crate::TriMesh;
use crate::rows::{self, SparseRows};

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

/// What [`Skin::apply_within`] needs room for besides the vertices.
#[derive(Clone, Debug, Default)]
pub struct SkinScratch {
    handles: Vec<DVec3>,
    normals: Vec<DVec3>,
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

    /// Of vertices by particles, handles by particles and vertices by handles. Handles that nobody uses are left out.
    pub(crate) fn assemble(particles: SparseRows, handles: SparseRows, mut through: SparseRows) -> Skin {
        let SparseRows { offsets, columns: particles, weights } = particles;
        let mut number = vec![u32::MAX; handles.len()];
        through.columns.iter().for_each(|&h| number[h as usize] = 0);
        let mut kept = SparseRows::new();
        for (h, number) in number.iter_mut().enumerate().filter(|n| *n.1 == 0) {
            *number = kept.len() as u32;
            kept.push(handles.row(h));
        }
        through.columns.iter_mut().for_each(|h| *h = number[*h as usize]);
        let handles = (!kept.is_empty()).then(|| Box::new(Handles { handles: kept, vertices: through }));
        Skin { offsets, particles, weights, handles, normal_offsets: None }
    }

    /// Of skins that have some of the vertices each: with every one the vertices it is of, and the particles it names.
    /// Lifts are not taken over. A vertex of none follows nothing.
    pub(crate) fn gather(vertices: usize, skins: &[(Skin, Vec<usize>, Vec<u32>)]) -> Skin {
        let mut place = vec![None; vertices];
        let mut handles = SparseRows::new();
        let mut first_handle = Vec::with_capacity(skins.len());
        for (k, (skin, own, particles)) in skins.iter().enumerate() {
            own.iter().enumerate().for_each(|(at, &v)| place[v] = Some((k, at)));
            first_handle.push(handles.len() as u32);
            for through in skin.handles.iter().map(|h| &h.handles) {
                for h in 0..through.len() {
                    handles.push(through.row(h).map(|(i, w)| (particles[i as usize], w)));
                }
            }
        }
        let (mut rows, mut through) = (SparseRows::new(), SparseRows::new());
        for at in place {
            let Some((k, v)) = at else {
                rows.push([]);
                through.push([]);
                continue;
            };
            let (skin, _, particles) = &skins[k];
            let direct = rows::entries(&skin.offsets, v);
            rows.push(direct.map(|e| (particles[skin.particles[e] as usize], skin.weights[e])));
            let own = skin.handles.iter().flat_map(|h| h.vertices.row(v));
            through.push(own.map(|(h, w)| (first_handle[k] + h, w)));
        }
        Skin::assemble(rows, handles, through)
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
    }

    /// All but the normals.
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
    /// that is reached in several ways comes several times; [`merge_weights`](crate::merge_weights) makes them one.
    pub fn add_weights(&self, v: usize, factor: f64, all: &mut Vec<(u32, f64)>) {
        let direct = rows::entries(&self.offsets, v).map(|k| (self.particles[k], factor * self.weights[k]));
        all.extend(direct);
        if let Some(through) = &self.handles {
            for (handle, weight) in through.vertices.row(v) {
                all.extend(through.handles.row(handle as usize).map(|(p, w)| (p, factor * (w * weight))));
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
        Ok(())
    }
}
