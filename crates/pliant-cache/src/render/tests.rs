//! What a picture must show, and what must never stop it from being drawn.

use super::gif::GifWriter;
use super::quantize::Palette;
use super::text::format_number;
use super::*;

fn sphere(center: DVec3, radius: f64, n: usize) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let m = 2 * n;
    let mut points = Vec::new();
    for i in 0..=n {
        let polar = std::f64::consts::PI * i as f64 / n as f64;
        for j in 0..m {
            let around = std::f64::consts::TAU * j as f64 / m as f64;
            let side = polar.sin();
            points.push(center + radius * DVec3::new(side * around.cos(), polar.cos(), side * around.sin()));
        }
    }
    let id = |i: usize, j: usize| (i * m + j % m) as u32;
    let faces = (0..n * m).flat_map(|k| {
        let (i, j) = (k / m, k % m);
        [[id(i, j), id(i, j + 1), id(i + 1, j)], [id(i + 1, j), id(i, j + 1), id(i + 1, j + 1)]]
    });
    (points, faces.collect())
}

const GROUND: Plane = Plane { normal: DVec3::Y, offset: 0.0 };
const RED: Colors = Colors::Uniform([0.9, 0.1, 0.1]);

fn small() -> RenderSettings {
    RenderSettings { width: 120, height: 90, samples: 2, threads: 1, ..RenderSettings::default() }
}

fn front(radius: f64) -> Camera {
    Camera { eye: DVec3::Z * 5.0, target: DVec3::ZERO, up: DVec3::Y, fov: 30.0, radius }
}

fn brightness(p: [u8; 3]) -> i32 {
    p.iter().map(|c| i32::from(*c)).sum()
}

fn reddish(p: [u8; 3]) -> bool {
    i32::from(p[0]) > i32::from(p[1]) + 40
}

fn still_life(threads: usize) -> Image {
    let (points, faces) = sphere(DVec3::new(0.0, 0.5, 0.0), 0.5, 24);
    let dots = [DVec3::new(0.9, 0.2, 0.3), DVec3::new(-0.9, 0.2, 0.3)];
    let items = [
        RenderItem::Mesh { positions: &points, triangles: &faces, colors: RED, look: Look::Jelly },
        RenderItem::Points { positions: &dots, radius: 0.2, colors: Colors::Uniform([0.2, 0.5, 0.9]) },
        RenderItem::Lines { positions: &dots, segments: &[[0, 1]], radius: 0.03, colors: RED },
    ];
    let wall = Plane { normal: DVec3::new(0.3, 0.2, 1.0), offset: -2.0 };
    let camera = Camera::fit(Camera::bounds(&points), 4.0 / 3.0, 30.0, 20.0);
    render(&items, &[GROUND, wall], &camera, &RenderSettings { threads, ..small() })
}

#[test]
fn same_bits_on_every_run_and_for_every_thread_count() {
    let image = still_life(1);
    for threads in [1, 2, 3, 7] {
        assert!(image == still_life(threads), "{threads} threads");
    }
}

#[test]
fn silhouettes_are_centred() {
    let (points, faces) = sphere(DVec3::ZERO, 1.0, 32);
    let mesh = RenderItem::Mesh { positions: &points, triangles: &faces, colors: RED, look: Look::Matte };
    let ball = RenderItem::Points { positions: &[DVec3::ZERO], radius: 1.0, colors: RED };
    // Tangent of the cone that touches the unit ball from five radii away, in pixels.
    let radius = 45.0 / 15f64.to_radians().tan() / 24f64.sqrt();
    for item in [mesh, ball] {
        let image = render(&[item], &[], &front(1.0), &small());
        let (mut sum, mut count) = ([0.0; 2], 0.0);
        for y in 0..90 {
            for x in 0..120 {
                if image.pixel(x, y).is_some_and(reddish) {
                    sum = [sum[0] + f64::from(x) + 0.5, sum[1] + f64::from(y) + 0.5];
                    count += 1.0;
                }
            }
        }
        assert!((sum[0] / count - 60.0).abs() < 0.5 && (sum[1] / count - 45.0).abs() < 0.5);
        let expected = std::f64::consts::PI * radius * radius;
        assert!((count / expected - 1.0).abs() < 0.05, "{count} pixels, expected {expected}");
    }
}

