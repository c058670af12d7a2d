//! The scene in working form: all meshes in one list of triangles, all balls in another, planes.

use super::camera::CameraView;
use super::surface;
use super::tone::to_linear;
use super::{Colors, Look, Plane, RenderItem};
use glam::{DVec3, Vec3};

/// A triangle that will be drawn.
pub(super) struct Triangle {
    pub corners: [u32; 3],
    pub item: u32,
    /// Unit normal of the flat triangle.
    pub normal: Vec3,
}

/// A sphere that will be drawn.
pub(super) struct RenderBall {
    pub center: Vec3,
    pub radius: f32,
    pub color: Vec3,
}

/// A triangle as it blocks light: the mesh as given, before it is refined for shading.
pub(super) struct Blocker {
    /// Indices of blocker points.
    pub corners: [u32; 3],
    pub color: Vec3,
    /// Whether it belongs to a closed surface.
    pub closed: bool,
}

/// A plane in working units, with a basis of its surface.
pub(super) struct RenderPlane {
    pub normal: Vec3,
    pub offset: f32,
    pub axes: [Vec3; 2],
    /// Where the scene's origin falls on the axes, so that grid lines stay at round coordinates.
    pub origin: [f64; 2],
}

/// What the shader has to know of an item besides its surface.
pub(super) struct ItemShading {
    pub look: Look,
    /// Half the diagonal of its box, for judging what is thick and what is thin.
    pub size: f32,
    /// Whether the surface seems to have no border.
    pub closed: bool,
}

/// Everything to draw.
#[derive(Default)]
pub(super) struct RenderScene {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    /// Linear colours.
    pub colors: Vec<Vec3>,
    pub triangles: Vec<Triangle>,
    pub balls: Vec<RenderBall>,
    pub blockers: Vec<Blocker>,
    pub blocker_points: Vec<Vec3>,
    pub sheets: Vec<RenderPlane>,
    pub bodies: Vec<ItemShading>,
}

fn color_at(colors: &Colors, index: usize) -> Vec3 {
    match colors {
        Colors::Uniform(c) => to_linear(*c),
        Colors::PerVertex(list) => {
            to_linear(list.get(index).or(list.last()).copied().unwrap_or([0.7, 0.7, 0.7]))
        }
    }
}

impl RenderScene {
    pub fn new(items: &[RenderItem], planes: &[Plane], view: &CameraView) -> RenderScene {
        let mut scene = RenderScene::default();
        for item in items {
            match item {
                RenderItem::Mesh { positions, triangles, colors, look } => {
                    let local: Vec<Option<Vec3>> = positions.iter().map(|p| view.local(*p)).collect();
                    let colors: Vec<Vec3> = (0..positions.len()).map(|i| color_at(colors, i)).collect();
                    scene.add_mesh(&local, triangles, &colors, *look, view);
                }
                RenderItem::Points { positions, radius, colors } => {
                    let points =
                        positions.iter().enumerate().map(|(i, p)| (view.local(*p), color_at(colors, i)));
                    scene.add_balls(points, *radius, view);
                    scene.finish_item(Look::Matte, 0.0, true);
                }
                RenderItem::Lines { positions, segments, radius, colors } => {
                    scene.add_rods(positions, segments, *radius, colors, view);
                }
            }
        }
        for plane in planes {
            scene.add_plane(plane, view);
        }
        scene
    }

    fn item(&self) -> u32 {
        self.bodies.len() as u32
    }

    fn finish_item(&mut self, look: Look, size: f32, closed: bool) {
        self.bodies.push(ItemShading { look, size, closed });
    }

    fn add_mesh(
        &mut self,
        local: &[Option<Vec3>],
        triangles: &[[u32; 3]],
        colors: &[Vec3],
        look: Look,
        view: &CameraView,
    ) {
        let mut patch = surface::build(local, triangles, colors, look == Look::Cloth);
        let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for p in &patch.positions {
            min = min.min(*p);
            max = max.max(*p);
        }
        surface::refine(&mut patch, view);
        let (base, item) = (self.positions.len() as u32, self.item());
        let (mut sum, mut area) = (Vec3::ZERO, 0.0);
        for t in &patch.triangles {
            let [a, b, c] = t.map(|v| patch.positions[v as usize]);
            let normal = (b - a).cross(c - a);
            sum += normal;
            area += normal.length();
            let normal = normal.normalize_or_zero();
            self.triangles.push(Triangle { corners: t.map(|v| v + base), item, normal });
        }
        self.positions.append(&mut patch.positions);
        self.normals.append(&mut patch.normals);
        self.colors.append(&mut patch.colors);
        // The area vectors of a closed surface add up to nothing.
        let closed = look != Look::Cloth && sum.length() < 2e-3 * area;
        let first = self.blocker_points.len() as u32;
        self.blocker_points.extend(local.iter().map(|p| p.unwrap_or(Vec3::ZERO)));
        for t in &patch.flat {
            self.blockers.push(Blocker {
                corners: t.map(|v| v + first),
                color: colors[t[0] as usize],
                closed,
            });
        }
        self.finish_item(look, if min.x <= max.x { 0.5 * (max - min).length() } else { 0.0 }, closed);
    }

