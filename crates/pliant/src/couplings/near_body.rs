//! How far places are from a body as it lies now: for many of them, by a tree of boxes over all it is made of.

use crate::model::Topology;
use crate::queries::FAR;
use crate::simulation::Simulation;
use glam::DVec3;
use pliant_geometry::barycentric;
use pliant_geometry::box_tree::{Bounds, BoxSearch, BoxTree, around, distance_squared};
use pliant_geometry::{KdTree, nearest_on_triangle};

/// A body as it lies now.
pub(super) struct NearBody {
    at: Vec<DVec3>,
    items: Vec<Item>,
    tree: BoxTree,
    boxes: Vec<Bounds>,
    /// Of a cloud, between whose particles places may lie.
    cloud: Option<KdTree>,
}

/// What a body is made of.
#[derive(Clone, Copy)]
enum Item {
    Tetrahedron([u32; 4]),
    Triangle([u32; 3]),
    Edge([u32; 2]),
    Particle(u32),
}

impl Item {
    fn bounds(&self, at: &[DVec3]) -> Bounds {
        let place = |i: u32| at[i as usize];
        match *self {
            Item::Tetrahedron(of) => around(of.map(place)),
            Item::Triangle(of) => around(of.map(place)),
            Item::Edge(of) => around(of.map(place)),
            Item::Particle(i) => (place(i), place(i)),
        }
    }

    /// The square of how far away it is.
    fn distance_squared(&self, at: &[DVec3], from: DVec3) -> f64 {
        let place = |i: u32| at[i as usize];
        match *self {
            Item::Tetrahedron(of) => match barycentric(of.map(place), from) {
                Some(weights) if weights.iter().all(|w| *w >= 0.0) => 0.0,
                // Its faces and corners are there as well.
                _ => f64::INFINITY,
            },
            Item::Triangle(of) => {
                let corners = of.map(place);
                let weights = nearest_on_triangle(corners, from);
                corners.iter().zip(weights).map(|(p, w)| *p * w).sum::<DVec3>().distance_squared(from)
            }
            Item::Edge([a, b]) => {
                let (a, b) = (place(a), place(b));
                let share = (from - a).dot(b - a) / (b - a).length_squared();
                let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
                a.lerp(b, share).distance_squared(from)
            }
            Item::Particle(i) => place(i).distance_squared(from),
        }
    }
}

impl NearBody {
    /// `None` if there is no such body.
    pub fn new(simulation: &Simulation, body: crate::model::BodyId) -> Option<NearBody> {
        let parts = &simulation.model().get(body)?.parts;
        let (mut items, mut cloud) = (Vec::new(), None);
        let at: Vec<DVec3>;
        if parts.rigid().is_some() {
            let placement = simulation.placement(body)?;
            at = parts
                .shown()
                .at_rest(parts.rest())
                .into_iter()
                .map(|p| placement.transform_point3(p))
                .collect();
            items.extend(parts.shown().triangles().iter().map(|t| Item::Triangle(*t)));
        } else {
            at = simulation.positions(body).collect();
            let Topology { edges, faces, tetrahedra, clusters, .. } = parts.topology();
            items.extend(tetrahedra.iter().map(|t| Item::Tetrahedron(*t)));
            items.extend(faces.iter().map(|t| Item::Triangle(*t)));
            if items.is_empty() && clusters.is_empty() {
                items.extend(edges.iter().map(|e| Item::Edge(*e)));
            } else if items.is_empty() {
                cloud = Some(KdTree::new(&at));
            }
            items.extend((0..at.len() as u32).map(Item::Particle));
        }
        let bounds: Vec<Bounds> = items.iter().map(|item| item.bounds(&at)).collect();
        let (tree, mut boxes) = (BoxTree::new(&bounds), Vec::new());
        tree.fit(|i| bounds[i as usize], &mut boxes);
        Some(NearBody { at, items, tree, boxes, cloud })
    }

    /// How far away it is from a place; nothing where that is within.
    pub fn distance(&self, from: DVec3) -> f64 {
        if let Some(tree) = &self.cloud {
            let mut near = Vec::new();
            tree.nearest(from, 4, &mut near);
            let four = near.first_chunk::<4>().map(|of| of.map(|(_, i)| self.at[i as usize]));
            let weights = four.and_then(|corners| barycentric(corners, from));
            if weights.is_some_and(|w| w.iter().all(|w| (-FAR..=1.0 + FAR).contains(w))) {
                return 0.0;
            }
        }
        let mut search = Nearest { of: self, from, best: f64::INFINITY };
        self.tree.search(&self.boxes, &mut search);
        search.best.sqrt()
    }
}

/// A search for the nearest of all it is made of.
struct Nearest<'a> {
    of: &'a NearBody,
    from: DVec3,
    best: f64,
}

impl BoxSearch for Nearest<'_> {
    fn near(&self, bounds: Bounds) -> f64 {
        distance_squared(bounds, self.from)
    }

    fn limit(&self) -> f64 {
        self.best
    }

    fn look(&mut self, item: u32) {
        let far = self.of.items[item as usize].distance_squared(&self.of.at, self.from);
        self.best = self.best.min(far);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Builder, shapes};
    use pliant_geometry::SplitMix64;

    /// As far as by going through all elements, of whatever a body is made.
    #[test]
    fn as_far_as_by_going_through_everything() {
        let ball = shapes::SolidShape::Ball { radius: 0.3 }.build_rigid().unwrap();
        let points: Vec<DVec3> = (0..20).map(|k| DVec3::new(0.05 * k as f64, 0.0, 0.0)).collect();
        let edges = (0..19).map(|k| [k, k + 1]).collect();
        let rope = shapes::Shape { measure: vec![1.0; 20], points, edges, ..Default::default() };
        let mut rope = Body::new("rope", rope).projective();
        rope.clusters = crate::Clustering::None;
        let block = shapes::tet_box([4, 3, 3], DVec3::ONE, shapes::TetStyle::Five).unwrap();
        let bodies = [
            Body::new("sheet", shapes::sheet(1.0, 0.7, 9, 8).unwrap()),
            Body::new("block", block),
            rope,
            Body::new("cloud", shapes::ball(0.4, 0.1).unwrap()),
            Body::rigid("ball", ball).at(0.1, 0.2, 0.0),
        ];
        let simulation = bodies.into_iter().fold(Builder::new(), Builder::body).build().unwrap();
        let mut rng = SplitMix64::new(4);
        for body in 0..5 {
            let near = NearBody::new(&simulation, body.into()).unwrap();
            for _ in 0..100 {
                let at = DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - 1.0;
                let point = simulation.point_near(body, at).unwrap();
                let x = simulation.state().bodies()[body].positions();
                let there: DVec3 = point.parts().map(|(i, w)| x.get(i as usize) * w).sum();
                let (found, wanted) = (near.distance(at), there.distance(at));
                assert!((found - wanted).abs() < 1e-12, "{body}: {found} instead of {wanted}");
            }
        }
    }
}