#[test]
fn edges_are_smooth() {
    let ball =
        RenderItem::Points { positions: &[DVec3::ZERO], radius: 1.0, colors: Colors::Uniform([0.05; 3]) };
    let levels = |samples: u32| {
        let image = render(&[ball], &[], &front(1.0), &RenderSettings { samples, ..small() });
        // Between the dark ball and the bright backdrop.
        image.rgb.chunks_exact(3).filter(|p| (250..560).contains(&brightness([p[0], p[1], p[2]]))).count()
    };
    assert!(levels(3) > levels(1) + 40, "{} against {}", levels(3), levels(1));
}

#[test]
fn shadow_is_darker_than_open_ground() {
    let (points, faces) = sphere(DVec3::new(0.0, 0.5, 0.0), 0.5, 24);
    let item = RenderItem::Mesh { positions: &points, triangles: &faces, colors: RED, look: Look::Matte };
    let camera = Camera::fit(Camera::bounds(&points), 4.0 / 3.0, 0.0, 25.0);
    let with = render(&[item], &[GROUND], &camera, &small());
    let without = render(&[], &[GROUND], &camera, &small());
    let darkest = (0..90)
        .flat_map(|y| (0..120).map(move |x| (x, y)))
        .filter_map(|(x, y)| Some((with.pixel(x, y)?, without.pixel(x, y)?)))
        .filter(|(a, _)| !reddish(*a))
        .map(|(a, b)| brightness(b) - brightness(a))
        .max();
    assert!(darkest.is_some_and(|d| d > 120), "{darkest:?}");
    // Further away the ground is nearly as if it were alone.
    let corner = |image: &Image| image.pixel(2, 80).map(brightness).unwrap();
    assert!((corner(&with) - corner(&without)).abs() <= 24);
}

#[test]
fn bad_input_is_left_out() {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 0.0, 1e-320];
    let mut points: Vec<DVec3> = bad.iter().map(|v| DVec3::new(*v, 0.3, -0.2)).collect();
    points.extend(bad.iter().map(|v| DVec3::splat(*v)));
    // Behind the camera, through it, and far out to the side.
    points.extend([
        DVec3::Z * 9.0,
        DVec3::new(1e5, 1e5, 4.0),
        DVec3::new(-4e5, 2.0, 4.999),
        DVec3::ZERO,
        DVec3::X,
    ]);
    let n = points.len() as u32;
    let mut faces = Vec::new();
    for a in 0..n + 1 {
        for b in 0..n {
            faces.push([a, b, (a * 7 + b * 3) % (n + 2)]);
        }
    }
    faces.push([u32::MAX, 0, 1]);
    let planes: Vec<Plane> = bad
        .iter()
        .flat_map(|v| {
            [Plane { normal: DVec3::Y, offset: *v }, Plane { normal: DVec3::splat(*v), offset: 0.1 }]
        })
        .collect();
    let segments = [[0, 1], [n - 1, n - 2], [n - 1, n - 1], [n + 5, 0]];
    for look in [Look::Jelly, Look::Matte, Look::Cloth] {
        for radius in bad.into_iter().chain([0.1, 10.0]) {
            let tints = [[f32::NAN, 2.0, -1.0]];
            let items = [
                RenderItem::Mesh {
                    positions: &points,
                    triangles: &faces,
                    colors: Colors::PerVertex(&tints),
                    look,
                },
                RenderItem::Points { positions: &points, radius, colors: Colors::PerVertex(&[]) },
                RenderItem::Lines { positions: &points, segments: &segments, radius, colors: RED },
            ];
            let cameras = [
                front(1.0),
                front(radius),
                Camera { eye: DVec3::splat(radius), ..front(1.0) },
                Camera { eye: DVec3::ZERO, up: DVec3::ZERO, fov: f64::NAN, ..front(1.0) },
                Camera::fit((DVec3::splat(f64::NAN), DVec3::ONE), f64::NAN, f64::NAN, f64::NAN),
                Camera::fit((DVec3::ONE, DVec3::ONE), 0.0, 0.0, 90.0),
            ];
            for camera in cameras {
                let settings = RenderSettings { width: 24, height: 17, exposure: f32::NAN, ..small() };
                assert_eq!(render(&items, &planes, &camera, &settings).rgb.len(), 3 * 24 * 17);
            }
        }
    }
    let tiny = render(&[], &[], &front(1.0), &RenderSettings { width: 0, height: 0, samples: 0, ..small() });
    assert_eq!((tiny.width, tiny.height), (1, 1));
}

