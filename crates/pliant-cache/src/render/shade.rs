//! How surfaces look: key, fill and rim light, soft sky, and the gelatine, matte and cloth materials.

use super::Look;
use super::camera::CameraView;
use super::lighting::ReceivedLight;
use glam::Vec3;

/// A visible point of a surface.
pub(super) struct ShadingPoint {
    /// Unit normal on the side of the viewer.
    pub normal: Vec3,
    /// Unit direction to the eye.
    pub eye: Vec3,
    /// Linear colour.
    pub color: Vec3,
    pub light: ReceivedLight,
    pub look: Look,
    /// Length of the view ray inside the body, in sizes of the body.
    pub thickness: f32,
}

const KEY: Vec3 = Vec3::new(1.62, 1.55, 1.44);
const SKY: Vec3 = Vec3::new(0.60, 0.64, 0.70);
const FILL: Vec3 = Vec3::new(0.20, 0.22, 0.26);
const RIM: Vec3 = Vec3::new(0.62, 0.66, 0.74);
/// Light the bright ground sends up.
const GROUND: Vec3 = Vec3::new(0.40, 0.385, 0.37);

/// Lambert's cosine reaching `wrap` around the body, as light scattered below the surface does.
fn wrapped(cosine: f32, wrap: f32) -> f32 {
    let x = ((cosine + wrap) / (1.0 + wrap)).max(0.0);
    x * x.sqrt().max(0.6)
}

/// Soft highlight of a rough surface (GGX distribution with the usual cheap visibility term).
fn highlight(normal: Vec3, eye: Vec3, light: Vec3, roughness: f32) -> f32 {
    let half = (eye + light).normalize_or(normal);
    let a2 = roughness.powi(4);
    let (nh, lh) = (normal.dot(half).max(0.0), light.dot(half).max(0.1));
    let d = nh * nh * (a2 - 1.0) + 1.0;
    let facing = (normal.dot(light) * 4.0).clamp(0.0, 1.0);
    0.25 * a2 / (d * d * lh * lh * (4.0 * roughness + 2.0)) * facing
}

/// What a mirror would see around it: bright ceiling, darker walls, a large softbox and a strip at the back.
fn environment_reflection(direction: Vec3, view: &CameraView) -> Vec3 {
    let step = |low: f32, high: f32, x: f32| {
        let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    let up = direction.dot(view.sky);
    let walls = GROUND.lerp(Vec3::new(0.55, 0.60, 0.68), step(-0.35, 0.25, up));
    let surroundings = walls.lerp(Vec3::new(0.95, 1.0, 1.06), step(0.35, 1.0, up));
    let softbox = step(0.68, 1.0, direction.dot(view.key));
    let strip = step(0.80, 0.96, direction.dot(view.rim));
    surroundings + softbox * Vec3::new(3.1, 3.0, 2.85) + strip * Vec3::new(0.9, 0.95, 1.0)
}

/// Light that a spot sends to the eye.
pub(super) fn shade(spot: &ShadingPoint, view: &CameraView) -> Vec3 {
    let ShadingPoint { normal, eye, color, light, .. } = *spot;
    let facing = normal.dot(eye).clamp(0.0, 1.0);
    let up = normal.dot(view.sky);
    // What reaches the underside comes from the ground, less of it where the body hides the ground from the sky.
    let openness = light.sky.dot(Vec3::splat(1.0 / 3.0));
    let below = (0.5 - 0.5 * up) * (0.35 + 0.65 * openness.min(1.0));
    let ambient = SKY * light.sky + GROUND * below;
    let fill = FILL * (0.5 + 0.5 * normal.dot(view.fill)).powi(2) * (0.4 + 0.6 * openness.min(1.0));
    let grazing = (1.0 - facing).powi(2);
    let rim = RIM * normal.dot(view.rim).max(0.0) * grazing;
    match spot.look {
        Look::Jelly => {
            // Light creeps into the shadow of a translucent body.
            let key = KEY * wrapped(normal.dot(view.key), 0.32) * (0.12 + 0.88 * light.key);
            // Beer's law along the view ray: the colour deepens with the way through the body.
            let depth = spot.thickness.min(2.0);
            let absorb = 1.15 * (Vec3::ONE - color) + 0.26;
            let tint = (-absorb * depth).exp();
            let body = color * tint * 1.06;
            // Thin parts glow with light that came in from behind.
            let thin = (-1.9 * depth).exp();
            let through =
                color * tint * (0.22 + 0.55 * normal.dot(-view.key).max(0.0) + 0.5 * grazing) * thin;
            let scattered = body * (key + ambient + fill) + through * (KEY * 0.5 + SKY);
            let fresnel = 0.04 + 0.86 * (1.0 - facing).powi(5);
            let mirror = 2.0 * normal.dot(eye) * normal - eye;
            // Where the sky is hidden there is nothing bright to mirror.
            let open = (0.15 + 0.85 * openness).min(1.0);
            let gloss = environment_reflection(mirror, view) * (0.8 * fresnel * open);
            let spark = KEY * light.key * (0.30 * highlight(normal, eye, view.key, 0.46));
            scattered + gloss + spark + rim * color.lerp(Vec3::ONE, 0.3)
        }
        Look::Matte | Look::Prop => {
            let key = KEY * wrapped(normal.dot(view.key), 0.12) * light.key;
            let soft = KEY * light.key * (0.10 * highlight(normal, eye, view.key, 0.55));
            color * (key + ambient + fill + 0.6 * rim) + soft + 0.06 * rim
        }
        Look::Cloth => {
            let cosine = normal.dot(view.key);
            let key = KEY * wrapped(cosine, 0.25) * light.key;
            // A sheet lit from the other side glows in its own, deeper colour.
            let through = KEY * (-cosine).max(0.0) * 0.32 * color;
            let sheen = color.lerp(Vec3::ONE, 0.35) * (0.16 * (1.0 - facing).powi(3)) * (ambient + 0.5 * key);
            color * (key + ambient + fill + through + 0.5 * rim) + sheen
        }
    }
}
