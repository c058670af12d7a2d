//! Coverings of every kind: they cover, repeat, keep their promises, and survive degenerate clouds.

use glam::DVec3;
use pliant_geometry::{ClusterMethod, ClusterSize, Clusters, Covering, SplitMix64, random_covering, shapes};

const METHODS: [ClusterMethod; 4] =
    [ClusterMethod::Random, ClusterMethod::FileOrder, ClusterMethod::Farthest, ClusterMethod::KMeans];

fn cloud(n: usize, seed: u64) -> Vec<DVec3> {
    let mut rng = SplitMix64::new(seed);
    (0..n).map(|_| DVec3::new(rng.unit(), rng.unit(), rng.unit())).collect()
}

/// Every option of a covering that matters for its structure.
fn variants() -> impl Iterator<Item = Covering> {
    METHODS.into_iter().flat_map(|method| {
        [ClusterSize::Whole, ClusterSize::Radius(0.3), ClusterSize::Count(9)].into_iter().flat_map(
            move |size| {
                [(1, false, false), (1, true, true), (3, false, true), (3, true, false)].into_iter().map(
                    move |(levels, smooth, symmetric)| Covering {
                        levels,
                        smooth,
                        symmetric,
                        overlap: if smooth { 0.2 } else { 0.0 },
                        ..Covering::new(method, size)
                    },
                )
            },
        )
    })
}

/// What holds for every covering of every cloud.
fn check_sound(points: &[DVec3], clusters: &Clusters, what: &Covering) {
    let n = clusters.len();
    assert_eq!(clusters.offsets.len(), n + 1, "{what:?}");
    assert_eq!((clusters.middles.len(), clusters.reach.len(), clusters.level.len()), (n, n, n));
    assert!(clusters.level.is_sorted() && clusters.level[0] == 0);
    let levels = usize::from(clusters.level[n - 1]) + 1;
    assert!(levels <= what.levels as usize);
    let mut covered = vec![vec![false; points.len()]; levels];
    let mut sums = vec![0.0; points.len()];
    let counts = clusters.clusters_per_particle();
    for c in 0..n {
        assert!(!clusters.members_of(c).is_empty(), "cluster {c} is empty: {what:?}");
        assert!(clusters.members_of(c).windows(2).all(|w| w[0] < w[1]), "sorted, each once");
        let mut mass = 0.0;
        for slot in clusters.slots(c) {
            let i = clusters.members[slot] as usize;
            covered[usize::from(clusters.level[c])][i] = true;
            let share = clusters.shares.as_ref().map_or(1.0 / f64::from(counts[i]), |s| s[slot]);
            assert!((0.0..=1.0).contains(&share), "{share}");
            sums[i] += share;
            mass += share;
            let distance = points[i].distance(clusters.middles[c]);
            assert!(distance <= clusters.reach[c] * (1.0 + 2e-9) + 1e-12);
        }
        assert!(mass > 0.0, "cluster {c} is without mass: {what:?}");
    }
    assert!(covered.iter().flatten().all(|c| *c), "every level covers everything: {what:?}");
    for (i, sum) in sums.iter().enumerate() {
        let rounding = f64::from(counts[i]) * f64::EPSILON;
        assert!((sum - 1.0).abs() <= rounding, "shares of {i} sum to 1 + {:e}: {what:?}", sum - 1.0);
    }
    assert_eq!(clusters.shares.is_some(), what.smooth || levels > 1);
    let statistics = clusters.statistics();
    assert_eq!(statistics.particles, points.len());
    assert!(!statistics.to_string().contains("NaN"), "{statistics}");
    for (i, &c) in clusters.nearest_clusters(points).iter().enumerate() {
        assert!(clusters.members_of(c as usize).binary_search(&(i as u32)).is_ok());
    }
}

#[test]
fn every_kind_covers_shares_out_and_repeats() {
    let random = cloud(400, 7);
    let block = shapes::cuboid(DVec3::new(1.0, 0.8, 0.6), 0.1).unwrap().points;
    for points in [&random, &block] {
        for what in variants() {
            let clusters = what.build(points).unwrap();
            check_sound(points, &clusters, &what);
            assert_eq!(clusters, what.build(points).unwrap(), "{what:?}");
        }
    }
}

