//! Parents that are found for bound points: near, spread, never on a line, and good against noise.

use glam::{DMat3, DVec3};
use pliant_geometry::{ParentFinder, ParentOptions, Parents, SplitMix64, shapes};
use pliant_math::procrustes::Cloud;

fn find(points: &[DVec3], bound: DVec3) -> Parents {
    ParentFinder::new(points, None).unwrap().find(bound, &ParentOptions::default()).unwrap()
}

fn vector(rng: &mut SplitMix64) -> DVec3 {
    DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - 1.0
}

/// What every answer keeps, and that its condition is that of the transform.
fn check(points: &[DVec3], bound: DVec3, parents: &Parents) -> Cloud {
    let at: Vec<DVec3> = parents.indices.iter().map(|&i| points[i as usize]).collect();
    let distance: Vec<f64> = at.iter().map(|p| p.distance(bound)).collect();
    assert!(parents.indices.len() >= 3 && parents.indices.len() == parents.weights.len());
    assert!((parents.weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
    assert!(parents.weights.iter().all(|w| *w > 0.0));
    for k in 1..at.len() {
        assert!(distance[k] >= distance[k - 1], "nearest first");
        assert!(parents.weights[k] <= parents.weights[k - 1], "weights fall with the distance");
        assert!(!parents.indices[..k].contains(&parents.indices[k]), "each once");
    }
    let cloud = Cloud::new(&at, &parents.weights).unwrap();
    assert!((cloud.condition() / parents.condition - 1.0).abs() < 1e-9);
    let reach = bound.distance(cloud.mean()) / cloud.size();
    assert!((reach - parents.reach).abs() < 1e-9 * (1.0 + reach));
    assert!(parents.condition <= 1e4);
    cloud
}

#[test]
fn a_point_beside_a_line_is_found_wherever_it_is() {
    for count in [5, 40, 1000] {
        for beside in [0.05, 1.0, 20.0] {
            let mut points: Vec<DVec3> = (0..count).map(|k| DVec3::X * 0.1 * f64::from(k)).collect();
            points.insert(3, DVec3::new(0.2, beside, 0.0));
            let bound = DVec3::new(0.42, 0.03, 0.0);
            let parents = find(&points, bound);
            check(&points, bound, &parents);
            assert!(parents.indices.contains(&3), "{count} {beside}: {parents:?}");
            assert!(parents.indices.len() <= 10);
        }
    }
}

#[test]
fn on_a_cloth_they_are_the_nearest_and_round() {
    let sheet = shapes::sheet(1.0, 1.0, 20, 20).unwrap().points;
    let finder = ParentFinder::new(&sheet, None).unwrap();
    let mut rng = SplitMix64::new(1);
    for _ in 0..200 {
        let bound = vector(&mut rng) * DVec3::new(0.45, 0.01, 0.45);
        let parents = finder.find(bound, &ParentOptions::default()).unwrap();
        check(&sheet, bound, &parents);
        assert!(parents.quality() < 6.0 && (6..=10).contains(&parents.indices.len()), "{parents:?}");
        let farthest = sheet[*parents.indices.last().unwrap() as usize].distance(bound);
        let nearer = sheet.iter().filter(|p| p.distance(bound) < farthest * (1.0 - 1e-12)).count();
        assert!(nearer < parents.indices.len());
    }
}

#[test]
fn in_a_block_they_are_as_round_as_a_ball_inside_and_good_at_corners() {
    let block = shapes::tet_box([6, 6, 6], DVec3::ONE, shapes::TetStyle::Five).unwrap().points;
    let finder = ParentFinder::new(&block, None).unwrap();
    let (lo, hi) = block.iter().fold((block[0], block[0]), |(l, h), p| (l.min(*p), h.max(*p)));
    let mut rng = SplitMix64::new(2);
    for _ in 0..200 {
        let bound = (lo + hi) / 2.0 + vector(&mut rng) * (hi - lo) * 0.6;
        let parents = finder.find(bound, &ParentOptions::default()).unwrap();
        check(&block, bound, &parents);
        assert!(parents.quality() <= 6.0, "{parents:?}");
    }
}

#[test]
fn far_outside_they_are_spread_over_the_body_rather_than_a_clump() {
    let block = shapes::tet_box([8, 8, 8], DVec3::ONE, shapes::TetStyle::Five).unwrap().points;
    for distance in [2.0, 10.0, 1e4] {
        let bound = DVec3::new(distance, 0.3 * distance, 0.0);
        let parents = find(&block, bound);
        let cloud = check(&block, bound, &parents);
        // The nearest ten would be a clump of a tenth of the block.
        assert!(cloud.size() > 0.4, "{distance}: {}", cloud.size());
        assert!(parents.condition < 4.0, "{distance}: {parents:?}");
    }
    // A dense clump near the bound point, and a coarse body around: not ten points of the clump.
    let mut points: Vec<DVec3> =
        (0..40).map(|k| DVec3::new(0.3, 0.0, 0.0) + DVec3::Y * 1e-4 * f64::from(k)).collect();
    points.extend(shapes::sheet(1.0, 1.0, 5, 5).unwrap().points);
    let bound = DVec3::new(0.31, 0.05, 0.02);
    let parents = find(&points, bound);
    check(&points, bound, &parents);
    assert!(parents.condition < 6.0, "{parents:?}");
}

#[test]
fn never_on_a_line_and_never_far_from_the_best_of_all_over_random_clouds() {
    let mut rng = SplitMix64::new(3);
    for case in 0..300 {
        let flat = [DVec3::ONE, DVec3::new(1.0, 1.0, 0.0), DVec3::new(1.0, 0.03, 0.01)][case % 3];
        let count = 3 + rng.below(9) as usize;
        // Coarse coordinates make ties, coincident points and lines.
        let grid = |p: DVec3| if case % 2 == 0 { (p * 3.0).round() / 3.0 } else { p };
        let points: Vec<DVec3> = (0..count).map(|_| grid(vector(&mut rng)) * flat).collect();
        let bound = vector(&mut rng);
        let finder = ParentFinder::new(&points, None).unwrap();
        let found = finder.find(bound, &ParentOptions { count: Some(3), ..Default::default() });
        // The widest of all triangles, for its length: is there one at all?
        let mut widest = 0.0_f64;
        for a in 0..count {
            for b in 0..a {
                for c in 0..b {
                    let (u, v) = (points[b] - points[a], points[c] - points[a]);
                    let longest = u.length_squared().max(v.length_squared()).max((v - u).length_squared());
                    if longest > 0.0 {
                        widest = widest.max(u.cross(v).length() / longest);
                    }
                }
            }
        }
        match found {
            Ok(parents) => {
                check(&points, bound, &parents);
                assert_eq!(parents.indices.len(), 3);
            }
            Err(e) => assert!(widest < 0.1, "{case}: {e}, though there is one of {widest}"),
        }
        let some = finder.find(bound, &ParentOptions::default());
        assert!(some.is_ok() || widest < 0.1, "{case}");
        assert!(widest > 0.0 || some.is_err());
    }
}

#[test]
fn excluded_points_radius_candidates_and_counts_are_kept_to() {
    let sheet = shapes::sheet(1.0, 1.0, 10, 10).unwrap().points;
    let bound = sheet[60];
    let own: Vec<u32> =
        (0..sheet.len() as u32).filter(|&i| sheet[i as usize].distance(bound) < 0.15).collect();
    let all = ParentFinder::new(&sheet, None).unwrap();
    let parents = all.find(bound, &ParentOptions { excluded: &own, ..Default::default() }).unwrap();
    check(&sheet, bound, &parents);
    assert!(parents.indices.iter().all(|i| !own.contains(i)), "{own:?} {parents:?}");

    for count in [3, 7, 20, 64] {
        let options = ParentOptions { count: Some(count), ..Default::default() };
        let parents = all.find(bound, &options).unwrap();
        check(&sheet, bound, &parents);
        assert_eq!(parents.indices.len(), count);
    }
    let near =
        all.find(bound, &ParentOptions { count: Some(64), radius: 0.16, ..Default::default() }).unwrap();
    assert_eq!(near.indices.len(), 9);

    let odd: Vec<u32> = (0..sheet.len() as u32).filter(|i| i % 2 == 1).collect();
    let parents =
        ParentFinder::new(&sheet, Some(&odd)).unwrap().find(bound, &ParentOptions::default()).unwrap();
    assert!(parents.indices.iter().all(|i| i % 2 == 1));
    // In whatever order candidates come, and however often.
    let mut shuffled = [odd.clone(), odd].concat();
    SplitMix64::new(5).shuffle(&mut shuffled);
    let again =
        ParentFinder::new(&sheet, Some(&shuffled)).unwrap().find(bound, &ParentOptions::default()).unwrap();
    assert_eq!(parents, again);
}

#[test]
fn refusals_say_why() {
    let line: Vec<DVec3> = (0..50).map(|k| DVec3::new(1.0, 2.0, 3.0) * f64::from(k)).collect();
    let why = |points: &[DVec3], options: ParentOptions<'_>| {
        ParentFinder::new(points, None).unwrap().find(DVec3::ONE, &options).unwrap_err().to_string()
    };
    let plain = ParentOptions::default();
    assert!(why(&line, plain).contains("lie on a line"), "{}", why(&line, plain));
    assert!(why(&[DVec3::X; 20], plain).contains("lie on a line"));
    assert!(why(&[], plain).contains("0 of 0 points"));
    let near = why(&line, ParentOptions { radius: 6.0, excluded: &[1], ..plain });
    assert!(near.contains("2 of 50 points") && near.contains("within 6, 1 excluded"), "{near}");
    for count in [0, 2, 65] {
        let text = why(&line, ParentOptions { count: Some(count), ..plain });
        assert!(text.contains(&format!("{count} parents were asked for")), "{text}");
    }
    for radius in [0.0, -1.0, f64::NAN] {
        assert!(why(&line, ParentOptions { radius, ..plain }).contains("within"));
    }
    let finder = ParentFinder::new(&line, None).unwrap();
    assert!(finder.find(DVec3::NAN, &plain).unwrap_err().to_string().contains("not finite"));
    let bad = [DVec3::X, DVec3::INFINITY];
    assert!(ParentFinder::new(&bad, None).unwrap_err().to_string().contains("point 1 is at"));
    assert!(ParentFinder::new(&bad, Some(&[2])).unwrap_err().to_string().contains("no point 2"));
}

/// Root mean square error of a bound point whose parents tremble by one thousandth.
fn noise(points: &[DVec3], bound: DVec3, count: usize) -> f64 {
    let options = ParentOptions { count: Some(count), ..Default::default() };
    let parents = ParentFinder::new(points, None).unwrap().find(bound, &options).unwrap();
    let cloud = check(points, bound, &parents);
    let mut rng = SplitMix64::new(7);
    let trials = 2000;
    let mut square = 0.0;
    for _ in 0..trials {
        let now: Vec<DVec3> =
            parents.indices.iter().map(|&i| points[i as usize] + vector(&mut rng) * 1e-3).collect();
        square += cloud.fit(|i| now[i], DMat3::IDENTITY).place(bound).distance_squared(bound);
    }
    (square / f64::from(trials)).sqrt()
}

#[test]
fn more_parents_average_out_their_noise() {
    let sheet = shapes::sheet(1.0, 1.0, 30, 30).unwrap().points;
    let block = shapes::tet_box([10, 10, 10], DVec3::ONE, shapes::TetStyle::Five).unwrap().points;
    let middle = block.iter().sum::<DVec3>() / block.len() as f64;
    // In the cloud there is no arm, and the error is that of a mean: 1/√n.
    for (points, bound) in [(&sheet, DVec3::new(0.01, 0.0, 0.013)), (&block, middle + 0.01)] {
        let error = [4, 16, 64].map(|n| noise(points, bound, n));
        println!("{error:?}");
        for k in 1..3 {
            let ratio = error[k - 1] / error[k];
            assert!((1.6..2.5).contains(&ratio), "four times as many, {ratio} times as good: {error:?}");
        }
    }
    // On an arm the spread of the cloud has a say as well: few parents are taken from all over, many from around. Each
    // step is better than the one before, and sixteen times as many by nearly four times.
    for (points, bound) in [(&sheet, DVec3::new(0.01, 0.1, 0.013)), (&block, middle + DVec3::X)] {
        let error = [4, 16, 64].map(|n| noise(points, bound, n));
        println!("{error:?}");
        assert!(
            error[1] < error[0] / 1.3 && error[2] < error[1] / 1.3 && error[2] < error[0] / 3.0,
            "{error:?}"
        );
    }
}
