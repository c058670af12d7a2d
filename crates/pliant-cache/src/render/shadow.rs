//! Depth maps seen from one light direction: which points of the scene that direction reaches.

use super::scene::{RenderBall, RenderScene};
use glam::Vec3;

/// What the light meets first in one direction of the map.
#[derive(Clone, Copy)]
struct Texel {
    /// Position along the direction towards the light; the highest value blocks all below.
    height: f32,
    /// Colour of the blocker, square roots of linear light in bytes.
    color: u32,
}

/// A parallel projection of the scene along one direction.
pub(super) struct DepthMap {
    /// Towards the light.
    pub direction: Vec3,
    u: Vec3,
    v: Vec3,
    origin: [f32; 2],
    per_unit: f32,
    size: usize,
    texels: Vec<Texel>,
}

/// Colours are stored as square roots, which keeps eight bits enough for dark ones.
fn pack(color: Vec3) -> u32 {
    let byte = |c: f32| (c.clamp(0.0, 1.0).sqrt() * 255.0) as u32;
    byte(color.x) | byte(color.y) << 8 | byte(color.z) << 16
}

fn unpack(color: u32) -> Vec3 {
    let value = |shift: u32| {
        let root = (color >> shift & 255) as f32 * (1.0 / 255.0);
        root * root
    };
    Vec3::new(value(0), value(8), value(16))
}

/// Everything that blocks light, sorted once for all maps with texels of one length.
pub(super) struct Blockers<'a> {
    scene: &'a RenderScene,
    center: Vec3,
    radius: f32,
    size: usize,
    /// Triangles no larger than a texel are drawn as one dot each: that leaves no gaps and is several times faster.
    dots: Vec<(Vec3, u32)>,
    /// Corners, colour, and whether the side away from the light can be left out.
    triangles: Vec<([u32; 3], u32, bool)>,
}

impl<'a> Blockers<'a> {
    /// For maps of `size`² texels that cover a ball.
    pub fn new(scene: &'a RenderScene, center: Vec3, radius: f32, size: usize) -> Blockers<'a> {
        let mut out = Blockers { scene, center, radius, size, dots: Vec::new(), triangles: Vec::new() };
        let small = 1.5 * out.texel();
        for blocker in &scene.blockers {
            let [a, b, c] = blocker.corners.map(|v| scene.blocker_points[v as usize]);
            let longest =
                (a - b).length_squared().max((b - c).length_squared()).max((c - a).length_squared());
            let color = pack(blocker.color);
            if longest < small * small {
                out.dots.push(((a + b + c) / 3.0, color));
            } else {
                out.triangles.push((blocker.corners, color, blocker.closed));
            }
        }
        out
    }

    fn texel(&self) -> f32 {
        // A rim of empty texels, so that lookups just outside find nothing.
        2.0 * self.radius / (self.size as f32 - 6.0)
    }
}

impl DepthMap {
    /// Draws everything that blocks light.
    pub fn new(blockers: &Blockers, direction: Vec3) -> DepthMap {
        let Blockers { center, radius, size, .. } = *blockers;
        let (u, v) = direction.any_orthonormal_pair();
        let texel = blockers.texel();
        // Whole texels only: a body that moves slides over a fixed grid, and its shadow does not crawl.
        let corner = |axis: Vec3| ((center.dot(axis) - radius) / texel).floor() * texel - 2.0 * texel;
        let empty = Texel { height: f32::NEG_INFINITY, color: 0 };
        let mut map = DepthMap {
            direction,
            u,
            v,
            origin: [corner(u), corner(v)],
            per_unit: 1.0 / texel,
            size,
            texels: vec![empty; size * size],
        };
        let limit = size as f32;
        for (p, color) in &blockers.dots {
            let at = map.place(*p);
            if at.x >= 0.0 && at.y >= 0.0 && at.x < limit && at.y < limit {
                map.put(at.x as usize, at.y as usize, at.z, *color);
            }
        }
        if !blockers.triangles.is_empty() {
            let placed: Vec<Vec3> = blockers.scene.blocker_points.iter().map(|p| map.place(*p)).collect();
            for (corners, color, closed) in &blockers.triangles {
                map.draw_triangle(corners.map(|v| placed[v as usize]), *color, *closed);
            }
        }
        for ball in &blockers.scene.balls {
            map.draw_ball(ball);
        }
        map
    }

    /// Length of a texel.
    pub fn texel(&self) -> f32 {
        1.0 / self.per_unit
    }

    fn place(&self, p: Vec3) -> Vec3 {
        Vec3::new(
            (p.dot(self.u) - self.origin[0]) * self.per_unit,
            (p.dot(self.v) - self.origin[1]) * self.per_unit,
            p.dot(self.direction),
        )
    }

