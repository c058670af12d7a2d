//! A small game loop without a window: bodies of two kinds come over time, some are picked with a ray, dragged and thrown,
//! what fell asleep or left the arena goes, the game is saved and loaded.
//!
//! ```text
//! cargo run --release -p pliant --example game_loop
//! ```

use pliant::{
    Body, BodyId, Builder, ContactChange, ContactWatch, DAffine3, DVec3, Hold, Material, Queries, RenderMesh,
    Simulation, shapes,
};
use std::error::Error;

/// Half the width of the arena, m.
const ARENA: f64 = 2.5;
/// A body all of which is slower than this for half a second is asleep, m/s.
const ASLEEP: f64 = 0.03;
/// How long a body is dragged, in steps.
const DRAG: u64 = 30;

/// What the mouse holds.
struct Grab {
    body: BodyId,
    group: usize,
    began: u64,
}

#[derive(Debug, Default, PartialEq)]
struct Score {
    spawned: usize,
    landed: usize,
    thrown: usize,
    slept: usize,
    left: usize,
    triangles_drawn: usize,
}

struct Game {
    simulation: Simulation,
    /// Shapes are made once; bodies of one kind share everything but where they are.
    kinds: [Body; 2],
    queries: Queries,
    watch: ContactWatch,
    mesh: RenderMesh,
    grab: Option<Grab>,
    /// For how many steps each body has been still.
    still: Vec<(BodyId, u32)>,
    score: Score,
}

/// The n-th body: a copy of one of the kinds.
fn copy(kinds: &[Body; 2], n: usize) -> Body {
    let mut body = kinds[n % 2].clone().at(0.9 * (n % 3) as f64 - 0.9, 0.6, 0.3 * (n % 2) as f64);
    body.name = format!("{} {n}", body.name);
    body
}

impl Game {
    fn new() -> Result<Game, Box<dyn Error>> {
        // Meshless and explicit: cheap. Particles are held exactly.
        let bear = Body::new("bear", shapes::gummy_bear(0.4, 0.08)?).frequency(15.0);
        // Tetrahedra and implicit: stiff as the material is. Particles are held by springs.
        let size = DVec3::new(0.5, 0.25, 0.25);
        let brick = shapes::tet_box([4, 2, 2], size, shapes::TetStyle::Five)?;
        let brick = Body::new("brick", brick).elastic(Material::named("jelly").ok_or("no jelly")?);
        let kinds = [bear, brick];
        let first = copy(&kinds, 0);
        let simulation = Builder::new().ground().body(first).build()?;
        Ok(Game {
            still: simulation.model().ids().map(|id| (id, 0)).collect(),
            simulation,
            kinds,
            queries: Queries::new(),
            watch: ContactWatch::new(),
            mesh: RenderMesh::default(),
            grab: None,
            score: Score { spawned: 1, ..Score::default() },
        })
    }

    fn spawn(&mut self) -> Result<(), Box<dyn Error>> {
        let id = self.simulation.add(copy(&self.kinds, self.score.spawned))?;
        self.still.push((id, 0));
        self.score.spawned += 1;
        Ok(())
    }

    /// Grabs what is under the mouse: what a ray from the camera meets first.
    fn pick(&mut self, eye: DVec3, at: DVec3) -> Result<(), Box<dyn Error>> {
        let Some(hit) = self.queries.cast(eye, at - eye, 100.0) else { return Ok(()) };
        let Some(body) = self.simulation.model().get(hit.body) else { return Ok(()) };
        let (name, springs) = (body.name.clone(), body.parts.solver().uses_constraints());
        // All that is near the point, not only what carries it: one particle alone would be torn at.
        let mut near = Vec::new();
        self.queries.particles_in_ball(hit.point, 0.12, &mut near);
        let mut particles: Vec<u32> = near.iter().filter(|e| e.0 == hit.body).map(|e| e.1).collect();
        if particles.is_empty() {
            self.queries.grip(&hit, &mut Vec::new(), &mut particles);
        }
        println!("  grabs {name} at {:.2}, {} particles", hit.point, particles.len());
        let hold = if springs { Hold::by_springs(particles, 300.0) } else { Hold::exactly(particles) };
        let group = self.simulation.hold(hit.body, hold)?;
        self.grab = Some(Grab { body: hit.body, group, began: self.simulation.state().step() });
        Ok(())
    }

