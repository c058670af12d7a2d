//! Finding what to glue to what: which points of one body are bound, and which particles of another carry them.

use super::near_body::NearBody;
use crate::model::{BodyFrame, BodyId, BodyModel, BodyPoint, Coupling, Topology};
use crate::simulation::Simulation;
use glam::{DMat3, DVec3};
use pliant_geometry::{ParentFinder, ParentOptions, Parents};
use std::collections::VecDeque;

/// How far along its edges a body is no parent of its own points, in lengths of an edge.
const OWN: f64 = 6.0;
/// How far particles of what is a line are from one, as a part of its length.
const LINE: f64 = 1e-3;

/// What is to be glued, and how. The default is what two bodies that lie against each other need.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Glue {
    /// Particles that are bound; `None` for those that lie against the other body: as near to it as the nearest, give or
    /// take half their distance from each other.
    pub points: Option<Vec<u32>>,
    /// Particles of the other body that may carry them; `None` for all.
    pub parents: Option<Vec<u32>>,
    /// How many of them carry a point, 3 to 64: more average out more of what trembles. `None` for the fewest of six to ten that tell
    /// well how they are turned.
    pub count: Option<usize>,
    /// None is farther from the point than this, m.
    pub radius: f64,
    /// Spring stiffness, N/m, of each point; `None` holds exactly.
    pub stiffness: Option<f64>,
    /// Force per relative velocity, N s/m. Only for springs.
    pub damping: f64,
    /// The force beyond which the glue of a point breaks, N.
    pub break_force: f64,
    /// How far a point may come away before its glue breaks, m.
    pub break_distance: f64,
    /// Name of the first coupling; those after it have a number beside it.
    pub name: String,
}

impl Default for Glue {
    fn default() -> Glue {
        Glue {
            points: None,
            parents: None,
            count: None,
            radius: f64::INFINITY,
            stiffness: None,
            damping: 0.0,
            break_force: f64::INFINITY,
            break_distance: f64::INFINITY,
            name: String::new(),
        }
    }
}

impl Glue {
    /// A frame of a body whose particles are at these places.
    fn frame(
        &self,
        body: BodyId,
        (finder, at): (&ParentFinder, &[DVec3]),
        (place, axes): (DVec3, DMat3),
        excluded: &[u32],
    ) -> Result<(BodyFrame, Parents), String> {
        let options = ParentOptions { count: self.count, radius: self.radius, excluded };
        let parents = finder.find(place, &options).map_err(|e| e.to_string())?;
        let rest: Vec<DVec3> = parents.indices.iter().map(|i| at[*i as usize]).collect();
        let weighted: Vec<(u32, f64)> =
            parents.indices.iter().copied().zip(parents.weights.iter().copied()).collect();
        let frame = BodyFrame::new(body, &weighted, &rest, (place, axes)).map_err(|e| e.to_string())?;
        Ok((frame, parents))
    }
}

/// What glue would do: the couplings it is made of, and how well they hold.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Glued {
    /// To be given to [`Simulation::couple`], one by one.
    pub couplings: Vec<Coupling>,
    /// The fewest and the most parents of a point.
    pub parents: (usize, usize),
    /// The worst condition of a frame: how much it turns by how little its parents move. 1.5 at best, 2 on cloth.
    pub condition: f64,
    /// The farthest a bound point is from the mean of its parents, in sizes of these.
    pub reach: f64,
}