    fn put(&mut self, x: usize, y: usize, height: f32, color: u32) {
        let texel = &mut self.texels[y * self.size + x];
        if height > texel.height {
            *texel = Texel { height, color };
        }
    }

    fn draw_triangle(&mut self, [a, b, c]: [Vec3; 3], color: u32, closed: bool) {
        let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        // What faces away from the light lies behind what faces it.
        if closed && area < 0.0 {
            return;
        }
        let low = a.min(b).min(c);
        let high = a.max(b).max(c);
        let limit = self.size as f32 - 1.0;
        if !(high.x >= 0.0 && high.y >= 0.0 && low.x < limit && low.y < limit) {
            return;
        }
        if high.x - low.x < 1.5 && high.y - low.y < 1.5 {
            let middle = ((a + b + c) / 3.0).clamp(Vec3::splat(0.0), Vec3::new(limit, limit, f32::MAX));
            let height = (a.z + b.z + c.z) / 3.0;
            self.put(middle.x as usize, middle.y as usize, height, color);
            return;
        }
        if area.abs() < 1e-12 {
            return;
        }
        let (first, last) = (low.y.max(0.0) as usize, high.y.min(limit) as usize);
        let (left, right) = (low.x.max(0.0) as usize, high.x.min(limit) as usize);
        // Half a texel of tolerance along the edges: slightly fat shadows rather than pinholes between triangles.
        let slack = -0.25 / area.abs().sqrt().max(0.5);
        let per_area = 1.0 / area;
        for y in first..=last {
            for x in left..=right {
                let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
                let wb = ((px - a.x) * (c.y - a.y) - (py - a.y) * (c.x - a.x)) * per_area;
                let wc = ((b.x - a.x) * (py - a.y) - (b.y - a.y) * (px - a.x)) * per_area;
                if wb >= slack && wc >= slack && wb + wc <= 1.0 - slack {
                    let height = a.z + wb * (b.z - a.z) + wc * (c.z - a.z);
                    self.put(x, y, height.clamp(low.z, high.z), color);
                }
            }
        }
    }

    fn draw_ball(&mut self, ball: &RenderBall) {
        let c = self.place(ball.center);
        let r = ball.radius * self.per_unit;
        let limit = self.size as f32 - 1.0;
        if c.x + r < 0.0 || c.y + r < 0.0 || c.x - r > limit || c.y - r > limit {
            return;
        }
        let color = pack(ball.color);
        if r < 0.75 {
            let (x, y) = (c.x.clamp(0.0, limit) as usize, c.y.clamp(0.0, limit) as usize);
            self.put(x, y, c.z, color);
            return;
        }
        for y in (c.y - r).max(0.0) as usize..=(c.y + r).min(limit) as usize {
            for x in (c.x - r).max(0.0) as usize..=(c.x + r).min(limit) as usize {
                let (dx, dy) = (x as f32 + 0.5 - c.x, y as f32 + 0.5 - c.y);
                let inside = r * r - dx * dx - dy * dy;
                if inside > 0.0 {
                    self.put(x, y, c.z + inside.sqrt() / self.per_unit, color);
                }
            }
        }
    }

    /// How much of the light arrives at `p` (0 to 1), and the colour of what stands in its way.
    pub fn reach(&self, p: Vec3, bias: f32) -> (f32, Vec3) {
        let place = self.place(p);
        let (fx, fy) = (place.x - 0.5, place.y - 0.5);
        let limit = self.size as f32 - 1.0;
        if !(fx >= 0.0 && fy >= 0.0 && fx < limit && fy < limit) {
            return (1.0, Vec3::ZERO);
        }
        let (x, y) = (fx as usize, fy as usize);
        let (tx, ty) = (fx - x as f32, fy - y as f32);
        let at = y * self.size + x;
        let texels = [
            self.texels[at],
            self.texels[at + 1],
            self.texels[at + self.size],
            self.texels[at + self.size + 1],
        ];
        // A ramp of a texel's length instead of a step: no hard lines where a surface grazes the light.
        let floor = place.z + bias;
        let dark = texels.map(|texel| ((texel.height - floor) * self.per_unit).clamp(0.0, 1.0));
        let weights = [(1.0 - tx) * (1.0 - ty), tx * (1.0 - ty), (1.0 - tx) * ty, tx * ty];
        let shade = [0, 1, 2, 3].map(|k| weights[k] * dark[k]);
        let total = shade[0] + shade[1] + shade[2] + shade[3];
        if total <= 0.0 {
            return (1.0, Vec3::ZERO);
        }
        let pick = |a: usize, b: usize| if shade[b] > shade[a] { b } else { a };
        (1.0 - total, unpack(texels[pick(pick(0, 1), pick(2, 3))].color))
    }
}
