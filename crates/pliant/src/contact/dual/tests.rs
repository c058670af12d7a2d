//! Contact forces of made-up bodies with known responses, against closed forms.

use super::*;
use crate::contact::{Contact, Endpoint};
use crate::solvers::Subject;
use crate::{Body, Builder, Simulation, shapes};
use glam::DMat3;

/// A rigid block that does not turn, or points that answer together in some other way: C is given in blocks of 3×3.
struct Made {
    beginning: SubstepStart,
    /// Where particles end by themselves.
    free: Vec<DVec3>,
    blocks: Vec<Vec<DMat3>>,
    pushed: Vec<DVec3>,
}

impl Made {
    /// Particles at `at` that all move together by force/mass, and fall by `fall` if nothing holds them.
    fn block(at: &[DVec3], mass: f64, fall: DVec3) -> Made {
        let blocks = vec![vec![DMat3::IDENTITY / mass; at.len()]; at.len()];
        let start = at.iter().copied().collect();
        let beginning = SubstepStart { size: 1.0, start, free: vec![true; at.len()] };
        let free = at.iter().map(|p| *p + fall).collect();
        Made { beginning, free, blocks, pushed: vec![DVec3::ZERO; at.len()] }
    }

    fn moved(&self, nodes: &Nodes, of: u32) -> DVec3 {
        nodes.loads().map(|(i, f)| self.blocks[of as usize][i as usize] * f).sum()
    }
}

impl Respond for Made {
    fn beginning(&self) -> &SubstepStart {
        &self.beginning
    }

    fn end(&self, particle: usize) -> DVec3 {
        self.free[particle] + self.pushed[particle]
    }

    fn free_end(&self, particle: usize) -> DVec3 {
        self.free[particle]
    }

    fn prepare(&mut self, _: &Nodes, _: &Team) -> bool {
        false
    }

    fn respond(&mut self, nodes: &mut Nodes, _: &Team) {
        for k in 0..nodes.len() {
            nodes.set_movement(k, self.moved(nodes, nodes.particles()[k]));
        }
    }

    fn reach(&mut self, nodes: &mut Nodes, _: &Team) {
        for k in 0..nodes.len() {
            let row = &self.blocks[nodes.particles()[k] as usize];
            // Blocks here are symmetric; the largest row sum is at least their norm.
            let norm = |b: &DMat3| {
                let rows = b.transpose();
                [rows.x_axis, rows.y_axis, rows.z_axis]
                    .map(|r| r.abs().element_sum())
                    .into_iter()
                    .fold(0.0, f64::max)
            };
            let sum: f64 =
                nodes.particles().iter().zip(&nodes.weights).map(|(i, w)| norm(&row[*i as usize]) * w).sum();
            nodes.set_movement(k, DVec3::X * sum);
        }
    }

    fn push(&mut self, nodes: &Nodes, _: &Team) {
        self.pushed = (0..self.free.len()).map(|i| self.moved(nodes, i as u32)).collect();
    }
}

/// Made-up bodies of an island.
struct Given<'a> {
    body: Subject<'a>,
    bodies: &'a mut [Made],
}

impl Bodies for Given<'_> {
    fn len(&self) -> usize {
        self.bodies.len()
    }

    fn get(&mut self, place: usize) -> Option<Touching<'_>> {
        Some(Touching { body: self.body, side: &mut self.bodies[place], id: 0, meets_obstacles: false })
    }
}

/// Any body at all: detection alone looks at it.
fn someone() -> Simulation {
    let body = Body::new("any", shapes::ball(0.2, 0.1).expect("a ball"));
    Builder::new().body(body).build().expect("a simulation")
}

fn solve(bodies: &mut [Made], contacts: &[Contact], rounds: usize) -> Dual {
    let simulation = someone();
    let model = &simulation.model().bodies()[0].parts;
    let body = Subject {
        model,
        controls: simulation.controls().live(0),
        time: 0.0,
        obstacles: crate::contact::Obstacles::NONE,
    };
    let mut dual = Dual::default();
    dual.begin(bodies.iter().map(|b| b.free.len()), &Default::default());
    let mut touching = Given { body, bodies };
    contacts.iter().for_each(|c| dual.add(c, &mut touching));
    for _ in 0..rounds {
        dual.answer(&[], true, &mut touching, &Team::serial());
        for place in 0..touching.len() {
            if let Some(body) = touching.get(place) {
                body.side.push(dual.nodes_of(place), &Team::serial());
            }
        }
    }
    dual
}

fn point(body: usize, particle: u32) -> Endpoint {
    Endpoint::particle(body, particle)
}

fn contact(a: Endpoint, b: Endpoint, friction: f64) -> Contact {
    Contact {
        sides: [a, b],
        normal: DVec3::Y,
        gap: 0.0,
        offset: 0.0,
        friction,
        restitution: 0.0,
        id: (0, 0),
        force: DVec3::ZERO,
        lowest: 0.0,
        renewed: false,
    }
}

const CORNERS: [DVec3; 4] = [
    DVec3::new(-0.5, 0.0, -0.5),
    DVec3::new(0.5, 0.0, -0.5),
    DVec3::new(-0.5, 0.0, 0.5),
    DVec3::new(0.5, 0.0, 0.5),
];

