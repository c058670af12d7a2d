//! Runs the real program in a folder of its own.

use pliant_testing::TempDir;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A ball by clusters and a box by projective dynamics fall on the ground under keyframes; small enough to run in no time, long
/// enough to be killed on the way.
pub const SCENE: &str = r#"
frames = 240

[output]
checkpoint_every = 25

[[keyframes]]
control = "gravity_direction"
ease = "smooth"
keys = [[0.5, [0, -1, 0]], [1.0, [0.3, -1, 0]], [3.0, [0, -1, 0]]]

[[plane]]

[[body]]
name = "ball"
shape = { kind = "ball", radius = 0.2 }
particles = 150
clusters = 6
position = [0, 0.5, 0]
spin = [0, 0, 4]

[[body]]
name = "box"
shape = { kind = "box", size = [0.2, 0.3, 0.2] }
particles = 80
clusters = 3
solver = "projective"
position = [0.6, 0.5, 0]

[[body.keyframes]]
control = "frequency"
keys = [[0.0, 25], [1.5, 8], [2.5, 30, "stepped"], [3.0, 12]]
"#;

/// A folder with a scene in it.
pub struct Place {
    pub dir: TempDir,
}

impl Place {
    pub fn new() -> Place {
        let place = Place { dir: pliant_testing::tempdir().expect("a temporary folder") };
        place.write("s.toml", SCENE);
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let folder = self.path(name).parent().map(Path::to_path_buf).unwrap_or_default();
        fs::create_dir_all(folder).expect("a folder in the temporary folder");
        fs::write(self.path(name), text).expect("a file in the temporary folder");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pliant"));
        command.current_dir(self.dir.path()).args(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs to the end.
    pub fn pliant(&self, words: &[&str]) -> Ran {
        Ran::of(self.command(words).output().expect("the program starts"))
    }

    /// Runs, and must succeed.
    pub fn fine(&self, words: &[&str]) -> Ran {
        let ran = self.pliant(words);
        assert_eq!(ran.code, Some(0), "{words:?}\n{}{}", ran.out, ran.err);
        ran
    }

    /// Runs, and must fail with this exit code and all of these words on standard error.
    pub fn fails(&self, words: &[&str], code: i32, told: &[&str]) -> Ran {
        let ran = self.pliant(words);
        assert_eq!(ran.code, Some(code), "{words:?}\n{}{}", ran.out, ran.err);
        for t in told {
            assert!(ran.err.contains(t), "{words:?}: no {t:?} in\n{}", ran.err);
        }
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }

    /// Starts, and waits until the log has at least so many bytes. `None`: it ended before.
    pub fn start(&self, words: &[&str], log: &str, bytes: u64) -> Option<Child> {
        let mut child = self.command(words).spawn().expect("the program starts");
        let begin = Instant::now();
        while size(&self.path(log)) < bytes {
            if child.try_wait().expect("a child to wait for").is_some() {
                return None;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "the log does not grow");
            std::thread::sleep(Duration::from_micros(200));
        }
        Some(child)
    }

    /// Runs where no file may grow beyond so many units of 512 bytes; `deaf` to the signal that says so.
    #[cfg(unix)]
    pub fn limited(&self, words: &str, units: usize, deaf: bool) -> Ran {
        let trap = if deaf { "trap '' XFSZ; " } else { "" };
        let script = format!("{trap}ulimit -f {units}; exec \"$0\" {words}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_pliant")]).current_dir(self.dir.path());
        Ran::of(command.output().expect("a shell"))
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.dir.path())
            .expect("the temporary folder")
            .map(|e| e.expect("an entry").file_name().to_string_lossy().to_string())
            .collect();
        names.sort();
        names
    }
}

pub fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |m| m.len())
}

/// What came of a run of the program.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).to_string(),
            err: String::from_utf8_lossy(&output.stderr).to_string(),
        }
    }
}
