//! Other rates of frames, sequences of pictures, animated PNG; and what is said to those who guess.

use crate::common::Place;

/// The positions of a PC2 file: points, and the samples one after the other.
fn cache(bytes: &[u8]) -> (usize, Vec<f32>) {
    let whole = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    let numbers = bytes[32..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four bytes")));
    let numbers: Vec<f32> = numbers.collect();
    assert_eq!(numbers.len(), 3 * whole(16) * whole(28));
    (whole(16), numbers)
}

#[test]
fn frames_come_at_the_rate_that_is_asked_for() {
    let place = Place::new();
    place.fine(&["run", "s.toml", "-q", "--frames", "60", "-o", "own.pc2", "--log", "s.plog"]);
    place.fine(&["export", "s.plog", "-q", "-o", "b.pc2", "-o", "b.usda", "--for", "blender", "--fps", "24"]);
    let text = String::from_utf8(place.read("b.usda")).expect("text");
    for told in
        ["endTimeCode = 24\n", "framesPerSecond = 24\n", "timeCodesPerSecond = 24\n", "startTimeCode = 0\n"]
    {
        assert!(text.contains(told), "{told}: {}", &text[..400]);
    }
    let (points, own) = cache(&place.read("own.pc2"));
    let (same, new) = cache(&place.read("b.pc2"));
    assert_eq!((points, own.len(), new.len()), (same, 61 * 3 * points, 25 * 3 * points));
    let frame = |of: &[f32], k: usize| of[k * 3 * points..(k + 1) * 3 * points].to_vec();
    for k in 0..25 {
        let at = 2.5 * k as f64;
        let (before, part) = (at.floor() as usize, at.fract());
        let (a, b) = (frame(&own, before), frame(&own, (before + 1).min(60)));
        for (i, (&got, (&a, &b))) in frame(&new, k).iter().zip(a.iter().zip(&b)).enumerate() {
            let wanted = f64::from(a) + part * (f64::from(b) - f64::from(a));
            assert!((f64::from(got) - wanted).abs() < 2e-7, "frame {k}, number {i}: {got}, not {wanted}");
            assert!(part > 0.0 || got == a, "a frame that was simulated stays as it is");
        }
    }
    // A run does the same at once, and a higher rate is no different.
    let words = ["run", "s.toml", "-q", "--frames", "60", "-o", "c.pc2", "--for", "blender", "--fps", "24"];
    place.fine(&words);
    assert_eq!(place.read("c.pc2"), place.read("b.pc2"));
    place.fine(&["export", "s.plog", "-q", "-o", "d.pc2", "--fps", "90"]);
    assert_eq!(cache(&place.read("d.pc2")).1.len(), 91 * 3 * points);
    place.fine(&[
        "export", "s.plog", "-q", "-o", "e.obj", "--fps", "24", "--first", "3", "--last", "9", "--step", "3",
    ]);
    let objects: Vec<String> = place.names().into_iter().filter(|n| n.ends_with(".obj")).collect();
    assert_eq!(objects, ["e_0003.obj", "e_0006.obj", "e_0009.obj"]);
    for bad in ["0", "nan", "film"] {
        place.fails(&["export", "s.plog", "-o", "x.usda", "--fps", bad], 2, &["such as 24"]);
    }
    let told = place.fine(&["run", "s.toml", "--frames", "3", "-o", "t.usda"]).out;
    assert!(told.contains("Frame Rate to 60") && told.contains("--for blender --fps 24"), "{told}");
}

#[test]
fn every_frame_becomes_a_picture_and_all_of_them_a_film() {
    let place = Place::new();
    let words = ["run", "s.toml", "--frames", "6", "-o", "frames/####.png", "--size", "64x48"];
    let told = place.fine(&words).out;
    let film = "ffmpeg -framerate 60 -start_number 0 -i frames/%04d.png -c:v libx264 -pix_fmt yuv420p frames/film.mp4";
    assert!(told.contains(film), "{told}");
    assert!(told.contains("7 files, 7 frames"), "{told}");
    assert!(place.has("frames/s.plog"));
    let pictures: Vec<Vec<u8>> = (0..7).map(|k| place.read(&format!("frames/{k:04}.png"))).collect();
    assert!(pictures.iter().all(|p| p.starts_with(b"\x89PNG")));
    assert_ne!(pictures[0], pictures[6]);
    // Our own pictures may be made again, those of others not.
    place.fine(&words);
    place.write("frames/0003.png", "a photograph");
    place.fails(&words, 2, &["frames/0003.png", "--force"]);
    assert_eq!(place.read("frames/0003.png"), b"a photograph");
    // Numbers with gaps, an odd size, and another rate.
    let log = "frames/s.plog";
    let told = place.fine(&["export", log, "-o", "shot_###.png", "--step", "2", "--size", "65x48"]).out;
    for part in ["-framerate 30", "-pattern_type glob -i 'shot_[0-9][0-9][0-9].png'", "pad=", "shot.mp4"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(place.has("shot_006.png") && !place.has("shot_003.png"));
    let told = place.fine(&["export", log, "-o", "f/####.png", "--fps", "30", "--size", "64x48"]).out;
    assert!(told.contains("-framerate 30 -start_number 0"), "{told}");
    // Without a place for a number it is the contact sheet it always was.
    place.fine(&["export", log, "-q", "-o", "take#2.png", "--size", "64x48"]);
    assert!(place.has("take#2.png"));
}

#[test]
fn an_animated_png_has_all_frames() {
    let place = Place::new();
    place.fine(&["run", "s.toml", "-q", "--frames", "20", "-o", "a.apng", "--size", "64x48"]);
    // acTL: its length, its name, how many pictures, how often.
    let control = |name: &str| {
        let bytes = place.read(name);
        assert!(bytes.starts_with(b"\x89PNG"), "{name}");
        let at = bytes.windows(4).position(|w| w == b"acTL").expect("an animation");
        u32::from_be_bytes(bytes[at + 4..at + 8].try_into().expect("four bytes"))
    };
    assert_eq!(control("a.apng"), 11, "every second of 21 frames");
    place.fine(&["export", "a.plog", "-q", "-o", "b.apng", "--fps", "24", "--size", "64x48"]);
    assert_eq!(control("b.apng"), 9);
}

#[test]
fn guesses_are_answered() {
    let place = Place::new();
    place.write("gem.obj", "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nf 1 3 5\n");
    place.fails(&["run", "gem.obj", "--material", "jely"], 2, &["--material", "did you mean \"jelly\"?"]);
    place.fails(&["run", "gem.obj", "--material", "plutonium"], 2, &["--material", "there are rubber"]);
}

/// A mesh given alone has no scene file: what is wrong is told of the mesh, with options that there are.
#[test]
fn a_mesh_alone_is_told_of_as_a_mesh() {
    let place = Place::new();
    let plate = "v 0 0 0\nv 1 0 0\nv 0 0.001 0\nv 1 0.001 0\nv 0 0 1\nv 1 0 1\nv 0 0.001 1\nv 1 0.001 1\n\
                 f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    place.write("plate.obj", plate);
    let ran = place.pliant(&["run", "plate.obj", "--particles", "50", "--frames", "1"]);
    if ran.code != Some(0) {
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("plate.obj: error:") && ran.err.contains("--save-scene"), "{}", ran.err);
    }
    assert!(!ran.err.contains("plate.toml"), "{}", ran.err);
}