/// Blocks of different weights on top of each other: each contact carries all that is above it, what one side gets
/// the other gives, and nothing moves.
#[test]
fn a_stack_of_blocks_carries_its_weight() {
    let masses = [1.0, 3.0, 0.5, 10.0, 2.0];
    let fall = DVec3::Y * -0.01;
    let mut blocks: Vec<Made> = masses.iter().map(|m| Made::block(&CORNERS, *m, fall)).collect();
    let mut contacts = Vec::new();
    for k in 0..masses.len() {
        let under = |i| if k == 0 { Endpoint::FIXED } else { point(k - 1, i) };
        contacts.extend((0..4).map(|i| contact(point(k, i), under(i), 0.5)));
    }
    let dual = solve(&mut blocks, &contacts, 40);
    for k in 0..masses.len() {
        let force: DVec3 = dual.rows[4 * k..4 * k + 4].iter().map(|r| r.force).sum();
        let above: f64 = masses[k..].iter().sum::<f64>() * 0.01;
        assert!((force - DVec3::Y * above).length() < 1e-6 * above, "below block {k}: {force}, not {above}");
        for (free, pushed) in blocks[k].free.iter().zip(&blocks[k].pushed) {
            assert!((*free + *pushed).y.abs() < 1e-8);
        }
    }
    // All that is put on nodes comes from the world.
    let inner: DVec3 = dual.nodes.iter().flat_map(|n| n.loads().map(|(_, f)| f)).sum();
    let world: DVec3 = dual.rows[..4].iter().map(|r| r.force).sum();
    assert!((inner - world).length() < 1e-15 * 10.0 * world.length());
}

/// Dragged sideways a block holds up to μ times its weight, and slides by what is left beyond; on a moving floor it is
/// the floor it slides on.
#[test]
fn friction_holds_up_to_its_share_of_the_weight() {
    for (drag, moves, ends) in [
        (0.004, 0.0, 0.0),
        (0.02, 0.0, 0.015),
        (0.02, 0.02, 0.02),
        (0.0, 0.02, 0.005),
        (-0.02, -0.018, -0.018),
    ] {
        let mut block = [Made::block(&CORNERS, 2.0, DVec3::new(drag, -0.01, 0.0))];
        let floor = Endpoint::World { moves: DVec3::X * moves };
        let contacts: Vec<Contact> = (0..4).map(|i| contact(point(0, i), floor, 0.5)).collect();
        let dual = solve(&mut block, &contacts, 20);
        let end = block[0].free[0] + block[0].pushed[0] - CORNERS[0];
        assert!((end - DVec3::X * ends).length() < 1e-9, "dragged by {drag} on {moves}: {end}");
        assert!(dual.rows.iter().all(|r| r.force.x.hypot(r.force.z) <= 0.5 * r.force.y * (1.0 + 1e-12)));
    }
}

/// A corner on the middle of a face: the weights of a stencil share the force, and the two sides meet.
#[test]
fn points_between_particles_share_forces_by_their_weights() {
    let loose = |at: &[DVec3], masses: &[f64], fall: DVec3| {
        let mut made = Made::block(at, 1.0, fall);
        for (i, row) in made.blocks.iter_mut().enumerate() {
            for (j, block) in row.iter_mut().enumerate() {
                *block = if i == j { DMat3::IDENTITY / masses[i] } else { DMat3::ZERO };
            }
        }
        made
    };
    let face = loose(&CORNERS[..3], &[1.0, 2.0, 4.0], DVec3::ZERO);
    let falls = loose(&[DVec3::new(-0.25, 0.0, -0.25)], &[3.0], DVec3::Y * -0.1);
    let weights = [0.5, 0.25, 0.25, 0.0];
    let face_point = Endpoint::Point { body: 0, particles: [0, 1, 2, 0], weights };
    let mut bodies = [face, falls];
    let dual = solve(&mut bodies, &[contact(point(1, 0), face_point, 0.0)], 3);
    // 1/m of the point of the face is Σ w²/m; both sides meet where momentum says.
    let softness = 0.25 / 1.0 + 0.0625 / 2.0 + 0.0625 / 4.0;
    let force = 0.1 / (softness + 1.0 / 3.0);
    assert!((dual.rows[0].force - DVec3::Y * force).length() < 1e-12);
    for (i, w) in weights[..3].iter().enumerate() {
        let wanted = -force * w / [1.0, 2.0, 4.0][i];
        assert!((bodies[0].pushed[i] - DVec3::Y * wanted).length() < 1e-12);
    }
}

#[test]
fn cones_shorten_what_slides_and_keep_what_pushes() {
    let n = DVec3::Y;
    assert!((into_cone(DVec3::new(3.0, 2.0, 4.0), n, 0.5) - DVec3::new(0.6, 2.0, 0.8)).length() < 1e-15);
    assert_eq!(into_cone(DVec3::new(0.3, 2.0, 0.4), n, 0.5), DVec3::new(0.3, 2.0, 0.4));
    assert_eq!(into_cone(DVec3::new(3.0, -2.0, 4.0), n, 0.5), DVec3::ZERO);
}