#[test]
fn degenerate_clouds_are_covered_too() {
    let line: Vec<DVec3> = (0..40).map(|i| DVec3::new(0.1 * f64::from(i), 0.0, 0.0)).collect();
    let flat: Vec<DVec3> =
        (0..100).map(|i| DVec3::new(f64::from(i % 10), f64::from(i / 10), 0.0) * 0.1).collect();
    let twice: Vec<DVec3> = cloud(50, 3).into_iter().flat_map(|p| [p, p]).collect();
    let far: Vec<DVec3> = cloud(80, 4).into_iter().map(|p| p + DVec3::splat(1e9)).collect();
    let outlier: Vec<DVec3> = cloud(80, 4).into_iter().chain([DVec3::splat(1e12)]).collect();
    let clouds = [
        vec![DVec3::ONE],
        vec![DVec3::ONE; 7],
        vec![DVec3::ZERO, DVec3::X],
        line,
        flat,
        twice,
        far,
        outlier,
        cloud(3, 1),
    ];
    for points in clouds {
        for what in variants() {
            let clusters = what.build(&points).unwrap();
            check_sound(&points, &clusters, &what);
        }
    }
}

#[test]
fn farthest_takes_fewer_clusters_than_chance() {
    let bunny = shapes::bunny(1.0, 0.05).unwrap().points;
    let block = shapes::cuboid(DVec3::ONE, 0.1).unwrap().points;
    let ball = shapes::ball(1.0, 0.12).unwrap().points;
    let random = cloud(2000, 5);
    for (name, points, radii) in [
        ("bunny", &bunny, [0.1, 0.2]),
        ("box", &block, [0.3, 0.45]),
        ("ball", &ball, [0.3, 0.5]),
        ("cloud", &random, [0.15, 0.3]),
    ] {
        for radius in radii {
            let by_chance: Vec<usize> =
                (0..10).map(|seed| random_covering(points, radius, seed).unwrap().len()).collect();
            let farthest =
                Covering::new(ClusterMethod::Farthest, ClusterSize::Radius(radius)).build(points).unwrap();
            println!(
                "{name}, radius {radius}: {} by farthest points, {by_chance:?} by chance",
                farthest.len()
            );
            assert!(10 * farthest.len() < by_chance.iter().sum::<usize>());
            assert!(farthest.len() <= by_chance[0]);
        }
    }
}

#[test]
fn counts_are_exact_where_promised() {
    let points = cloud(300, 2);
    let block = shapes::cuboid(DVec3::ONE, 0.2).unwrap().points;
    for wanted in [1, 2, 3, 7, 26, 100, 216, 300, 5000] {
        for method in [ClusterMethod::Farthest, ClusterMethod::KMeans] {
            for points in [&points, &block] {
                let got = Covering::new(method, ClusterSize::Count(wanted)).build(points).unwrap().len();
                assert_eq!(got, wanted.min(points.len()), "{method:?}");
            }
        }
    }
    // Two at every place: no more clusters than places.
    let twice: Vec<DVec3> = cloud(20, 3).into_iter().flat_map(|p| [p, p]).collect();
    for method in [ClusterMethod::Farthest, ClusterMethod::KMeans] {
        assert_eq!(Covering::new(method, ClusterSize::Count(33)).build(&twice).unwrap().len(), 20);
    }
}

#[test]
fn k_means_spreads_mass_more_evenly_than_chance() {
    let bunny = shapes::bunny(1.0, 0.05).unwrap().points;
    for points in [&bunny, &cloud(2000, 5)] {
        let lumped = |method| {
            let clusters = Covering::new(method, ClusterSize::Count(26)).build(points).unwrap();
            clusters.statistics().mass_per_cluster.deviation
        };
        let (random, means) = (lumped(ClusterMethod::Random), lumped(ClusterMethod::KMeans));
        println!("deviation of the mass per cluster: {random:.2} by chance, {means:.2} by k-means");
        assert!(means < 0.7 * random);
    }
}

