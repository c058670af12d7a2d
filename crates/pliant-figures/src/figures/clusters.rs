//! What clusters look like, made in five ways, and how evenly they share the mass.

use super::{Definition, Failure, Figure};
use crate::metrics::mean;
use crate::plot::{Panel, Plot, Style};
use pliant::shapes::{Shape, gummy_bear};
use pliant::{Body, ClusterMethod, ClusterStyle, Clustering};
use std::collections::BTreeMap;

const SPACING: f64 = 0.02;
const COUNT: usize = 29;
const RANDOM: &str = "random";
const KMEANS: &str = "k-means";
/// The panel after the pictures.
const MASSES: usize = 5;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "clusters",
        about: "Clusters of a bear made in five ways, coloured by the nearest, and their masses",
    },
    run,
    metrics: &[
        ("random_mass_deviation", |p| deviation(p, RANDOM)),
        ("kmeans_deviation_share", |p| deviation(p, KMEANS) / deviation(p, RANDOM)),
    ],
};

/// Standard deviation of the masses over their mean.
fn deviation(plot: &Plot, method: &str) -> f64 {
    let masses = plot.values(MASSES, method);
    let middle = mean(&masses);
    mean(&masses.iter().map(|m| (m - middle).powi(2)).collect::<Vec<_>>()).sqrt() / middle
}

fn run() -> Result<Plot, Failure> {
    let plain = ClusterStyle::default();
    let kmeans = ClusterStyle { method: ClusterMethod::KMeans, ..plain };
    let shape = gummy_bear(0.5, SPACING)?;
    let mut panels = Vec::new();
    let title = "Masses of the clusters, sorted";
    let mut masses = Panel::new(title, "cluster", "mass over the mean");
    for (method, style) in [
        (RANDOM, plain),
        ("farthest points", ClusterStyle { method: ClusterMethod::Farthest, ..plain }),
        (KMEANS, kmeans),
        ("k-means, symmetric", ClusterStyle { symmetric: true, ..kmeans }),
        ("k-means, three scales", ClusterStyle { levels: 3, ..kmeans }),
    ] {
        let mut body = Body::new("bear", shape.clone());
        body.clusters = Clustering::Count(COUNT);
        body.cluster_style = style;
        let covering = body.covering().ok_or("a body without clusters")?;
        let clusters = covering.build(&shape.points)?;
        let s = clusters.statistics();
        let title = format!("{method}: {} clusters of {} particles", s.clusters, s.particles);
        let note = format!(
            "{:.1} clusters a particle, {:.0} to {:.0} members, masses ± {:.0} %",
            s.clusters_per_particle.mean,
            s.members_per_cluster.min,
            s.members_per_cluster.max,
            100.0 * s.mass_per_cluster.deviation,
        );
        panels.push(front_view(&title, &note, &shape, &clusters.nearest_clusters(&shape.points)));
        let shares = clusters.shares_or_equal();
        let mut mass: Vec<f64> =
            (0..clusters.len()).map(|c| shares[clusters.slots(c)].iter().sum::<f64>()).collect();
        mass.sort_by(f64::total_cmp);
        let sorted = mass.iter().enumerate().map(|(k, m)| (k as f64 + 1.0, m / s.mass_per_cluster.mean));
        masses = masses.line(method, Style::Solid, sorted.collect());
    }
    panels.push(masses);
    Ok(Plot { panels, ..Plot::new("Clusters of a gummy bear, coloured by the nearest one") })
}

/// The frontmost particle of each column, seen along z: the particles are a lattice, so nothing overlaps.
fn front_view(title: &str, note: &str, shape: &Shape, nearest: &[u32]) -> Panel {
    let mut front: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    for (i, p) in shape.points.iter().enumerate() {
        let column = ((p.x / SPACING * 4.0).round() as i64, (p.y / SPACING * 4.0).round() as i64);
        let seen = front.entry(column).or_insert(i);
        if shape.points[*seen].z < p.z {
            *seen = i;
        }
    }
    let mut by_cluster: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for &i in front.values() {
        by_cluster.entry(nearest[i]).or_default().push((shape.points[i].x, shape.points[i].y));
    }
    let last = by_cluster.keys().last().copied().unwrap_or(0);
    // Clusters not seen keep their number, so that colours do not depend on the view.
    (0..=last).fold(Panel::new(title, note, "y (m)").picture(SPACING), |panel, c| {
        panel.line(format!("cluster {c}"), Style::Marked, by_cluster.remove(&c).unwrap_or_default())
    })
}
