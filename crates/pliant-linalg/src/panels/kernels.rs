//! The two dense passes over the panels of one block, for one or three right-hand sides.
//!
//! A panel of columns J with rows R below holds the tall matrix P = [D⁻¹; −B D⁻¹] of the block LDLᵀ
//! factorisation, D = L_JJ L_JJᵀ and B = L_RJ L_JJᵀ. Then
//!
//! > forward: (z_J, b_R) += P b_J, where z_J starts at zero; backward: x_J = z_J + P_Rᵀ x_R.
//!
//! Vectors run along the rows; each of them is loaded once a pass and serves all right-hand sides.

use pliant_math::lanes::{Kernel, Lanes};

/// A vector of the factor, on a cache line of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Vector8(pub [f64; 8]);

impl Vector8 {
    pub const ZERO: Vector8 = Vector8([0.0; 8]);
}

/// Widest tile of columns that is treated at once.
pub(super) const TILE: usize = 8;

/// Where a panel's things are in its [`Block`].
#[derive(Clone, Debug)]
pub(super) struct Panel {
    /// First column, as a local number.
    pub first: u32,
    pub width: u32,
    /// First of the row blocks (its columns, then the rows below, then padding).
    pub rows: u32,
    pub blocks: u32,
    /// First vector: tile by tile, in a tile block by block, in a block column by column.
    pub data: usize,
}

/// Panels whose columns are one range of unknowns; rows below it are its boundary.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub panels: Vec<Panel>,
    /// Local numbers of rows: own unknowns first, then the boundary, then one place for padding.
    pub rows: Vec<[u32; 8]>,
    pub data: Vec<Vector8>,
    /// Number of own unknowns.
    pub own: usize,
    /// Unknowns of the top that the rows reach, counted from its first.
    pub boundary: Vec<u32>,
    /// Row blocks of the tallest panel.
    pub tallest: usize,
}

/// Values of the unknowns of a block and memory for its tallest panel, for `R` right-hand sides.
#[derive(Clone, Debug)]
pub(super) struct Memory<const R: usize> {
    /// Own unknowns, boundary, padding.
    pub values: [Vec<f64>; R],
    tall: Vec<[Vector8; R]>,
}

impl<const R: usize> Memory<R> {
    pub fn of(block: &Block) -> Memory<R> {
        let len = block.own + block.boundary.len() + 1;
        Memory {
            values: std::array::from_fn(|_| vec![0.0; len]),
            tall: vec![[Vector8::ZERO; R]; block.tallest],
        }
    }
}

/// The forward pass over a block.
pub(super) struct Forward<'a, const R: usize>(pub &'a Block, pub &'a mut Memory<R>);

/// The backward pass over a block.
pub(super) struct Backward<'a, const R: usize>(pub &'a Block, pub &'a mut Memory<R>);

macro_rules! for_width {
    ($width:expr, $call:ident::<$l:ty, $r:ident>($($arg:expr),*)) => {
        match $width {
            1 => $call::<$l, $r, 1>($($arg),*),
            2 => $call::<$l, $r, 2>($($arg),*),
            3 => $call::<$l, $r, 3>($($arg),*),
            4 => $call::<$l, $r, 4>($($arg),*),
            5 => $call::<$l, $r, 5>($($arg),*),
            6 => $call::<$l, $r, 6>($($arg),*),
            7 => $call::<$l, $r, 7>($($arg),*),
            _ => $call::<$l, $r, 8>($($arg),*),
        }
    };
}

impl<const R: usize> Kernel for Forward<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Forward(block, memory) = self;
        let Memory { values, tall } = memory;
        for panel in &block.panels {
            let (first, width, blocks) = (panel.first as usize, panel.width as usize, panel.blocks as usize);
            let rows = &block.rows[panel.rows as usize..][..blocks];
            let tall = &mut tall[..blocks];
            let mut data = &block.data[panel.data..][..width * blocks];
            // A column of the inverse has a sparse right-hand side: most panels have nothing to add.
            if R == 1 && values[0][first..first + width].iter().all(|&b| b == 0.0) {
                continue;
            }
            let mut column = 0;
            while column < width {
                let tile = (width - column).min(TILE);
                let (head, tail) = data.split_at(tile * blocks);
                for_width!(tile, forward_tile::<L, R>(l, first + column, column > 0, head, values, tall));
                data = tail;
                column += tile;
            }
            for (at, sums) in rows.iter().zip(tall.iter()) {
                for k in 0..R {
                    let values = &mut values[k][..];
                    for lane in 0..8 {
                        values[at[lane] as usize] += sums[k].0[lane];
                    }
                }
            }
        }
    }
}

/// Eight values. They go through a register rather than through memory: what was stored in parts waits
/// long to be loaded as a whole.
#[inline(always)]
fn gather(values: &[f64], at: &[u32; 8]) -> [f64; 8] {
    let [a, b, c, d, e, f, g, h] = *at;
    [
        values[a as usize],
        values[b as usize],
        values[c as usize],
        values[d as usize],
        values[e as usize],
        values[f as usize],
        values[g as usize],
        values[h as usize],
    ]
}

