//! The forces of couplings as a sparse linear system with a symmetric positive matrix, in memory that is kept.
//!
//! Couplings act on each other where they hold the same body: a tree of branches has a matrix of small blocks, and eliminated from
//! the leaves inward it fills in nothing. Which rows act on which, and the order of elimination, are a [`Plan`] that lasts as
//! long as the couplings do; numbers are filled in and factored (L Lᵀ, row by row) in every substep without allocating.
//!
//! Hundreds of points of one body all act on each other, and a factor of them takes the cube of their number. Where it would take more
//! than as many products with the matrix as conjugate gradients may need, these solve instead (`gradients.rs`). The plan alone decides
//! that, before there are any numbers.

use super::gradients::Gradients;
use glam::DVec3;
use std::ops::Range;

/// Pivots below this part of their diagonal are those of rows that others imply.
const DEPENDENT: f64 = 1e-12;
/// What a factor may cost, in products with the matrix, before conjugate gradients are cheaper: they take some sixty for each right-hand
/// side, and a substep has a dozen or three times as many, for all of which one factor serves.
const PRODUCTS: usize = 2000;

#[cfg(test)]
thread_local! {
    /// Lets tests compare the two ways to solve.
    pub(super) static PRODUCTS_IN_TESTS: std::cell::Cell<usize> = const { std::cell::Cell::new(PRODUCTS) };
}

/// Groups of rows, in an order of elimination that fills in little.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plan {
    /// Of each group as it was given: its place in the order.
    place: Vec<u32>,
    /// Of each place: its first row; one more entry for the end.
    rows: Vec<u32>,
    /// Of each place: the end of its runs.
    ends: Vec<u32>,
    /// Earlier rows that act on a group, directly or by fill, as runs: first row, and where they begin in a row's numbers.
    runs: Vec<Run>,
    /// Of each place: where its first row's numbers begin, and how many columns come before its own.
    starts: Vec<(usize, usize)>,
    /// All numbers.
    len: usize,
    /// Whether it is solved by conjugate gradients: nothing is filled in then.
    iterative: bool,
}

/// Consecutive columns that are all stored.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    first: u32,
    len: u32,
    /// Where they begin within a row.
    at: u32,
}

impl Plan {
    /// Of groups with so many rows (1 to 3), each of which acts on whatever else holds one of its bodies.
    pub fn new(groups: &[(usize, Vec<usize>)], bodies: usize) -> Plan {
        #[cfg(test)]
        let products = PRODUCTS_IN_TESTS.get();
        #[cfg(not(test))]
        let products = PRODUCTS;
        let direct = Plan::direct(groups, bodies);
        let rows = direct.groups().flat_map(|place| direct.rows(place).map(move |row| (place, row)));
        let work: usize = rows.map(|(place, row)| direct.numbers(place, row).len().pow(2)).sum();
        // Nothing is stored twice, and what is eliminated fills in: the factor has no fewer numbers than the matrix.
        if work <= products * direct.len {
            return direct;
        }
        let sparse = Plan::iterative(groups, bodies);
        if work > products * sparse.len { sparse } else { direct }
    }

    /// To be factored.
    pub(super) fn direct(groups: &[(usize, Vec<usize>)], bodies: usize) -> Plan {
        let (order, before) = eliminate(groups, bodies);
        Plan::laid_out(groups, &order, &before)
    }

    /// To be solved by conjugate gradients: as given, with what acts on each other and nothing else.
    pub(super) fn iterative(groups: &[(usize, Vec<usize>)], bodies: usize) -> Plan {
        let mut holding: Vec<Vec<usize>> = vec![Vec::new(); bodies];
        let mut before = Vec::with_capacity(groups.len());
        for (group, (_, holds)) in groups.iter().enumerate() {
            let mut earlier: Vec<usize> = holds.iter().flat_map(|b| &holding[*b]).copied().collect();
            earlier.sort_unstable();
            earlier.dedup();
            earlier.retain(|other| *other < group);
            before.push(earlier);
            holds.iter().for_each(|b| holding[*b].push(group));
        }
        let order: Vec<usize> = (0..groups.len()).collect();
        Plan { iterative: true, ..Plan::laid_out(groups, &order, &before) }
    }