#[test]
fn a_triangle_through_the_camera_is_clipped() {
    let points = [DVec3::new(-1e4, -1.0, 1e4), DVec3::new(1e4, -1.0, 1e4), DVec3::new(0.0, -1.0, -1e4)];
    let item =
        RenderItem::Mesh { positions: &points, triangles: &[[0, 1, 2]], colors: RED, look: Look::Matte };
    let image = render(&[item], &[], &front(1.0), &small());
    assert!(image.pixel(60, 85).is_some_and(reddish));
    assert!(image.pixel(60, 20).is_some_and(|p| !reddish(p)));
}

#[test]
fn png_decodes() {
    let image = still_life(1);
    let bytes = encode_png(&image).unwrap();
    let mut reader = ::png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    assert_eq!((info.width, info.height), (120, 90));
    assert!(rgb == image.rgb);
}

/// Plays a GIF: the canvas after each frame, and the delays.
fn play(bytes: &[u8]) -> (Vec<Image>, Vec<u16>) {
    let mut options = ::gif::DecodeOptions::new();
    options.set_color_output(::gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(bytes).unwrap();
    let mut canvas = Image::filled(decoder.width().into(), decoder.height().into(), [0; 3]);
    let (mut frames, mut delays) = (Vec::new(), Vec::new());
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        for (i, p) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, p)| p[3] > 0) {
            let (x, y) = (i % frame.width as usize, i / frame.width as usize);
            let (x, y) = (x as i64 + i64::from(frame.left), y as i64 + i64::from(frame.top));
            canvas.blend(x, y, [p[0], p[1], p[2]], 1.0);
        }
        frames.push(canvas.clone());
        delays.push(frame.delay);
    }
    (frames, delays)
}

#[test]
fn gif_plays_what_was_drawn() {
    let camera = front(1.0);
    let draw = |i: usize| {
        // The last two frames are the same.
        let place = DVec3::new(0.2 * i.min(6) as f64 - 0.7, 0.1, 0.0);
        let ball = RenderItem::Points { positions: &[place], radius: 0.5, colors: RED };
        render(&[ball], &[], &camera, &RenderSettings { dither: false, ..small() })
    };
    let bytes = write_gif(Vec::new(), 8, 0.05, |i| Ok::<_, GifError>(draw(i))).unwrap();
    let (frames, delays) = play(&bytes);
    assert_eq!(delays, [5; 8]);
    for (i, frame) in frames.iter().enumerate() {
        let image = draw(i);
        assert_eq!((frame.width, frame.height), (120, 90));
        let off: u64 = frame.rgb.iter().zip(&image.rgb).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
        assert!(off < 4 * frame.rgb.len() as u64, "mean error {}", off as f64 / frame.rgb.len() as f64);
    }
    assert!(frames[6] == frames[7]);
    // Uneven delays add up to the right time.
    let bytes = write_gif(Vec::new(), 8, 1.0 / 30.0, |i| Ok::<_, GifError>(draw(i))).unwrap();
    assert_eq!(play(&bytes).1.iter().sum::<u16>(), 27);
}

#[test]
fn gif_refuses_what_it_cannot_hold() {
    let palette = Palette::from_images(&[]);
    assert!(matches!(GifWriter::new(Vec::new(), 70_000, 2, &palette, 0.1), Err(GifError::Size(70_000, 2))));
    let mut writer = GifWriter::new(Vec::new(), 4, 4, &palette, 0.1).unwrap();
    let error = writer.push(&Image::filled(5, 4, [0; 3])).unwrap_err();
    assert_eq!(error.to_string(), "frame of 5x4 in an animation of 4x4");
    assert!(write_gif(Vec::new(), 0, 0.1, |_| Ok::<_, GifError>(Image::filled(1, 1, [0; 3]))).is_err());
}

#[test]
fn gif_time_is_real_time() {
    assert_eq!(frame_stride(60.0), (3, 5));
    assert_eq!(frame_stride(50.0), (2, 4));
    assert_eq!(frame_stride(25.0), (1, 4));
    assert_eq!(frame_stride(30.0).0, 1);
    assert_eq!(frame_stride(10.0), (1, 10));
    assert_eq!(frame_stride(1000.0), (30, 3));
    assert_eq!(frame_stride(f64::NAN), (1, 4));
    for fps in [1e-9, 0.5, 24.0, 59.94, 120.0, 240.0, 1e9] {
        let (stride, delay) = frame_stride(fps);
        assert!(stride >= 1 && delay >= 2, "{fps}");
    }
}

