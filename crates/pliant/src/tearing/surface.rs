//! A shown surface that follows a torn body: each triangle goes with one element, and its corners with that element's.
//!
//! Triangles keep their order and corners, so whatever a file says of them (texture coordinates, materials) stays true; where
//! neighbours go with elements that came apart they get vertices of their own. A corner that followed particles beyond its
//! triangle's element, in a body that tore there, is bound to the element alone: it is where it was at rest, and moves on
//! with its side. Faces that a tear lays open inside a solid are added at the end.

use super::corners::Corners;
use super::facets::Facets;
use super::prototype::exposed;
use crate::points::Points;
use glam::DVec3;
use pliant_geometry::{Lifts, Rows, Skin};
use std::collections::BTreeMap;

/// What a vertex of a torn surface was that was not there before: one of a face that a tear has laid open.
pub const NOT_SHOWN: u32 = u32::MAX;

/// A surface of a torn body.
#[derive(Clone, Debug, PartialEq)]
pub struct TornSurface {
    /// The triangles of the whole body in their order, then those that were laid open.
    pub triangles: Vec<[u32; 3]>,
    /// How vertices follow the particles; `None` if they are the particles.
    pub skin: Option<Skin>,
    /// The vertex of the whole body's surface that each vertex was, or [`NOT_SHOWN`].
    pub origin: Vec<u32>,
    /// Facet and element of each triangle that was laid open, ascending.
    pub opened: Vec<[u32; 2]>,
}

/// The element that each triangle of a surface follows most: the one with most of its corners' weights, of equal ones the
/// first.
pub(crate) fn hosts(facets: &Facets, triangles: &[[u32; 3]], skin: Option<&Skin>) -> Vec<u32> {
    let mut weights: Vec<(u32, f64)> = Vec::new();
    let of = |t: &[u32; 3]| {
        weights.clear();
        for &v in t {
            match skin {
                Some(skin) => skin.add_weights(v as usize, 1.0, &mut weights),
                None => weights.push((v, 1.0)),
            }
        }
        let covered = |e: u32| -> f64 {
            let own = weights.iter().filter(|(i, _)| facets.corner_of(e as usize, *i).is_some());
            own.map(|(_, w)| w.abs()).sum()
        };
        let near = weights.iter().flat_map(|(i, _)| facets.star(*i as usize));
        let best = near.map(|&e| (covered(e), e)).reduce(|best, next| {
            let better = next.0 > best.0 || next.0 == best.0 && next.1 < best.1;
            if better { next } else { best }
        });
        best.map_or(0, |(_, e)| e)
    };
    triangles.iter().map(of).collect()
}

/// What one corner of a triangle follows: particles with weights, and normals of particles with heights.
type Row = (Vec<(u32, f64)>, Vec<(u32, f64)>);

/// A surface of the whole body, and the body.
pub(crate) struct Whole<'a> {
    pub facets: &'a Facets,
    pub rest: &'a Points,
    pub triangles: &'a [[u32; 3]],
    pub skin: Option<&'a Skin>,
    pub hosts: &'a [u32],
    /// Rest positions of the surface's vertices.
    pub vertices: &'a [DVec3],
}

impl Whole<'_> {
    /// The surface after a tear.
    pub fn torn(&self, corners: &Corners) -> TornSurface {
        let Whole { facets, triangles, .. } = *self;
        let (opened, faces): (Vec<[u32; 2]>, Vec<[u32; 3]>) = exposed(facets, corners).unzip();
        let Some(skin) = self.skin else {
            let now = |(t, &host): (&[u32; 3], &u32)| t.map(|i| corners.at(facets, host as usize, i));
            let mut list: Vec<[u32; 3]> = triangles.iter().zip(self.hosts).map(now).collect();
            list.extend(faces);
            return TornSurface { triangles: list, skin: None, origin: corners.origin().to_vec(), opened };
        };
        let mut made = Vertices::new(self.vertices.len(), |v| self.row(skin, v));
        let mut list = Vec::with_capacity(triangles.len() + faces.len());
        for (t, &host) in triangles.iter().zip(self.hosts) {
            list.push(t.map(|v| {
                let row = self.follow(corners, host as usize, v, made.rows[v as usize].clone());
                made.vertex(v, row)
            }));
        }
        for face in faces {
            list.push(face.map(|p| made.vertex(NOT_SHOWN, (vec![(p, 1.0)], Vec::new()))));
        }
        let lifts = skin.lifts.as_ref().map(|l| self.lifted(corners, &l.triangles));
        let (skin, origin) = made.finish(lifts);
        TornSurface { triangles: list, skin: Some(skin), origin, opened }
    }

    fn row(&self, skin: &Skin, v: usize) -> Row {
        let lifts = skin.lifts.as_ref().map_or_else(Vec::new, |l| l.vertices.row(v).collect());
        (skin.weights_of(v), lifts)
    }

    /// What vertex `v` follows as a corner of a triangle that goes with the element `host`.
    fn follow(&self, corners: &Corners, host: usize, v: u32, (mut weights, mut lifts): Row) -> Row {
        let facets = self.facets;
        let parted = |i: u32| facets.star(i as usize).iter().any(|&e| corners.at(facets, e as usize, i) != i);
        let beyond = weights.iter().any(|(i, _)| facets.corner_of(host, *i).is_none() && parted(*i));
        if beyond {
            weights = self.bound(host, self.vertices[v as usize]);
        }
        for (i, _) in weights.iter_mut().chain(&mut lifts) {
            *i = corners.at(facets, host, *i);
        }
        (weights, lifts)
    }

    /// A place by the corners of an element, as near as its plane or space allows.
    fn bound(&self, element: usize, at: DVec3) -> Vec<(u32, f64)> {
        let cell = self.facets.cell(element);
        let offset = at - self.rest.get(cell[0] as usize);
        let others: Vec<f64> = self.facets.duals(element).iter().map(|g| g.dot(offset)).collect();
        let first = 1.0 - others.iter().sum::<f64>();
        cell.iter().copied().zip(std::iter::once(first).chain(others)).collect()
    }

    /// The triangles whose normals a skin stands on.
    fn lifted(&self, corners: &Corners, triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
        let now = |t: &[u32; 3]| match self.facets.element_with(t) {
            Some(e) => t.map(|i| corners.at(self.facets, e as usize, i)),
            None => *t,
        };
        triangles.iter().map(now).collect()
    }
}