    /// Groups in this order, each with the earlier places that act on it.
    fn laid_out(groups: &[(usize, Vec<usize>)], order: &[usize], before: &[Vec<usize>]) -> Plan {
        let mut plan = Plan { place: vec![0; groups.len()], rows: vec![0], ..Plan::default() };
        for (place, &group) in order.iter().enumerate() {
            plan.place[group] = place as u32;
            plan.rows.push(plan.rows[place] + groups[group].0 as u32);
        }
        for (place, before) in before.iter().enumerate() {
            let first_run = plan.runs.len();
            let mut columns = 0;
            for &other in before {
                let [first, end] = [plan.rows[other], plan.rows[other + 1]];
                match plan.runs[first_run..].last_mut() {
                    Some(run) if run.first + run.len == first => run.len += end - first,
                    _ => plan.runs.push(Run { first, len: end - first, at: columns }),
                }
                columns += end - first;
            }
            plan.ends.push(plan.runs.len() as u32);
            plan.starts.push((plan.len, columns as usize));
            let rows = (plan.rows[place + 1] - plan.rows[place]) as usize;
            plan.len += (0..rows).map(|row| columns as usize + row + 1).sum::<usize>();
        }
        plan
    }

    /// Rows of all groups.
    pub fn size(&self) -> usize {
        self.rows.last().map_or(0, |n| *n as usize)
    }

    /// Numbers of the factor.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The first row of a group, as it was given.
    pub fn row_of(&self, group: usize) -> usize {
        self.rows[self.place[group] as usize] as usize
    }

    /// Whether conjugate gradients solve it.
    #[cfg(test)]
    pub fn is_iterative(&self) -> bool {
        self.iterative
    }

    pub(super) fn groups(&self) -> Range<usize> {
        0..self.starts.len()
    }

    pub(super) fn rows(&self, place: usize) -> Range<usize> {
        self.rows[place] as usize..self.rows[place + 1] as usize
    }

    /// The columns that the numbers of a row are in, piece by piece: first column, and which of its numbers these are.
    pub(super) fn pieces(
        &self,
        place: usize,
        row: usize,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let first = self.rows[place] as usize;
        let before = self.starts[place].1;
        let runs = self.runs(place).iter().map(|run| {
            let at = run.at as usize;
            (run.first as usize, at..at + run.len as usize)
        });
        runs.chain(std::iter::once((first, before..before + row - first)))
    }

    fn runs(&self, place: usize) -> &[Run] {
        let first = place.checked_sub(1).map_or(0, |p| self.ends[p] as usize);
        &self.runs[first..self.ends[place] as usize]
    }

    /// Where the numbers of a row of the group at `place` are.
    pub(super) fn numbers(&self, place: usize, row: usize) -> Range<usize> {
        let (start, before) = self.starts[place];
        let number = row - self.rows[place] as usize;
        let first = start + number * before + number * (number + 1) / 2;
        first..first + before + number + 1
    }
}

