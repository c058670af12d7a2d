//! A shown surface that follows a torn body: each triangle goes with one element, and its corners with that element's.
//!
//! Triangles keep their order and corners, so whatever a file says of them (texture coordinates, materials) stays true; where
//! neighbours go with elements that came apart they get vertices of their own. A vertex that followed an element from which its
//! triangle's has come apart is bound to the latter instead:

use super::corners::Corners;
use super::facets::Facets;
use super::prototype::exposed;
use crate::points::Points;
use glam::DVec3;
use pliant_geometry::{NormalOffsets, Skin, SparseRows};
use std::collections::BTreeMap;

/// What a vertex of a torn surface was that was not there before: one of a face that a tear has laid open.
pub const NEW_VERTEX: u32 = u32::MAX;

/// What is shown of a torn body: its triangles, where vertices are, and what each of them was before.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TornSurface {
    /// The triangles of the whole body in their order, then those that were added.
    pub triangles: Vec<[u32; 3]>,
    /// How vertices follow the particles; `None` if they are the particles.
    pub skin: Option<Skin>,
    /// The vertex of the whole body's surface that each vertex was, or [`NEW_VERTEX`].
    pub origin: Vec<u32>,
    /// What each of these is, ascending: facet and element of those laid open; of those that reached across a tear the number of
    /// facets and of the triangle, added, and the element.
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
        strongest(facets, &weights)
    };
    triangles.iter().map(of).collect()
}

/// The element with most of these weights, of equal ones the first.
fn strongest(facets: &Facets, weights: &[(u32, f64)]) -> u32 {
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
        let made = Vertices::new(self.vertices.len(), |v| self.row(skin, v));
        let own: Vec<u32> = made.rows.iter().map(|(weights, _)| strongest(facets, weights)).collect();
        let mut binding =
            Binding { whole: self, corners, made, bound: own.iter().map(|&e| vec![e]).collect(), own };
        let mut list = Vec::with_capacity(triangles.len() + faces.len());
        let mut across = Vec::new();
        for (k, (t, &host)) in triangles.iter().zip(self.hosts).enumerate() {
            list.push(t.map(|v| binding.vertex(v, host)));
            across.extend(binding.other_sides(t, host).map(|side| (k, side)));
        }
        for face in faces {
            list.push(face.map(|p| binding.made.vertex(NEW_VERTEX, (vec![(p, 1.0)], Vec::new()))));
        }
        let mut opened = opened;
        for (k, side) in across {
            list.push(triangles[k].map(|v| binding.vertex(v, side)));
            opened.push([(facets.len() + k) as u32, side]);
        }
        let normal_offsets = skin.normal_offsets.as_ref().map(|l| self.lifted(corners, &l.triangles));
        let (skin, origin) = binding.made.finish(normal_offsets);
        TornSurface { triangles: list, skin: Some(skin), origin, opened }
    }

    fn row(&self, skin: &Skin, v: usize) -> Row {
        let normal_offsets =
            skin.normal_offsets.as_ref().map_or_else(Vec::new, |l| l.vertices.row(v).collect());
        (skin.weights_of(v), normal_offsets)
    }

    /// What follows these particles of the whole body, with an element.
    fn follow(&self, corners: &Corners, element: usize, (mut weights, mut normal_offsets): Row) -> Row {
        for (i, _) in weights.iter_mut().chain(&mut normal_offsets) {
            *i = corners.at(self.facets, element, *i);
        }
        (weights, normal_offsets)
    }

    /// Where a vertex lies by the corners of an element.
    fn weights_in(&self, element: usize, v: u32) -> impl Iterator<Item = (u32, f64)> {
        let cell = self.facets.cell(element);
        let offset = self.vertices[v as usize] - self.rest.get(cell[0] as usize);
        let others = self.facets.duals(element).iter().map(move |g| g.dot(offset));
        let first = 1.0 - others.clone().sum::<f64>();
        cell.iter().copied().zip(std::iter::once(first).chain(others))
    }

    /// What a vertex follows that is bound to an element alone: where it is in it, or the next place that is. It stands off a
    /// cloth as before.
    fn bound(&self, element: usize, v: u32, (_, normal_offsets): &Row) -> Row {
        let inside = || self.weights_in(element, v).filter(|(_, w)| *w > OUTSIDE);
        let sum: f64 = inside().map(|(_, w)| w).sum();
        let weights: Vec<(u32, f64)> = inside().map(|(i, w)| (i, w / sum)).collect();
        let height: f64 = normal_offsets.iter().map(|(_, height)| height).sum();
        let normal_offsets = match normal_offsets.is_empty() {
            true => Vec::new(),
            false => weights.iter().map(|&(i, w)| (i, w * height)).collect(),
        };
        (weights, normal_offsets)
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

/// Weights up to this are rounding.
const OUTSIDE: f64 = 1e-9;

/// Which element each vertex goes with, on every side of a tear.
struct Binding<'a> {
    whole: &'a Whole<'a>,
    corners: &'a Corners,
    made: Vertices,
    /// The element that each vertex followed from the start.
    own: Vec<u32>,
    /// The elements it is bound to so far, that one first.
    bound: Vec<Vec<u32>>,
}

