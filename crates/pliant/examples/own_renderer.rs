//! A renderer of your own, fed from the meshes the engine gives: a depth buffer and three loops that make a PPM file.
//!
//! ```text
//! cargo run --release -p pliant --example own_renderer -- bear.ppm
//! ```
//!
//! [`Simulation::render_mesh`] fills buffers as graphics cards take them: positions and normals as `f32`, and triangles as
//! indices that stay the same for as long as the body is not torn. Upload the triangles once, the rest after each step.

use pliant::{Body, Builder, DVec3, Material, RenderMesh, Simulation, shapes};
use std::error::Error;

const WIDTH: usize = 320;
const HEIGHT: usize = 240;
/// Pixels of a metre, at any distance: the view is parallel.
const SCALE: f32 = 340.0;

/// Colours and, for each pixel, how near what it shows is.
struct Picture {
    pixels: Vec<[u8; 3]>,
    depth: Vec<f32>,
}

impl Picture {
    fn new() -> Picture {
        let sky = |y: usize| [200, 215, 235].map(|c: u8| c - (30 * y / HEIGHT) as u8);
        let pixels = (0..WIDTH * HEIGHT).map(|p| sky(p / WIDTH)).collect();
        Picture { pixels, depth: vec![f32::MIN; WIDTH * HEIGHT] }
    }

    /// Draws triangles with light from above left, looking along -z.
    fn draw(&mut self, mesh: &RenderMesh, triangles: &[[u32; 3]], color: [f32; 3]) {
        let light = [-0.48, 0.64, 0.6];
        // What a vertex shader does: to pixels, and how much light falls on it.
        let vertex = |i: u32| {
            let ([x, y, z], n) = (mesh.positions()[i as usize], mesh.normals()[i as usize]);
            let lit: f32 = n.iter().zip(light).map(|(a, b)| a * b).sum();
            [WIDTH as f32 / 2.0 + x * SCALE, HEIGHT as f32 * 0.9 - y * SCALE, z, 0.25 + 0.75 * lit.max(0.0)]
        };
        for t in triangles {
            let [a, b, c] = t.map(vertex);
            let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            if area == 0.0 {
                continue;
            }
            let range = |k: usize, most: usize| {
                let (low, high) = (a[k].min(b[k]).min(c[k]), a[k].max(b[k]).max(c[k]));
                (low.max(0.0) as usize)..((high + 1.0).max(0.0) as usize).min(most)
            };
            for y in range(1, HEIGHT) {
                for x in range(0, WIDTH) {
                    // How much of each corner the pixel has; outside of the triangle one is negative.
                    let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
                    let u = ((px - a[0]) * (c[1] - a[1]) - (py - a[1]) * (c[0] - a[0])) / area;
                    let v = ((b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0])) / area;
                    let mix = |k: usize| a[k] + u * (b[k] - a[k]) + v * (c[k] - a[k]);
                    let at = y * WIDTH + x;
                    if u >= 0.0 && v >= 0.0 && u + v <= 1.0 && mix(2) > self.depth[at] {
                        self.depth[at] = mix(2);
                        self.pixels[at] = color.map(|c| (255.0 * (c * mix(3)).clamp(0.0, 1.0).sqrt()) as u8);
                    }
                }
            }
        }
    }
}

/// All bodies as they are now. Keep the mesh: it is filled again without allocating.
fn picture(simulation: &Simulation, mesh: &mut RenderMesh) -> Picture {
    let mut picture = Picture::new();
    for (id, color) in simulation.model().ids().zip([[0.9, 0.1, 0.1], [0.1, 0.4, 0.9]]) {
        let triangles = simulation.render_mesh(id, DVec3::ZERO, mesh).unwrap_or_default();
        picture.draw(mesh, triangles, color);
    }
    picture
}

fn run() -> Result<Picture, Box<dyn Error>> {
    let bear = Body::new("bear", shapes::gummy_bear(0.4, 0.04)?).frequency(40.0).at(-0.2, 0.25, 0.0);
    let (ball, _notes) = shapes::SolidShape::Ball { radius: 0.12 }.build_tets(0.05)?;
    let ball = Body::new("ball", ball).elastic(Material::named("foam").ok_or("no foam")?).at(0.2, 0.4, 0.0);
    let mut simulation = Builder::new().ground().body(bear).body(ball).build()?;
    for _ in 0..30 {
        simulation.step()?;
    }
    Ok(picture(&simulation, &mut RenderMesh::default()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "bear.ppm".into());
    let header = format!("P6 {WIDTH} {HEIGHT} 255\n");
    std::fs::write(&path, [header.as_bytes(), run()?.pixels.as_flattened()].concat())?;
    println!("{path}: {WIDTH} x {HEIGHT} pixels");
    Ok(())
}

#[test]
fn the_picture_shows_both_bodies() {
    let picture = run().expect("the example must run");
    let has = |is: fn(&[u8; 3]) -> bool| picture.pixels.iter().filter(|p| is(p)).count() > 500;
    assert!(has(|[r, _, b]| *r > 150 && *b < 120) && has(|[r, _, b]| *b > 150 && *r < 120), "red and blue");
}