    fn add_balls(
        &mut self,
        points: impl Iterator<Item = (Option<Vec3>, Vec3)>,
        radius: f64,
        view: &CameraView,
    ) {
        let radius = (radius * view.scale) as f32;
        if !(radius > 0.0 && radius < 1e6) {
            return;
        }
        self.balls
            .extend(points.filter_map(|(p, color)| p.map(|center| RenderBall { center, radius, color })));
    }

    fn add_rods(
        &mut self,
        positions: &[DVec3],
        segments: &[[u32; 2]],
        radius: f64,
        colors: &Colors,
        view: &CameraView,
    ) {
        const SIDES: u32 = 8;
        let thick = (radius * view.scale) as f32;
        let local: Vec<Option<Vec3>> = positions.iter().map(|p| view.local(*p)).collect();
        let at = |v: u32| local.get(v as usize).copied().flatten();
        let mut ends = vec![false; local.len()];
        let (mut points, mut shades, mut faces) = (Vec::new(), Vec::new(), Vec::new());
        for &[a, b] in segments {
            let (Some(p), Some(q)) = (at(a), at(b)) else {
                continue;
            };
            ends[a as usize] = true;
            ends[b as usize] = true;
            let Some(axis) = (q - p).try_normalize() else {
                continue;
            };
            let (u, v) = axis.any_orthonormal_pair();
            let base = points.len() as u32;
            for k in 0..SIDES {
                let angle = k as f32 * std::f32::consts::TAU / SIDES as f32;
                let out = thick * (angle.cos() * u + angle.sin() * v);
                points.extend([Some(p + out), Some(q + out)]);
                shades.extend([color_at(colors, a as usize), color_at(colors, b as usize)]);
                let (i, j) = (base + 2 * k, base + 2 * ((k + 1) % SIDES));
                faces.extend([[i, j, i + 1], [j, j + 1, i + 1]]);
            }
        }
        if thick > 0.0 && thick < 1e6 {
            self.add_mesh(&points, &faces, &shades, Look::Matte, view);
        }
        let joints = local.iter().enumerate().filter(|(i, _)| ends[*i]);
        let joints: Vec<_> = joints.map(|(i, p)| (*p, color_at(colors, i))).collect();
        self.add_balls(joints.into_iter(), radius, view);
        self.finish_item(Look::Matte, 0.0, true);
    }

    fn add_plane(&mut self, plane: &Plane, view: &CameraView) {
        let length = plane.normal.length();
        if !(length.is_finite() && length > 0.0 && plane.offset.is_finite()) {
            return;
        }
        let normal = plane.normal / length;
        let offset = (plane.offset / length - normal.dot(view.target)) * view.scale;
        if offset.abs() > 1e5 {
            return;
        }
        // Axes that follow the world's: the grid of the ground runs along x and z.
        let first = if normal.x.abs() < 0.9 { DVec3::X } else { DVec3::Z };
        let u = (first - first.dot(normal) * normal).normalize();
        let v = normal.cross(u);
        self.sheets.push(RenderPlane {
            normal: normal.as_vec3(),
            offset: offset as f32,
            axes: [u.as_vec3(), v.as_vec3()],
            origin: [u.dot(view.target) * view.scale, v.dot(view.target) * view.scale],
        });
    }

    /// Centre and radius of a ball around everything that blocks light; `None` if nothing does.
    pub fn extent(&self) -> Option<(Vec3, f32)> {
        let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        // What is far outside the picture's subject would only coarsen the shadow maps.
        const FAR: f32 = 8.0;
        for v in self.blockers.iter().flat_map(|b| b.corners) {
            let p = self.blocker_points[v as usize];
            if p.length_squared() < FAR * FAR {
                min = min.min(p);
                max = max.max(p);
            }
        }
        for ball in self.balls.iter().filter(|b| b.center.length() + b.radius < FAR) {
            min = min.min(ball.center - ball.radius);
            max = max.max(ball.center + ball.radius);
        }
        (min.x <= max.x).then(|| (0.5 * (min + max), (0.5 * (max - min).length()).max(1e-6)))
    }
}