impl Simulation {
    /// Finds how to glue points of a body to another body, or to itself, where they are now: nothing moves by being glued. Each
    /// point of a soft body is bound to a frame of its own; a rigid body is welded to one, or welded to a rigid body. A straight
    /// thread has no frames: of what is glued to it, frames carry the particles of the thread that lie against it, and it turns about
    /// these; and what is led carries what is free, whichever is glued to which. Says why it cannot be done.
    ///
    /// ```
    /// # use pliant::{Body, Builder, Glue, shapes};
    /// # let shirt = Body::new("shirt", shapes::sheet(1.0, 1.0, 10, 10).unwrap());
    /// # let pocket = Body::new("pocket", shapes::sheet(0.3, 0.3, 3, 3).unwrap()).at(0.0, 0.01, 0.0);
    /// # let mut simulation = Builder::new().body(shirt).body(pocket).build().unwrap();
    /// let (shirt, pocket) = (simulation.model().body("shirt").unwrap(), simulation.model().body("pocket").unwrap());
    /// let glued = simulation.find_glue(pocket, shirt, &Glue::default())?;
    /// for coupling in glued.couplings {
    ///     simulation.couple(coupling).unwrap();
    /// }
    /// # Ok::<(), String>(())
    /// ```
    pub fn find_glue(
        &self,
        from: impl Into<BodyId>,
        to: impl Into<BodyId>,
        glue: &Glue,
    ) -> Result<Glued, String> {
        let (from, to) = (from.into(), to.into());
        let body = |id| self.model.get(id).ok_or_else(|| format!("there is no body {id}"));
        let (child, parent) = (body(from)?, body(to)?);
        // What lies on a line carries no frame: particles of it are bound to one of the other body instead.
        let is_line = |body: BodyId, of: &Option<Vec<u32>>| {
            let at: Vec<DVec3> = self.positions(body).collect();
            match of {
                Some(of) => {
                    is_line(&of.iter().filter_map(|i| at.get(*i as usize).copied()).collect::<Vec<_>>())
                }
                None => is_line(&at),
            }
        };
        let (is_line, other_is) = (is_line(to, &glue.parents), is_line(from, &glue.points));
        // Nor can what is led follow: it carries what else would have to bend to every point of it.
        let led = is_led(&child.parts, glue.points.as_deref()) && !is_led(&parent.parts, None);
        let turned = led && !other_is && !is_rigid(&child.parts);
        if from != to && ((is_line && !other_is) || turned) {
            let other = Glue { points: glue.parents.clone(), parents: glue.points.clone(), ..glue.clone() };
            return self.find_glue(to, from, &other);
        }
        let at: Vec<DVec3> = self.positions(to).collect();
        let candidates = glue.parents.as_deref();
        let finder = ParentFinder::new(&at, candidates).map_err(|e| e.to_string())?;
        let own: Vec<DVec3> = self.positions(from).collect();
        let points = match &glue.points {
            Some(points) => points.clone(),
            None if from == to => {
                return Err(format!(
                    "points of body \"{}\" that are to be glued to itself must be named",
                    child.name
                ));
            }
            None => self.against(to, &own, child.parts.topology()),
        };
        if let Some(i) = points.iter().find(|i| **i as usize >= own.len()) {
            return Err(format!("body \"{}\" has no particle {i} (there are {})", child.name, own.len()));
        }
        let mut glued = Glued { couplings: Vec::new(), parents: (usize::MAX, 0), condition: 1.0, reach: 0.0 };
        let mut frame = |place: DVec3, excluded: &[u32]| {
            let found = glue.frame(to, (&finder, &at), (place, DMat3::IDENTITY), excluded);
            let (frame, parents) = found.map_err(|e| {
                format!("a point of body \"{}\" has no parents in \"{}\": {e}", child.name, parent.name)
            })?;
            let count = parents.indices.len();
            glued.parents = (glued.parents.0.min(count), glued.parents.1.max(count));
            glued.condition = glued.condition.max(parents.condition);
            glued.reach = glued.reach.max(parents.reach);
            Ok::<BodyFrame, String>(frame)
        };
        let coupling = |coupling: Coupling| Coupling {
            name: glue.name.clone(),
            stiffness: glue.stiffness,
            damping: glue.damping,
            break_force: glue.break_force,
            break_distance: glue.break_distance,
            ..coupling
        };
        if is_rigid(&child.parts) && from != to {
            let middle = own.iter().sum::<DVec3>() / own.len() as f64;
            let carried: Vec<(u32, f64)> = (0..own.len() as u32).map(|i| (i, 1.0)).collect();
            let axes = (middle, DMat3::IDENTITY);
            let child = BodyFrame::new(from, &carried, &own, axes).map_err(|e| e.to_string())?;
            let weld = Coupling::weld(frame(middle, &[])?, child);
            glued.couplings.push(coupling(weld));
            return Ok(glued);
        }
        let mut couplings = Vec::with_capacity(points.len());
        let mut around = (from == to).then(|| Around::new(child.parts.topology(), &own));
        for &i in &points {
            let excluded = around.as_mut().map_or(Vec::new(), |around| around.find(&own, i));
            let carried = frame(own[i as usize], &excluded)?;
            couplings.push(coupling(Coupling::joint(carried, BodyPoint::particle(from, i))));
        }
        for (k, coupling) in couplings.iter_mut().enumerate().skip(1).filter(|_| !glue.name.is_empty()) {
            coupling.name = format!("{} {}", glue.name, k + 1);
        }
        glued.couplings = couplings;
        Ok(glued)
    }

    /// The frame at a place with these axes (a rotation; hinges turn about the last) that particles of a body carry, as glue finds
    /// them. Says why there is none.
    pub fn frame_near(
        &self,
        body: impl Into<BodyId>,
        place: impl Into<DVec3>,
        axes: DMat3,
        glue: &Glue,
    ) -> Result<BodyFrame, String> {
        let body = body.into();
        let at: Vec<DVec3> = self.positions(body).collect();
        let name = self.model.get(body).map(|b| &b.name).ok_or_else(|| format!("there is no body {body}"))?;
        let finder = ParentFinder::new(&at, glue.parents.as_deref()).map_err(|e| e.to_string())?;
        let found = glue.frame(body, (&finder, &at), (place.into(), axes), &[]);
        found.map(|(frame, _)| frame).map_err(|e| format!("body \"{name}\" cannot carry a frame there: {e}"))
    }

