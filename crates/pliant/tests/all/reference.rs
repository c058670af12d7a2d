//! The lanes against the papers' formulas, written down once more one particle at a time.

use glam::{DMat3, DVec3};
use pliant::model::BodyModel;
use pliant::{Body, BodyControls, Builder, Clustering, Simulation, Stiffness, shapes};
use pliant_math::{angular_velocity, inertia_tensor_term, nearest_rotation};

/// Algorithm 1 of the strain-limiting paper with optional momentum correction, no planes, no damping.
struct Reference<'a> {
    model: &'a BodyModel,
    controls: BodyControls,
    gravity: DVec3,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    frames: Vec<DMat3>,
}

struct Fit {
    rotation: DMat3,
    center: DVec3,
}

impl Reference<'_> {
    fn members(&self, c: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let set = &self.model.topology().clusters;
        set.range(c).map(|slot| {
            let i = set.members[slot] as usize;
            (i, self.model.rest().share[slot] * self.model.rest().mass[i])
        })
    }

    fn fit(&mut self) -> Vec<Fit> {
        let rest = self.model.rest();
        let fits: Vec<Fit> = (0..rest.clusters.len())
            .map(|c| {
                let cluster = &rest.clusters[c];
                let center = self.members(c).map(|(i, m)| self.x[i] * m).sum::<DVec3>() / cluster.mass;
                let mut a = DMat3::ZERO;
                for (i, m) in self.members(c) {
                    let (p, q) = ((self.x[i] - center) * m, rest.positions.get(i) - cluster.center);
                    a += DMat3::from_cols(p * q.x, p * q.y, p * q.z);
                }
                Fit { rotation: nearest_rotation(a, self.frames[c]), center }
            })
            .collect();
        self.frames = fits.iter().map(|f| f.rotation).collect();
        fits
    }

    fn displacement(&self, fit: &Fit, c: usize, i: usize) -> DVec3 {
        let rest = self.model.rest();
        fit.rotation * (rest.positions.get(i) - rest.clusters[c].center) + fit.center - self.x[i]
    }

    fn average(&self, mut f: impl FnMut(usize, usize) -> DVec3) -> Vec<DVec3> {
        let topology = self.model.topology();
        (0..self.x.len())
            .map(|i| {
                let members = topology.memberships(i).iter();
                members.map(|m| f(m.cluster as usize, i) * self.model.rest().share[m.slot as usize]).sum()
            })
            .collect()
    }

    fn step(&mut self, h: f64) {
        let start = self.x.clone();
        let fits = self.fit();
        let alpha = self.controls.stiffness.alpha(h);
        let pull = self.average(|c, i| self.displacement(&fits[c], c, i));
        for (i, pull) in pull.iter().enumerate() {
            self.v[i] += *pull * (alpha / h) + self.gravity * h;
            self.x[i] = start[i] + self.v[i] * h;
        }
        let predicted = self.x.clone();
        for _ in 0..self.controls.iterations {
            let fits = self.fit();
            let beyond = |c: usize, i: usize| {
                let displacement = self.displacement(&fits[c], c, i);
                let limit = self.controls.strain_limit * self.model.rest().clusters[c].width;
                displacement * (1.0 - (limit / displacement.length()).min(1.0))
            };
            let mut correction = self.average(beyond);
            if self.controls.conserve_momentum {
                let reactions: Vec<(DVec3, DVec3, DVec3)> = (0..fits.len())
                    .map(|c| {
                        let mass = self.model.rest().clusters[c].mass;
                        let center = self.members(c).map(|(i, m)| start[i] * m).sum::<DVec3>() / mass;
                        let inertia = self
                            .members(c)
                            .fold(DMat3::ZERO, |t, (i, m)| t + inertia_tensor_term(m, start[i] - center));
                        let push: DVec3 = self.members(c).map(|(i, m)| beyond(c, i) * m).sum();
                        let torque: DVec3 =
                            self.members(c).map(|(i, m)| (start[i] - center).cross(beyond(c, i) * m)).sum();
                        (push / mass, angular_velocity(inertia, torque), center)
                    })
                    .collect();
                let back = self.average(|c, i| {
                    let (shift, turn, center) = reactions[c];
                    shift + turn.cross(start[i] - center)
                });
                correction.iter_mut().zip(back).for_each(|(c, b)| *c -= b);
            }
            for (x, c) in self.x.iter_mut().zip(&correction) {
                *x += *c * self.controls.relaxation;
            }
        }
        for ((v, x), predicted) in self.v.iter_mut().zip(&self.x).zip(&predicted) {
            *v += (*x - *predicted) / h;
        }
    }
}

fn reference(s: &Simulation) -> Reference<'_> {
    Reference {
        model: &s.model().bodies()[0].parts,
        controls: *s.controls().body(0).unwrap(),
        gravity: s.controls().gravity(),
        x: s.state().bodies()[0].positions().iter().collect(),
        v: s.state().bodies()[0].velocities().iter().collect(),
        frames: s.state().bodies()[0].memory().matrices(pliant::Section::Rotations).collect(),
    }
}

fn bunny(clusters: Clustering) -> Body {
    let solid = shapes::SolidShape::Bunny { height: 1.0 };
    let mut body = Body::new("bunny", solid.build(solid.spacing_for_count(600).unwrap()).unwrap());
    body.clusters = clusters;
    body.stretch = DVec3::new(1.6, 0.8, 1.1);
    body.spin = DVec3::new(1.0, 2.0, 3.0);
    body.velocity = DVec3::new(0.3, 0.1, -0.2);
    body.controls.damping = 0.0;
    body.controls.stiffness = Stiffness::Alpha(0.5);
    body.controls.strain_limit = 0.05;
    body
}

/// Largest difference from the reference after some steps, relative to the body.
fn difference(body: Body, steps: usize) -> f64 {
    let mut builder = Builder::new().body(body);
    builder.substeps = 1;
    let mut s = builder.build().unwrap();
    let start =
        Simulation::new(s.model().clone(), s.state().clone(), s.controls().clone(), pliant::Team::serial());
    let start = start.unwrap();
    let mut reference = reference(&start);
    let mut worst = 0.0_f64;
    for _ in 0..steps {
        s.step().unwrap();
        reference.step(1.0 / 60.0);
        for (i, x) in s.state().bodies()[0].positions().iter().enumerate() {
            worst = worst.max((x - reference.x[i]).length());
            worst = worst.max((s.state().bodies()[0].velocities().get(i) - reference.v[i]).length() / 60.0);
        }
    }
    worst
}

#[test]
fn strain_limiting_is_the_papers() {
    for clusters in [Clustering::Whole, Clustering::Count(3), Clustering::Count(30)] {
        for conserve in [false, true] {
            let mut body = bunny(clusters);
            body.controls.conserve_momentum = conserve;
            let off = difference(body, 3);
            println!("{clusters:?}, conserving {conserve}: {off:e} after three steps");
            assert!(off < 1e-12, "{clusters:?}, conserving {conserve}: {off:e}");
        }
    }
}