/// Orders groups by least degree (quotient graph: what holds one body is a clique that is never written out), and tells for
/// each place in that order the earlier places that act on it, ascending.
fn eliminate(groups: &[(usize, Vec<usize>)], bodies: usize) -> (Vec<usize>, Vec<Vec<usize>>) {
    let count = groups.len();
    let mut cliques: Vec<Vec<usize>> = vec![Vec::new(); bodies];
    let mut member_of: Vec<Vec<usize>> = Vec::with_capacity(count);
    for (group, (_, holds)) in groups.iter().enumerate() {
        let mut holds = holds.clone();
        holds.sort_unstable();
        holds.dedup();
        holds.iter().for_each(|b| cliques[*b].push(group));
        member_of.push(holds);
    }
    let degree =
        |of: &[usize], cliques: &[Vec<usize>]| -> usize { of.iter().map(|c| cliques[*c].len()).sum() };
    let mut degrees: Vec<usize> = member_of.iter().map(|of| degree(of, &cliques)).collect();
    let mut place = vec![usize::MAX; count];
    let (mut order, mut later) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut marked = vec![usize::MAX; count];
    while let Some(next) = (0..count).filter(|g| place[*g] == usize::MAX).min_by_key(|g| degrees[*g]) {
        place[next] = order.len();
        order.push(next);
        // Whatever it acts on acts on each other from now on.
        let mut merged = Vec::new();
        for clique in std::mem::take(&mut member_of[next]) {
            for group in std::mem::take(&mut cliques[clique]) {
                if group != next && marked[group] != next {
                    marked[group] = next;
                    merged.push(group);
                }
            }
        }
        merged.sort_unstable();
        let clique = cliques.len();
        for &group in &merged {
            member_of[group].retain(|c| !cliques[*c].is_empty());
            member_of[group].push(clique);
        }
        later.push(merged.clone());
        cliques.push(merged);
        for &group in &later[place[next]] {
            degrees[group] = degree(&member_of[group], &cliques);
        }
    }
    let mut before = vec![Vec::new(); count];
    for (earlier, later) in later.iter().enumerate() {
        later.iter().for_each(|group| before[place[*group]].push(earlier));
    }
    (order, before)
}

/// The lower half of a symmetric matrix of a plan, and then its factor L Lᵀ.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    lower: Vec<f64>,
    /// Scratch: a row, spread out.
    row: Vec<f64>,
    gradients: Gradients,
}

impl System {
    pub fn reserve(&mut self, plan: &Plan) {
        let (size, len) = (plan.size(), plan.len());
        if plan.iterative {
            self.gradients.reserve(size);
        }
        self.lower.reserve(len.saturating_sub(self.lower.len()));
        self.row.reserve(size.saturating_sub(self.row.len()));
    }

    /// Begins a matrix of zeros.
    pub fn begin(&mut self, plan: &Plan) {
        self.lower.clear();
        self.lower.resize(plan.len(), 0.0);
        self.row.clear();
        self.row.resize(plan.size(), 0.0);
    }

    /// Adds to the numbers between the first rows of two groups (as they were given), so many of each: `value` tells them by row of
    /// the first and row of the second. Each pair of groups is told in either order; of a group with itself half is looked at.
    pub fn add(
        &mut self,
        plan: &Plan,
        (a, b): (usize, usize),
        (of_a, of_b): (usize, usize),
        value: impl Fn(usize, usize) -> f64,
    ) {
        let [pa, pb] = [plan.place[a] as usize, plan.place[b] as usize];
        let turned = pa < pb;
        let (to, from, rows, columns) = if turned { (pb, pa, of_b, of_a) } else { (pa, pb, of_a, of_b) };
        let column = plan.rows[from];
        let at = match to == from {
            true => plan.starts[to].1,
            false => {
                let runs = plan.runs(to);
                let run = runs[runs.partition_point(|r| r.first <= column) - 1];
                (run.at + column - run.first) as usize
            }
        };
        for i in 0..rows {
            let start = plan.numbers(to, plan.rows[to] as usize + i).start + at;
            let columns = if to == from { i + 1 } else { columns };
            let numbers = &mut self.lower[start..start + columns];
            for (j, number) in numbers.iter_mut().enumerate() {
                *number += if turned { value(j, i) } else { value(i, j) };
            }
        }
    }