    /// Leads what is held up and aside, and throws it.
    fn drag(&mut self) -> Result<(), Box<dyn Error>> {
        let Some(grab) = &self.grab else { return Ok(()) };
        let (body, group) = (grab.body, grab.group);
        let age = self.simulation.state().step() - grab.began;
        if age < DRAG {
            let displacement = DVec3::new(0.5, 0.9, 0.0) * (age as f64 / DRAG as f64);
            let to = DAffine3::from_translation(displacement);
            self.simulation.controls_mut().place_pins(body, group, Some(to))?;
            return Ok(());
        }
        self.simulation.release(body, group)?;
        // On its way already; every second one gets a push out of the arena, at all of its particles alike.
        if self.score.thrown % 2 == 1 {
            let count = self.simulation.positions(body).len();
            let all: Vec<(u32, f64)> = (0..count as u32).map(|i| (i, 1.0 / count as f64)).collect();
            let mass = self.simulation.controls().body(body).map_or(0.0, |c| c.mass);
            self.simulation.push(body, &all, mass * DVec3::new(6.0, 2.0, 0.0))?;
        }
        self.grab = None;
        self.score.thrown += 1;
        Ok(())
    }

    /// Removes what fell asleep or left.
    fn tidy(&mut self) -> Result<(), Box<dyn Error>> {
        let held = self.grab.as_ref().map(|g| g.body);
        let mut gone = Vec::new();
        for (id, still) in &mut self.still {
            let fastest = self.simulation.velocities(*id).map(|v| v.length()).fold(0.0, f64::max);
            *still = if fastest < ASLEEP && held != Some(*id) { *still + 1 } else { 0 };
            let Some((lowest, highest)) = self.queries.bounds(*id) else { continue };
            let outside = lowest.x > ARENA || highest.x < -ARENA;
            if outside || *still > 30 {
                gone.push((*id, outside));
            }
        }
        for (id, outside) in gone {
            let removed = self.simulation.remove(id)?;
            println!("  {} {}", removed.name, if outside { "left the arena" } else { "fell asleep" });
            *(if outside { &mut self.score.left } else { &mut self.score.slept }) += 1;
            self.still.retain(|s| s.0 != id);
        }
        Ok(())
    }

    /// One turn of the loop.
    fn frame(&mut self) -> Result<(), Box<dyn Error>> {
        let step = self.simulation.state().step();
        if step % 40 == 39 && self.score.spawned < 6 {
            self.spawn()?;
        }
        self.queries.refresh(&self.simulation);
        if step % 100 == 60 && self.grab.is_none() {
            // The mouse is over the newest body.
            let newest = self.still.last().and_then(|s| self.queries.bounds(s.0));
            if let Some((lowest, highest)) = newest {
                self.pick(DVec3::new(0.0, 2.0, 5.0), 0.5 * (lowest + highest))?;
            }
        }
        self.drag()?;
        self.simulation.step()?;
        for event in self.watch.look(&self.simulation) {
            self.score.landed += usize::from(event.change == ContactChange::Began);
        }
        self.queries.refresh(&self.simulation);
        self.tidy()?;
        // What a renderer would upload: positions and normals as floats, triangles that stay the same.
        for id in self.simulation.model().ids() {
            let triangles = self.simulation.render_mesh(id, DVec3::ZERO, &mut self.mesh);
            self.score.triangles_drawn += triangles.map_or(0, <[_]>::len);
        }
        Ok(())
    }
}

fn play() -> Result<Score, Box<dyn Error>> {
    let mut game = Game::new()?;
    for _ in 0..10 {
        for _ in 0..60 {
            game.frame()?;
        }
        let Score { spawned, landed, .. } = game.score;
        let (time, count) = (game.simulation.state().time(), game.simulation.model().bodies().len());
        println!(
            "{time:4.1} s: {count} of {spawned} bodies are there, {landed} times one began to touch the ground"
        );
    }
    // Saved, played on, loaded: the bodies are where they were, and play on to the same bits.
    game.spawn()?;
    let saved = game.simulation.checkpoint();
    let ahead = |game: &mut Game| -> Result<Vec<DVec3>, Box<dyn Error>> {
        for _ in 0..30 {
            game.simulation.step()?;
        }
        let ids: Vec<BodyId> = game.simulation.model().ids().collect();
        Ok(ids.into_iter().flat_map(|id| game.simulation.positions(id).collect::<Vec<_>>()).collect())
    };
    let first = ahead(&mut game)?;
    game.simulation.restore(&saved)?;
    let again = ahead(&mut game)?;
    println!("saved in {} bytes, loaded, and played on to the same bits: {}", saved.len(), first == again);
    if first != again {
        return Err("the game went on differently".into());
    }
    Ok(game.score)
}

fn main() -> Result<(), Box<dyn Error>> {
    let score = play()?;
    println!("{score:?}");
    Ok(())
}

#[test]
fn the_example_runs() {
    let score = play().expect("the example must run");
    assert!(score.spawned == 7 && score.thrown >= 3, "{score:?}");
    assert!(score.left >= 1 && score.slept >= 1 && score.landed >= 6, "{score:?}");
    assert!(score.triangles_drawn > 10_000, "{score:?}");
    assert_eq!(score, play().expect("the example must run again"), "it is the same game every time");
}