#[test]
fn coarse_levels_carry_the_share_they_were_given() {
    let points = cloud(1000, 8);
    let what = Covering {
        levels: 16,
        coarse_share: 0.3,
        smooth: true,
        ..Covering::new(ClusterMethod::Farthest, ClusterSize::Radius(0.15))
    };
    let clusters = what.build(&points).unwrap();
    let statistics = clusters.statistics();
    println!("{statistics}");
    assert_eq!(statistics.levels.last(), Some(&1), "up to the whole body");
    assert!(statistics.levels.windows(2).all(|w| w[0] > w[1]));
    let levels = statistics.levels.len();
    assert!((4..=5).contains(&levels));
    let mut carried = vec![0.0; levels];
    for c in 0..clusters.len() {
        let shares = &clusters.shares.as_ref().unwrap()[clusters.slots(c)];
        carried[usize::from(clusters.level[c])] += shares.iter().sum::<f64>() / points.len() as f64;
    }
    assert!((carried[0] - 0.7).abs() < 1e-12, "{carried:?}");
    let each = 0.3 / (levels - 1) as f64;
    assert!(carried[1..].iter().all(|c| (c - each).abs() < 1e-12), "{carried:?}");
}

#[test]
fn smooth_shares_fall_to_zero_at_the_rim() {
    let points = cloud(2000, 5);
    let what = Covering { smooth: true, ..Covering::new(ClusterMethod::KMeans, ClusterSize::Count(20)) };
    let clusters = Covering { overlap: 0.3, ..what }.build(&points).unwrap();
    let shares = clusters.shares.as_ref().unwrap();
    let counts = clusters.clusters_per_particle();
    for c in 0..clusters.len() {
        for slot in clusters.slots(c) {
            let i = clusters.members[slot] as usize;
            let d = points[i].distance(clusters.middles[c]) / clusters.reach[c];
            if d > 0.98 && counts[i] > 1 {
                assert!(shares[slot] < 0.05, "{} at {d}", shares[slot]);
            }
        }
    }
    // Two particles on each other's rim and on no one's inside: equal shares, not 0/0.
    let pair = [DVec3::ZERO, DVec3::X];
    let both = Covering { smooth: true, ..Covering::new(ClusterMethod::KMeans, ClusterSize::Count(1)) };
    assert_eq!(both.build(&pair).unwrap().shares, Some(vec![1.0, 1.0]));
    let rim = Covering { smooth: true, ..Covering::new(ClusterMethod::KMeans, ClusterSize::Radius(0.6)) };
    let clusters = rim.build(&pair).unwrap();
    check_sound(&pair, &clusters, &rim);
}

#[test]
fn statistics_say_what_is_unexpected() {
    let points = cloud(100, 1);
    let note = |radius: f64| random_covering(&points, radius, 1).unwrap().statistics().note();
    assert!(note(1e-6).unwrap().contains("single particle"));
    assert!(note(10.0).unwrap().contains("one cluster"));
    assert_eq!(note(0.5), None);
    let mut apart = points.clone();
    apart.extend(points.iter().map(|p| *p + DVec3::X * 50.0));
    let statistics = random_covering(&apart, 0.6, 1).unwrap().statistics();
    assert_eq!(statistics.parts, 2);
    let text = statistics.to_string();
    assert!(text.contains("2 parts") && text.contains("falls apart"), "{text}");
}

#[test]
fn bad_options_are_refused_with_help() {
    let points = cloud(10, 1);
    let plain = Covering::new(ClusterMethod::Farthest, ClusterSize::Radius(0.5));
    let bad = [
        Covering { size: ClusterSize::Radius(0.0), ..plain },
        Covering { size: ClusterSize::Radius(f64::NAN), ..plain },
        Covering { size: ClusterSize::Count(0), ..plain },
        Covering { levels: 0, ..plain },
        Covering { levels: 17, ..plain },
        Covering { overlap: -0.1, ..plain },
        Covering { overlap: f64::NAN, ..plain },
        Covering { coarse_share: 0.0, ..plain },
        Covering { coarse_share: 1.0, ..plain },
    ];
    for what in bad {
        let error = what.build(&points).unwrap_err();
        assert!(!error.message.is_empty() && !error.help.is_empty(), "{what:?}");
    }
    assert!(plain.build(&[]).is_err());
    assert!(plain.build(&[DVec3::NAN]).unwrap_err().message.contains("particle 0"));
}