#[test]
fn sheet_shows_first_and_last() {
    assert_eq!(sheet_frames(150, 9), [0, 19, 37, 56, 75, 93, 112, 130, 149]);
    assert_eq!(sheet_frames(3, 9), [0, 1, 2]);
    assert_eq!(sheet_frames(0, 9), [0; 0]);
    let tiles: Vec<(f64, Image)> = (0..5).map(|i| (f64::from(i), Image::filled(60, 40, [200; 3]))).collect();
    let sheet = contact_sheet(&tiles, 3);
    assert_eq!((sheet.width, sheet.height), (3 * 62 + 2, 2 * 42 + 2));
    // Gutter, tile, and letters in the tile.
    assert_eq!(sheet.pixel(0, 0), Some([255; 3]));
    assert_eq!(sheet.pixel(5, 30), Some([200; 3]));
    assert!((2..62).any(|x| (2..20).any(|y| sheet.pixel(x, y).is_some_and(|p| p[0] < 120))));
    contact_sheet(&[], 0);
}

#[test]
fn colours_differ() {
    let far = |a: [f32; 3], b: [f32; 3]| (0..3).map(|k| (a[k] - b[k]).abs()).sum::<f32>();
    for i in 0..200 {
        assert!(far(categorical(i), categorical(i + 1)) > 0.2, "{i}");
    }
    let colors = neighbour_colors(4, &[[0, 1], [1, 2], [2, 0], [3, 3], [9, 1]]);
    assert!(colors[0] != colors[1] && colors[1] != colors[2] && colors[2] != colors[0]);
    assert_eq!(ColorMap::Viridis.at(f64::NAN), [0.5; 3]);
    assert_eq!(map_colors(&[1.0, 3.0], (1.0, 3.0), ColorMap::Plasma)[1], ColorMap::Plasma.at(7.0));
    assert_eq!(["0", "0.25", "1.5", "12.3", "1234", "2.0e7"].map(String::from), {
        [0.0, 0.25, 1.5, 12.3, 1234.0, 2e7].map(format_number)
    });
}

#[test]
fn legend_fits_any_picture() {
    for (width, height) in [(1, 1), (30, 20), (640, 480)] {
        let mut image = Image::filled(width, height, [240; 3]);
        draw_legend(&mut image, ColorMap::Viridis, (0.0, 1.0), "speed m/s");
        assert_eq!(image.rgb.len(), 3 * (width * height) as usize);
    }
}

#[test]
fn the_target_is_in_the_middle_and_what_is_above_it_higher() {
    let camera = Camera::fit((DVec3::splat(-1.0), DVec3::splat(1.0)), 2.0, 30.0, 20.0);
    let project = camera.projection(&RenderSettings::sized(200, 100));
    let (x, y) = project(camera.target).expect("in front");
    assert!((x - 100.0).abs() < 1e-3 && (y - 50.0).abs() < 1e-3, "{x} {y}");
    let (above, higher) = project(camera.target + 0.5 * DVec3::Y).expect("in front");
    assert!((above - 100.0).abs() < 1e-3 && higher < 45.0, "{above} {higher}");
    assert_eq!(project(camera.eye + (camera.eye - camera.target)), None);
}

#[test]
fn of_two_layers_in_one_place_the_one_that_faces_the_eye_is_seen() {
    // A membrane that has collapsed: the lower layer is a hair above the upper one here and there.
    let square =
        |z: f64| [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| DVec3::new(x, y, z));
    let (near, far) = ([[0, 1, 2], [0, 2, 3]], [[0, 2, 1], [0, 3, 2]]);
    let blue = Colors::Uniform([0.1, 0.2, 0.9]);
    for gap in [-1e-3, 0.0, 1e-3] {
        let (upper, lower) = (square(0.0), square(gap));
        let upper = RenderItem::Mesh { positions: &upper, triangles: &near, colors: RED, look: Look::Cloth };
        let lower = RenderItem::Mesh { positions: &lower, triangles: &far, colors: blue, look: Look::Cloth };
        for items in [[upper, lower], [lower, upper]] {
            let image = render(&items, &[], &front(1.5), &small());
            let red = (0..image.height).flat_map(|y| (0..image.width).map(move |x| (x, y)));
            let (red, blue) = red.fold((0, 0), |(r, b), (x, y)| {
                let p = image.pixel(x, y).unwrap_or_default();
                (r + u32::from(reddish(p)), b + u32::from(i32::from(p[2]) > i32::from(p[0]) + 60))
            });
            assert!(red > 500 && blue == 0, "gap {gap}: {red} red and {blue} blue pixels");
        }
    }
}