/// Adds the products of a tile of `W` columns to `tall` (or starts it), and clears the columns' values,
/// in whose place z is to be added up.
#[inline(always)]
fn forward_tile<L: Lanes, const R: usize, const W: usize>(
    l: L,
    first: usize,
    add: bool,
    data: &[Vector8],
    values: &mut [Vec<f64>; R],
    tall: &mut [[Vector8; R]],
) {
    let mut b = [[l.splat(0.0); R]; W];
    for k in 0..R {
        let values = &mut values[k][first..first + W];
        for c in 0..W {
            b[c][k] = l.splat(values[c]);
            values[c] = 0.0;
        }
    }
    let data = data.as_chunks::<W>().0;
    for (p, sums) in data.iter().zip(tall) {
        let mut sum = [l.splat(0.0); R];
        if add {
            for k in 0..R {
                sum[k] = l.load(&sums[k].0);
            }
        }
        for c in 0..W {
            let p = l.load(&p[c].0);
            for k in 0..R {
                sum[k] = l.mul_add(p, b[c][k], sum[k]);
            }
        }
        for k in 0..R {
            l.store(sum[k], &mut sums[k].0);
        }
    }
}

impl<const R: usize> Kernel for Backward<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Backward(block, memory) = self;
        let Memory { values, tall } = memory;
        for panel in block.panels.iter().rev() {
            let (first, width, blocks) = (panel.first as usize, panel.width as usize, panel.blocks as usize);
            let skip = width / 8;
            let rows = &block.rows[panel.rows as usize..][skip..blocks];
            let tall = &mut tall[..blocks - skip];
            for (at, x) in rows.iter().zip(tall.iter_mut()) {
                for k in 0..R {
                    l.store(l.load(&gather(&values[k], at)), &mut x[k].0);
                }
            }
            // Columns of the panel that share a block with the first rows below.
            if let Some(shared) = tall.first_mut() {
                for x in shared {
                    x.0[..width % 8].fill(0.0);
                }
            }
            let mut data = &block.data[panel.data..][..width * blocks];
            let mut column = 0;
            while column < width {
                let tile = (width - column).min(TILE);
                let (head, tail) = data.split_at(tile * blocks);
                let head = &head[tile * skip..];
                for_width!(tile, backward_tile::<L, R>(l, first + column, head, tall, values));
                data = tail;
                column += tile;
            }
        }
    }
}

/// Adds the products of the rows `x` with a tile of `W` columns to the columns' values.
#[inline(always)]
fn backward_tile<L: Lanes, const R: usize, const W: usize>(
    l: L,
    first: usize,
    data: &[Vector8],
    x: &[[Vector8; R]],
    values: &mut [Vec<f64>; R],
) {
    let data = data.as_chunks::<W>().0;
    // As many columns at once as registers hold sums for.
    if L::REGISTERS >= 32 {
        backward_columns::<L, R, W, W>(l, first, 0, data, x, values);
    } else {
        let mut c = 0;
        while c + 2 <= W {
            backward_columns::<L, R, W, 2>(l, first, c, data, x, values);
            c += 2;
        }
        if c < W {
            backward_columns::<L, R, W, 1>(l, first, c, data, x, values);
        }
    }
}

/// The columns `from..from + C` of a tile.
#[inline(always)]
fn backward_columns<L: Lanes, const R: usize, const W: usize, const C: usize>(
    l: L,
    first: usize,
    from: usize,
    data: &[[Vector8; W]],
    x: &[[Vector8; R]],
    values: &mut [Vec<f64>; R],
) {
    let mut sum = [[l.splat(0.0); R]; C];
    for (p, x) in data.iter().zip(x) {
        let mut at = [l.splat(0.0); R];
        for k in 0..R {
            at[k] = l.load(&x[k].0);
        }
        for c in 0..C {
            let p = l.load(&p[from + c].0);
            for k in 0..R {
                sum[c][k] = l.mul_add(p, at[k], sum[c][k]);
            }
        }
    }
    // Eight sums over lanes at a time cost little more than two apart.
    let mut total = [[0.0; 8]; 3];
    for (g, total) in total.iter_mut().enumerate().take((C * R).div_ceil(8)) {
        let mut eight = [l.splat(0.0); 8];
        for (i, eight) in eight.iter_mut().enumerate() {
            let q = 8 * g + i;
            if q < C * R {
                *eight = sum[q % C][q / C];
            }
        }
        l.store(l.sums(eight), total);
    }
    for (k, values) in values.iter_mut().enumerate() {
        for (c, value) in values[first + from..first + from + C].iter_mut().enumerate() {
            let q = k * C + c;
            *value += total[q / 8][q % 8];
        }
    }
}
