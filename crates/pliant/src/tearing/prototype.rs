//! The prototype of a torn body: a function of the one it was built with and of the corner map.

use super::corners::Corners;
use super::facets::Facets;
use crate::constraints::{TornBatch, TornElements};
use crate::elements::couple;
use crate::model::{ClusterSet, ModelBatch, Prototype, Rest, Topology};

/// Why a body cannot tear, if so.
pub(crate) fn obstacle(prototype: &Prototype) -> Option<&'static str> {
    if !prototype.topology.clusters.is_empty() {
        return Some(
            "clusters hold the body together across any tear: leave them out, and build it of triangles or tetrahedra \
             of a material",
        );
    }
    let Some(facets) = prototype.facets().filter(|f| !f.is_empty()) else {
        return Some(
            "no two triangles or tetrahedra of the body are joined: build it as a sheet or of tetrahedra",
        );
    };
    let corners = Corners::whole(facets);
    let elements = TornElements { facets, corners: &corners };
    let follows = |b: &ModelBatch| !matches!(b.batch.torn(elements), TornBatch::Cannot);
    let all = prototype.batches.iter().all(|b| follows(b) && b.batch.state_len() == 0);
    (!all).then_some(
        "one of its constraints cannot follow a tear: leave it out, or give it `ConstraintBatch::torn`",
    )
}

/// A body that has torn, at rest: masses are shared by the size of the elements, all else is copied or left out.
pub(super) fn torn(whole: &Prototype, facets: &Facets, corners: &Corners) -> Prototype {
    let elements = TornElements { facets, corners };
    let origin = corners.origin();
    let topology = topology(whole, elements);
    let rest = &whole.rest;
    let share = shares(facets, corners);
    let copied = |list: &[f64]| origin.iter().map(|&i| list[i as usize]).collect::<Vec<f64>>();
    let shared = |list: &[f64]| {
        let part = |(&i, share): (&u32, &f64)| list[i as usize] * share;
        origin.iter().zip(&share).map(part).collect::<Vec<f64>>()
    };
    let torn = Rest {
        rigid: None,
        positions: origin.iter().map(|&i| rest.positions.get(i as usize)).collect(),
        mass: shared(&rest.mass),
        measure: shared(&rest.measure),
        radius: copied(&rest.radius),
        toughness: if rest.toughness.is_empty() { Vec::new() } else { copied(&rest.toughness) },
        coupled_mass: match rest.coupled_mass.is_empty() {
            true => Vec::new(),
            false => coupled(facets, corners, rest.body_mass),
        },
        share: Vec::new(),
        clusters: Vec::new(),
        bases: Vec::new(),
        body_mass: rest.body_mass,
        goals: rest.goals,
    };
    let batches = whole.batches.iter().filter_map(|b| match b.batch.torn(elements) {
        TornBatch::Batch(batch) => Some(ModelBatch { batch, ..b.clone() }),
        TornBatch::Gone | TornBatch::Cannot => None,
    });
    Prototype::of_tear(topology, torn, batches.collect(), whole.digest(), corners.broken())
}

fn topology(whole: &Prototype, elements: TornElements<'_>) -> Topology {
    let TornElements { facets, corners } = elements;
    let whole = &whole.topology;
    let edges = elements.edges(&whole.edges).map(|e| e.ends).collect();
    let hosts = facets.face_hosts(&whole.faces);
    let now = |(face, &host): (&[u32; 3], &u32)| face.map(|i| corners.at(facets, host as usize, i));
    let mut faces: Vec<[u32; 3]> = whole.faces.iter().zip(hosts).map(now).collect();
    faces.extend(exposed(facets, corners).map(|(_, face)| face));
    let mut topology =
        Topology::new(edges, faces, whole.solid, ClusterSet::default(), corners.origin().len());
    if whole.solid {
        topology.tetrahedra = corners.particles().as_chunks::<4>().0.to_vec();
    }
    topology
}

/// Faces inside a solid that a tear has laid open, outwards, each with facet and element, ascending.
pub(super) fn exposed<'a>(
    facets: &'a Facets,
    corners: &'a Corners,
) -> impl Iterator<Item = ([u32; 2], [u32; 3])> + 'a {
    /// The other corners of a tetrahedron seen from outside, counter-clockwise, by the corner they are opposite to.
    const OUTWARD: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
    let solid = facets.width() == 4;
    let mut broken: Vec<u32> = corners.broken().iter().copied().filter(|_| solid).collect();
    broken.sort_unstable();
    broken.into_iter().map(|f| f as usize).flat_map(move |f| {
        let of = |e: u32| {
            let e = e as usize;
            let k = (0..4).find(|k| facets.opposite(e, *k) == Some(f)).unwrap_or(0);
            OUTWARD[k].map(|c| corners.cell(facets, e)[c])
        };
        let sorted = |mut face: [u32; 3]| {
            face.sort_unstable();
            face
        };
        let list: Vec<([u32; 2], [u32; 3])> =
            facets.joined(f).iter().map(|&e| ([f as u32, e], of(e))).collect();
        let open = list.iter().any(|(_, face)| sorted(*face) != sorted(list[0].1));
        list.into_iter().filter(move |_| open)
    })
}

/// What part of its origin each particle is, by the size of its elements; exactly 1 where nothing parted.
fn shares(facets: &Facets, corners: &Corners) -> Vec<f64> {
    let origin = corners.origin();
    let (mut own, mut all) = (vec![0.0; origin.len()], vec![0.0; facets.particle_count()]);
    let mut copies = vec![0u32; facets.particle_count()];
    origin.iter().for_each(|&i| copies[i as usize] += 1);
    for (c, (&i, &p)) in facets.cells().iter().zip(corners.particles()).enumerate() {
        let measure = facets.measure(c / facets.width());
        own[p as usize] += measure;
        all[i as usize] += measure;
    }
    let share = |(&i, own): (&u32, &f64)| match copies[i as usize] {
        1 => 1.0,
        _ if all[i as usize] > 0.0 => own / all[i as usize],
        // Elements without extent share equally.
        count => 1.0 / f64::from(count),
    };
    origin.iter().zip(&own).map(share).collect()
}

fn coupled(facets: &Facets, corners: &Corners, mass: f64) -> Vec<(u32, u32, f64)> {
    let mut list = Vec::new();
    match facets.width() {
        4 => couple(corners.particles().as_chunks::<4>().0, facets.measures(), mass, &mut list),
        _ => couple(corners.particles().as_chunks::<3>().0, facets.measures(), mass, &mut list),
    }
    list
}

/// The mass of one particle of a torn body, with the bits [`torn`] gives it.
pub(super) fn mass_of(whole: &[f64], facets: &Facets, corners: &Corners, particle: usize) -> f64 {
    whole[corners.origin()[particle] as usize] * shares(facets, corners)[particle]
}