#[test]
fn cloth_over_an_edge_is_as_bright_at_the_edge_as_on_the_table() {
    // Level from the eye to the edge, and down behind it: the vertices of the edge lean away from the eye.
    const N: u32 = 12;
    let at = |i: u32, j: u32| {
        let (x, length) = (f64::from(i) / f64::from(N) - 0.5, 1.25 * f64::from(j) / f64::from(N));
        if length <= 1.0 { DVec3::new(x, 0.0, 0.5 - length) } else { DVec3::new(x, 1.0 - length, -0.5) }
    };
    let points: Vec<DVec3> = (0..=N).flat_map(|j| (0..=N).map(move |i| at(i, j))).collect();
    let faces: Vec<[u32; 3]> = (0..N * N)
        .flat_map(|k| {
            let a = k / N * (N + 1) + k % N;
            [[a, a + 1, a + N + 1], [a + 1, a + N + 2, a + N + 1]]
        })
        .collect();
    let cloth = RenderItem::Mesh { positions: &points, triangles: &faces, colors: RED, look: Look::Cloth };
    let settings = RenderSettings { width: 480, height: 320, ..small() };
    let camera = Camera::fit(Camera::bounds(&points), 1.5, 0.0, 20.0);
    let image = render(&[cloth], &[], &camera, &settings);
    let project = camera.projection(&settings);
    let row = |z: f64| project(DVec3::new(0.0, 0.0, z)).map_or(0.0, |p| p.1) as u32;
    let column: Vec<i32> = (row(-0.5) + 2..row(0.5) - 2)
        .filter_map(|y| image.pixel(image.width / 2, y))
        .map(brightness)
        .collect();
    let middle = column[column.len() / 2];
    assert!(column.iter().all(|b| 10 * b > 9 * middle), "{column:?}");
}

#[test]
fn what_is_behind_shows_through_gelatine_without_edges_and_outlines_stay_crisp() {
    // One body: a ball, and a smaller one behind it, whose outline would show as a dark disc with a hard rim.
    let (mut points, mut faces) = sphere(DVec3::ZERO, 1.0, 32);
    let (hidden, more) = sphere(DVec3::new(0.2, 0.1, -1.5), 0.4, 24);
    let first = points.len() as u32;
    points.extend(hidden);
    faces.extend(more.iter().map(|t| t.map(|v| v + first)));
    let gray = Colors::Uniform([0.7; 3]);
    let draw = |faces: &[[u32; 3]], look: Look| {
        let item = RenderItem::Mesh { positions: &points, triangles: faces, colors: gray, look };
        let settings = RenderSettings { width: 240, height: 180, dither: false, ..small() };
        render(&[item], &[], &front(1.5), &settings)
    };
    let both = draw(&faces, Look::Jelly);
    let alone = draw(&faces[..faces.len() - more.len()], Look::Jelly);
    let at = |image: &Image, x: u32, y: u32| image.pixel(x, y).map_or(0, brightness);
    let inside = |x: u32, y: u32| (f64::from(x) - 120.0).hypot(f64::from(y) - 90.0) < 55.0;
    let (mut most, mut steepest) = (0, 0);
    for y in 0..180 {
        for x in (0..239).filter(|x| inside(*x, y) && inside(*x + 1, y)) {
            let darker = |x: u32, y: u32| at(&alone, x, y) - at(&both, x, y);
            most = most.max(darker(x, y));
            steepest = steepest.max((darker(x + 1, y) - darker(x, y)).abs());
            steepest = steepest.max((darker(x, y + 1) - darker(x, y)).abs());
        }
    }
    assert!(most > 20, "the hidden ball makes it darker, by {most}");
    assert!(steepest <= 12, "between neighbouring pixels by {steepest} of {most}");
    // The rim of the ball is where it is without gelatine, and nothing of it gets out.
    let (matte, empty) = (draw(&faces, Look::Matte), draw(&[], Look::Matte));
    let differs = |image: &Image, x: u32, y: u32| image.pixel(x, y) != empty.pixel(x, y);
    for (x, y) in (0..180).flat_map(|y| (0..240).map(move |x| (x, y))) {
        assert_eq!(differs(&both, x, y), differs(&matte, x, y), "at {x}, {y}");
    }
}
