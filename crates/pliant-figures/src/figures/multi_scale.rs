//! A bar held at one end by clusters of one and of three scales: coarse clusters carry a load further.

use super::{Definition, Failure, Figure};
use crate::metrics::{mean, tail};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, sample};
use pliant::shapes::cuboid;
use pliant::{Body, Builder, ClusterMethod, ClusterStyle, Clustering, DVec3, Motion, Pins, Selection};

const ONE: &str = "one scale";
const THREE: &str = "three scales";
const SECONDS: usize = 4;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "multi_scale",
        about: "Sag of a bar held at one end, with one scale of clusters and with three",
    },
    run,
    metrics: &[("sag_share", |p| {
        let sag = |name: &str| -mean(tail(&p.values(0, name), RATE as usize));
        sag(THREE) / sag(ONE)
    })],
};

fn run() -> Result<Plot, Failure> {
    let title = "A bar of 24 fine clusters, six times as long as thick, 30 Hz";
    let mut panel = Panel::new(title, "time (s)", "height of the free end over the length");
    for (name, levels) in [(ONE, 1), (THREE, 3)] {
        panel = panel.line(name, Style::Solid, hanging(levels)?);
    }
    Ok(Plot { panels: vec![panel], ..Plot::new("Sag of a bar held at one end") })
}

/// How far the free end is above where it was, over the length of the bar.
fn hanging(levels: u32) -> Result<Vec<(f64, f64)>, Failure> {
    let size = DVec3::new(0.6, 0.1, 0.1);
    let mut body = Body::new("bar", cuboid(size, 0.02)?).frequency(30.0);
    body.clusters = Clustering::Count(24);
    body.cluster_style = ClusterStyle { method: ClusterMethod::KMeans, levels, ..ClusterStyle::default() };
    body.controls.damping = 8.0;
    body.pins.push(Pins {
        name: "held".into(),
        select: Selection::Box(DVec3::splat(-1.0), DVec3::new(-0.25, 1.0, 1.0)),
        motion: Motion::REST,
        stiffness: None,
    });
    let mut simulation = Builder::new().body(body).build()?;
    let rest = &simulation.model().bodies()[0].parts.rest().positions;
    let end: Vec<usize> = (0..rest.len()).filter(|&i| rest.get(i).x > 0.5 * size.x - 1e-9).collect();
    sample(&mut simulation, SECONDS * RATE as usize, |s| {
        end.iter().map(|&i| s.state().bodies()[0].positions().get(i).y).sum::<f64>()
            / end.len() as f64
            / size.x
    })
}