    /// The same of one row `k` of the second group, with all of so many of the first, which is another.
    pub fn add_column(
        &mut self,
        plan: &Plan,
        (a, of_a): (usize, usize),
        (b, k): (usize, usize),
        value: DVec3,
    ) {
        self.add(plan, (a, b), (of_a, k + 1), |i, j| if j == k { value[i] } else { 0.0 });
    }

    /// Factors the matrix. A row that depends on those before it gets nothing: its unknown is zero, and so it answers for
    /// what is tied twice, or cannot move at all.
    pub fn factor(&mut self, plan: &Plan) {
        if plan.iterative {
            return self.gradients.prepare(plan, &self.lower);
        }
        for place in plan.groups() {
            let own = plan.rows(place);
            for i in own.clone() {
                self.spread(plan, place, i);
                let whole = self.row[i];
                let mut left = whole;
                for run in plan.runs(place) {
                    left = self.reduce(plan, run.first as usize..(run.first + run.len) as usize, left);
                }
                left = self.reduce(plan, own.start..i, left);
                self.row[i] = if left > DEPENDENT * whole { left.sqrt() } else { 0.0 };
                self.gather(plan, place, i);
            }
        }
    }

    /// Finds the numbers of the row that is spread out in these columns; returns what of its pivot that leaves.
    fn reduce(&mut self, plan: &Plan, columns: Range<usize>, mut left: f64) -> f64 {
        let mut place = plan.rows.partition_point(|r| *r as usize <= columns.start) - 1;
        for j in columns {
            while plan.rows[place + 1] as usize <= j {
                place += 1;
            }
            let numbers = &self.lower[plan.numbers(place, j)];
            let pivot = numbers[numbers.len() - 1];
            let sum = self.row[j] - dot(plan, place, j, numbers, &self.row);
            self.row[j] = if pivot > 0.0 { sum / pivot } else { 0.0 };
            left -= self.row[j] * self.row[j];
        }
        left
    }

    fn spread(&mut self, plan: &Plan, place: usize, i: usize) {
        let numbers = &self.lower[plan.numbers(place, i)];
        for run in plan.runs(place) {
            let (first, at, len) = (run.first as usize, run.at as usize, run.len as usize);
            self.row[first..first + len].copy_from_slice(&numbers[at..at + len]);
        }
        let (first, before) = (plan.rows[place] as usize, plan.starts[place].1);
        self.row[first..=i].copy_from_slice(&numbers[before..]);
    }

    fn gather(&mut self, plan: &Plan, place: usize, i: usize) {
        let numbers = &mut self.lower[plan.numbers(place, i)];
        for run in plan.runs(place) {
            let (first, at, len) = (run.first as usize, run.at as usize, run.len as usize);
            numbers[at..at + len].copy_from_slice(&self.row[first..first + len]);
            self.row[first..first + len].fill(0.0);
        }
        let (first, before) = (plan.rows[place] as usize, plan.starts[place].1);
        numbers[before..].copy_from_slice(&self.row[first..=i]);
        self.row[first..=i].fill(0.0);
    }

    /// Solves for a right-hand side, in its place.
    pub fn solve(&mut self, plan: &Plan, side: &mut [f64]) {
        if plan.iterative {
            return self.gradients.solve(plan, &self.lower, side);
        }
        for place in plan.groups() {
            for i in plan.rows(place) {
                let numbers = &self.lower[plan.numbers(place, i)];
                let pivot = numbers[numbers.len() - 1];
                let sum = dot(plan, place, i, numbers, side);
                side[i] = if pivot > 0.0 { (side[i] - sum) / pivot } else { 0.0 };
            }
        }
        for place in plan.groups().rev() {
            for i in plan.rows(place).rev() {
                let numbers = &self.lower[plan.numbers(place, i)];
                let pivot = numbers[numbers.len() - 1];
                let at = if pivot > 0.0 { side[i] / pivot } else { 0.0 };
                side[i] = at;
                let mut take = |first: usize, numbers: &[f64]| {
                    side[first..first + numbers.len()]
                        .iter_mut()
                        .zip(numbers)
                        .for_each(|(s, l)| *s -= l * at);
                };
                for run in plan.runs(place) {
                    take(run.first as usize, &numbers[run.at as usize..(run.at + run.len) as usize]);
                }
                take(plan.rows[place] as usize, &numbers[plan.starts[place].1..numbers.len() - 1]);
            }
        }
    }
}