impl Binding<'_> {
    /// The vertex that `v` is for a triangle that goes with an element.
    fn vertex(&mut self, v: u32, host: u32) -> u32 {
        let known = self.bound[v as usize].iter().copied().find(|&e| self.together(v, e, host));
        let element = known.unwrap_or_else(|| {
            self.bound[v as usize].push(host);
            host
        });
        let row = &self.made.rows[v as usize];
        let row = match element == self.own[v as usize] {
            true => row.clone(),
            false => self.whole.bound(element as usize, v, row),
        };
        self.made.vertex(v, self.whole.follow(self.corners, element as usize, row))
    }

    /// Whether a vertex may follow `element` for a triangle that goes with `host`: they have what is left of a particle they
    /// had in common, and the same of those that the vertex follows.
    fn together(&self, v: u32, element: u32, host: u32) -> bool {
        let (facets, e, h) = (self.whole.facets, element as usize, host as usize);
        let both = || facets.cell(e).iter().copied().filter(|&i| facets.corner_of(h, i).is_some());
        let same = |i: u32| self.corners.at(facets, e, i) == self.corners.at(facets, h, i);
        let follows = |i: u32| self.made.rows[v as usize].0.iter().any(|(j, w)| *j == i && w.abs() > OUTSIDE);
        if both().next().is_none() {
            return self.near(e, h);
        }
        e == h || both().any(same) && both().filter(|i| follows(*i)).all(same)
    }

    /// Whether two elements without a common particle are joined by one that has particles of both.
    fn near(&self, a: usize, b: usize) -> bool {
        let (facets, corners) = (self.whole.facets, self.corners);
        let (to, from) = (corners.cell(facets, a), corners.cell(facets, b));
        facets.cell(b).iter().zip(from).any(|(&vertex, &particle)| {
            let around = facets.star(vertex as usize).iter().map(|&e| e as usize);
            let joined = around.filter(|&e| corners.at(facets, e, vertex) == particle);
            joined.into_iter().any(|e| corners.cell(facets, e).iter().any(|i| to.contains(i)))
        })
    }

    /// The elements of corners that a triangle reaches beyond its own element to, where these came apart from it: each side
    /// has its part of the triangle.
    fn other_sides(&self, t: &[u32; 3], host: u32) -> impl Iterator<Item = u32> {
        let mut sides: Vec<u32> = Vec::new();
        for &v in t {
            let own = self.own[v as usize];
            let beyond = || self.whole.weights_in(host as usize, v).any(|(_, w)| w < -OUTSIDE);
            let known = sides.iter().any(|&side| self.together(v, own, side));
            if !self.together(v, own, host) && !known && beyond() {
                sides.push(own);
            }
        }
        sides.into_iter()
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
        let k = match origin != NEW_VERTEX && known.is_empty() {
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

    fn finish(self, normal_offsets: Option<Vec<[u32; 3]>>) -> (Skin, Vec<u32>) {
        let Vertices { rows, origin, made, .. } = self;
        let (mut weights, mut heights) = (SparseRows::new(), SparseRows::new());
        for (k, row) in made.into_iter().enumerate() {
            // Vertices of no triangle stay as they were.
            let (own, normal_offsets) = row.unwrap_or_else(|| rows[k].clone());
            weights.push(own);
            heights.push(normal_offsets);
        }
        let SparseRows { offsets, columns: particles, weights } = weights;
        let normal_offsets =
            normal_offsets.map(|triangles| Box::new(NormalOffsets { triangles, vertices: heights }));
        (Skin { offsets, particles, weights, handles: None, normal_offsets, rigid_offsets: None }, origin)
    }
}

impl TornSurface {
    /// A surface of so many vertices before any tear.
    pub fn whole(triangles: Vec<[u32; 3]>, vertices: usize) -> TornSurface {
        TornSurface { triangles, skin: None, origin: (0..vertices as u32).collect(), opened: Vec::new() }
    }

    /// Which vertex of the surface `before` each vertex was, of the same whole surface torn less, or [`NEW_VERTEX`]. Triangles
    /// of the whole surface stay in their places, those laid open are known by facet and element.
    pub fn since(&self, before: &TornSurface) -> Vec<u32> {
        let mut map = vec![NEW_VERTEX; self.origin.len()];
        let first = self.triangles.len() - self.opened.len();
        let known = before
            .opened
            .iter()
            .map(|key| self.opened.binary_search(key).map_or(NEW_VERTEX as usize, |k| first + k));
        for (k, from) in (0..first).chain(known).zip(&before.triangles) {
            let Some(to) = self.triangles.get(k) else { continue };
            for (&to, &from) in to.iter().zip(from) {
                if map[to as usize] == NEW_VERTEX {
                    map[to as usize] = from;
                }
            }
        }
        // Vertices of no triangle stay as they were.
        for (v, to) in map.iter_mut().enumerate().take(before.origin.len()) {
            if *to == NEW_VERTEX && self.origin[v] == before.origin[v] && self.origin[v] != NEW_VERTEX {
                *to = v as u32;
            }
        }
        map
    }
}