/// Vertices as they are found: those of the whole surface keep their numbers with what they follow first.
struct Vertices {
    /// What each vertex of the whole surface follows.
    rows: Vec<Row>,
    origin: Vec<u32>,
    made: Vec<Option<Row>>,
    /// Numbers of vertices of one origin.
    known: BTreeMap<u32, Vec<u32>>,
}

impl Vertices {
    fn new(count: usize, row: impl Fn(usize) -> Row) -> Vertices {
        Vertices {
            rows: (0..count).map(row).collect(),
            origin: (0..count as u32).collect(),
            made: vec![None; count],
            known: BTreeMap::new(),
        }
    }

    /// The number of the vertex of an origin that follows this.
    fn vertex(&mut self, origin: u32, row: Row) -> u32 {
        let known = self.known.entry(origin).or_default();
        if let Some(&k) = known.iter().find(|k| self.made[**k as usize].as_ref() == Some(&row)) {
            return k;
        }
        let k = match origin != NOT_SHOWN && known.is_empty() {
            true => origin,
            false => {
                self.made.push(None);
                self.origin.push(origin);
                self.made.len() as u32 - 1
            }
        };
        known.push(k);
        self.made[k as usize] = Some(row);
        k
    }

    fn finish(self, lifts: Option<Vec<[u32; 3]>>) -> (Skin, Vec<u32>) {
        let Vertices { rows, origin, made, .. } = self;
        let (mut weights, mut heights) = (Rows::new(), Rows::new());
        for (k, row) in made.into_iter().enumerate() {
            // Vertices of no triangle stay as they were.
            let (own, lifts) = row.unwrap_or_else(|| rows[k].clone());
            weights.push(own);
            heights.push(lifts);
        }
        let Rows { offsets, columns: particles, weights } = weights;
        let lifts = lifts.map(|triangles| Box::new(Lifts { triangles, vertices: heights }));
        (Skin { offsets, particles, weights, handles: None, lifts }, origin)
    }
}

impl TornSurface {
    /// Which vertex of the surface `before` each vertex was, of the same whole surface torn less, or [`NOT_SHOWN`]. Triangles
    /// of the whole surface stay in their places, those laid open are known by facet and element.
    pub(super) fn since(&self, before: &TornSurface) -> Vec<u32> {
        let mut map = vec![NOT_SHOWN; self.origin.len()];
        let first = self.triangles.len() - self.opened.len();
        let known = before
            .opened
            .iter()
            .map(|key| self.opened.binary_search(key).map_or(NOT_SHOWN as usize, |k| first + k));
        for (k, from) in (0..first).chain(known).zip(&before.triangles) {
            let Some(to) = self.triangles.get(k) else { continue };
            for (&to, &from) in to.iter().zip(from) {
                if map[to as usize] == NOT_SHOWN {
                    map[to as usize] = from;
                }
            }
        }
        // Vertices of no triangle stay as they were.
        for (v, to) in map.iter_mut().enumerate().take(before.origin.len()) {
            if *to == NOT_SHOWN && self.origin[v] == before.origin[v] && self.origin[v] != NOT_SHOWN {
                *to = v as u32;
            }
        }
        map
    }
}