    /// The particles at these places that lie against a body.
    fn against(&self, body: BodyId, own: &[DVec3], topology: &Topology) -> Vec<u32> {
        let Some(near) = NearBody::new(self, body) else { return Vec::new() };
        let distances: Vec<f64> = own.iter().map(|p| near.distance(*p)).collect();
        let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let near = least + 0.5 * spacing(topology, own);
        (0..own.len() as u32).filter(|i| distances[*i as usize] <= near).collect()
    }
}

fn is_rigid(parts: &BodyModel) -> bool {
    parts.rigid().is_some()
}

/// Whether particles of a body, or all of it, are led and follow no force.
fn is_led(body: &BodyModel, particles: Option<&[u32]>) -> bool {
    match particles {
        Some(particles) => particles.iter().all(|i| body.prescribes(*i)),
        None => (0..body.particle_count() as u32).all(|i| body.prescribes(i)),
    }
}

/// Whether places are on a line, or so near to one that nothing would tell how they are turned about it.
fn is_line(at: &[DVec3]) -> bool {
    let Some(first) = at.first() else { return false };
    // The two ends of it.
    let farthest = |from: DVec3| {
        let nearer = |p: &DVec3, q: &DVec3| from.distance_squared(*p).total_cmp(&from.distance_squared(*q));
        at.iter().copied().max_by(nearer).unwrap_or(from)
    };
    let a = farthest(*first);
    let b = farthest(a);
    let along = (b - a).normalize_or_zero();
    let width = at.iter().map(|p| (*p - a).cross(along).length()).fold(0.0, f64::max);
    width <= LINE * a.distance(b)
}

/// About how far particles are from their neighbours.
fn spacing(topology: &Topology, at: &[DVec3]) -> f64 {
    let lengths = edges(topology).map(|[a, b]| at[a as usize].distance(at[b as usize]));
    let (sum, count) = lengths.fold((0.0, 0), |(sum, count), l| (sum + l, count + 1));
    if count > 0 {
        return sum / f64::from(count);
    }
    // Of a cloud, by the room there is for each.
    let (lo, hi) =
        at.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(lo, hi), p| (lo.min(*p), hi.max(*p)));
    let volume = (hi - lo).to_array().into_iter().filter(|v| *v > 0.0).product::<f64>();
    let flat = (hi - lo).to_array().into_iter().filter(|v| *v > 0.0).count().max(1);
    (volume / at.len().max(1) as f64).powf(1.0 / flat as f64)
}

/// All pairs of neighbours, some more than once.
fn edges(topology: &Topology) -> impl Iterator<Item = [u32; 2]> + '_ {
    let Topology { edges, faces, tetrahedra, .. } = topology;
    let of_faces = faces.iter().flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]]);
    let of_tets = tetrahedra
        .iter()
        .flat_map(|[a, b, c, d]| [[*a, *b], [*b, *c], [*c, *a], [*a, *d], [*b, *d], [*c, *d]]);
    edges.iter().copied().chain(of_faces).chain(of_tets)
}

/// The particles around one, by the way along the body: they are no parents of it, as they go where it goes.
struct Around {
    next: Vec<Vec<u32>>,
    most: f64,
    /// Infinite but during a search.
    distance: Vec<f64>,
}

impl Around {
    fn new(topology: &Topology, at: &[DVec3]) -> Around {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); at.len()];
        for [a, b] in edges(topology) {
            next[a as usize].push(b);
            next[b as usize].push(a);
        }
        Around { next, most: OWN * spacing(topology, at), distance: vec![f64::INFINITY; at.len()] }
    }

    fn find(&mut self, at: &[DVec3], of: u32) -> Vec<u32> {
        self.distance[of as usize] = 0.0;
        let (mut queue, mut found) = (VecDeque::from([of]), vec![of]);
        while let Some(i) = queue.pop_front() {
            for &j in &self.next[i as usize] {
                let there = self.distance[i as usize] + at[i as usize].distance(at[j as usize]);
                if there < self.distance[j as usize] && there <= self.most {
                    if self.distance[j as usize].is_infinite() {
                        found.push(j);
                    }
                    self.distance[j as usize] = there;
                    queue.push_back(j);
                }
            }
        }
        found.iter().for_each(|i| self.distance[*i as usize] = f64::INFINITY);
        found.sort_unstable();
        found
    }
}