/// The product of a row's numbers before its pivot with a full vector.
fn dot(plan: &Plan, place: usize, i: usize, numbers: &[f64], with: &[f64]) -> f64 {
    let product = |first: usize, numbers: &[f64]| product(numbers, &with[first..]);
    let mut sum = 0.0;
    for run in plan.runs(place) {
        sum += product(run.first as usize, &numbers[run.at as usize..(run.at + run.len) as usize]);
    }
    let first = plan.rows[place] as usize;
    let own = &numbers[plan.starts[place].1..];
    sum + product(first, &own[..i - first])
}

/// Σ a b over the shorter of the two, eight sums side by side.
pub(super) fn product(a: &[f64], b: &[f64]) -> f64 {
    let len = a.len().min(b.len());
    let (a, b) = (a[..len].chunks_exact(8), b[..len].chunks_exact(8));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; 8];
    for (a, b) in a.zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AᵀA of numbers without a pattern where groups share a body, with rows that are twice others if `twice`; and what springs give.
    fn made(groups: &[(usize, Vec<usize>)], bodies: usize, (twice, give): (bool, f64)) -> Vec<Vec<f64>> {
        let rows: Vec<(usize, usize)> =
            groups.iter().enumerate().flat_map(|(g, (n, _))| (0..*n).map(move |i| (g, i))).collect();
        // A row of A has entries for each of its bodies; the product is sparse as the plan expects.
        let per = 5;
        let entry = |i: usize, j: usize| ((i * 31 + j * 17) as f64 * 0.77).sin();
        let mut a: Vec<Vec<f64>> = rows
            .iter()
            .enumerate()
            .map(|(r, (g, _))| {
                let mut row = vec![0.0; bodies * per];
                groups[*g].1.iter().for_each(|b| (0..per).for_each(|k| row[b * per + k] = entry(r, k + b)));
                row
            })
            .collect();
        if twice {
            let last = a.len() - 1;
            a[last] = a[last - 1].iter().map(|v| 2.0 * v).collect();
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut product: Vec<Vec<f64>> = a.iter().map(|x| a.iter().map(|y| dot(x, y)).collect()).collect();
        (0..product.len()).for_each(|k| product[k][k] += give);
        product
    }

    fn check(groups: &[(usize, Vec<usize>)], bodies: usize, twice: bool) -> usize {
        let [direct, iterative] = [Plan::direct(groups, bodies), Plan::iterative(groups, bodies)];
        solved(&direct, groups, bodies, (twice, 0.0));
        solved(&iterative, groups, bodies, (twice, 0.0));
        // With springs there is one solution only.
        let [a, b] = [&direct, &iterative].map(|plan| solved(plan, groups, bodies, (twice, 0.01)));
        let size = a.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let far = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-9 * size, "{groups:?}: {far} of {size} apart");
        direct.len()
    }

    /// The solution found by a plan, row by row as groups were given.
    fn solved(plan: &Plan, groups: &[(usize, Vec<usize>)], bodies: usize, with: (bool, f64)) -> Vec<f64> {
        let matrix = made(groups, bodies, with);
        let rows: Vec<(usize, usize)> =
            groups.iter().enumerate().flat_map(|(g, (n, _))| (0..*n).map(move |i| (g, i))).collect();
        let mut system = System::default();
        system.begin(plan);
        let first = |g: usize| rows.iter().position(|r| r.0 == g).unwrap();
        for a in 0..groups.len() {
            for b in 0..=a {
                if groups[a].1.iter().any(|x| groups[b].1.contains(x)) {
                    let value = |i: usize, j: usize| matrix[first(a) + i][first(b) + j];
                    // Whichever comes first.
                    match (a + b) % 2 {
                        0 => system.add(plan, (a, b), (groups[a].0, groups[b].0), value),
                        _ => system.add(plan, (b, a), (groups[b].0, groups[a].0), |i, j| value(j, i)),
                    }
                } else {
                    assert_eq!(matrix[first(a)][first(b)], 0.0);
                }
            }
        }
        system.factor(plan);
        let wanted: Vec<f64> = (0..rows.len()).map(|i| (i as f64 * 1.3).cos()).collect();
        let times = |x: &[f64]| -> Vec<f64> {
            matrix.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
        };
        let at = |(g, i): (usize, usize)| plan.row_of(g) + i;
        let side = times(&wanted);
        let mut found = vec![0.0; plan.size()];
        rows.iter().zip(&side).for_each(|(r, v)| found[at(*r)] = *v);
        system.solve(plan, &mut found);
        let back: Vec<f64> = rows.iter().map(|r| found[at(*r)]).collect();
        let off = times(&back).iter().zip(&side).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-8, "{groups:?}: {off}");
        back
    }

    /// What a factor takes too long for is solved by conjugate gradients, and a tree is not.
    #[test]
    fn the_plan_decides_who_solves() {
        let on_one = |count: usize| Plan::new(&vec![(3, vec![0]); count], 1).is_iterative();
        assert!(!on_one(980) && on_one(1020));
        let tree: Vec<_> =
            (1..2000).flat_map(|k| [(3, vec![(k - 1) / 2, k]), (3, vec![(k - 1) / 2, k])]).collect();
        assert!(!Plan::new(&tree, 2000).is_iterative());
    }

    #[test]
    fn solves_also_where_rows_depend_on_each_other() {
        check(&[(1, vec![0])], 1, false);
        check(&[(3, vec![0, 1]), (2, vec![1]), (1, vec![0, 1])], 2, true);
        // A ring, in which elimination fills in.
        let ring: Vec<_> = (0..7).map(|k| (3, vec![k, (k + 1) % 7])).collect();
        check(&ring, 7, false);
        // All on one body, and nothing to do with each other.
        let one: Vec<_> = (0..5).map(|k| (1 + k % 3, vec![0])).collect();
        check(&one, 1, false);
        let apart: Vec<_> = (0..4).map(|k| (2, vec![k])).collect();
        assert_eq!(check(&apart, 4, false), 4 * 3);
    }

    /// Each branch hangs on the one before by two couplings and carries an ornament: nothing but what acts on each other directly
    /// is stored, however many there are.
    #[test]
    fn a_tree_fills_in_nothing() {
        let tree = |branches: usize| {
            let mut groups = Vec::new();
            for k in 1..branches {
                groups.push((3, vec![(k - 1) / 2, k]));
                groups.push((3, vec![(k - 1) / 2, k]));
                groups.push((3, vec![k, branches + k]));
            }
            Plan::new(&groups, 2 * branches).len()
        };
        let (small, large) = (tree(100), tree(400));
        assert!(large < 4 * small + small / 2, "{large} for {small}");
    }

    #[test]
    fn what_cannot_move_gets_no_force() {
        let plan = Plan::new(&[(1, vec![0]), (1, vec![0])], 1);
        let mut system = System::default();
        system.begin(&plan);
        system.add(&plan, (1, 1), (1, 1), |_, _| 4.0);
        system.factor(&plan);
        let mut side = [0.0; 2];
        (side[plan.row_of(0)], side[plan.row_of(1)]) = (3.0, 8.0);
        system.solve(&plan, &mut side);
        assert_eq!((side[plan.row_of(0)], side[plan.row_of(1)]), (0.0, 2.0));
    }
}
