//! Pictures of accesses: the lanes and the banks that serve them.

use super::{AccessKind, AccessPattern, BankModel, Cost};
use cuda_std::host::banks::lanes_of;
use std::fmt::Write;

/// Maximum number of columns of a picture.
const COLUMNS: usize = 100;

impl BankModel {
    /// Returns a picture of the access as text of at most 100 columns. Each row is a pass and lists the served lanes below
    /// their banks. `7+` is lane 7 together with other lanes that access the same word; they are listed at the end. If there
    /// are several phases, each has a heading.
    ///
    /// The order in which a bank serves its words is not documented. The picture shows the lowest lanes first.
    ///
    /// ```
    /// use slm::banks::{AccessPattern, BankModel, Width};
    ///
    /// let model = BankModel::new(4, 4)?;
    /// let column = AccessPattern::load(Width::B4, |lane| 6 * (lane / 2)).only(0b1111_1111);
    /// assert_eq!(
    ///     model.explain(&column),
    ///     "\
    /// load of 4 bytes by 8 lanes: 2 wavefronts, as without conflicts
    /// bank     0     1     2     3
    /// lanes 0-3
    ///    1    0+          2+
    /// lanes 4-7
    ///    2    4+          6+
    /// + served together: 0-1, 2-3, 4-5, 6-7
    /// "
    /// );
    /// # Ok::<(), slm::Error>(())
    /// ```
    #[must_use]
    pub fn explain(&self, pattern: &AccessPattern) -> String {
        let phases: Vec<Phase> = pattern.access().phases(self.rule()).map(|lanes| self.phase(pattern, lanes)).collect();
        let mut picture = Picture { text: title(pattern, self.cost(pattern)), passes: 0 };
        if !phases.is_empty() {
            picture.banks(self.banks(), self.rule().groups(pattern.width().bytes()));
        }
        for phase in &phases {
            if phases.len() > 1 {
                picture.line(&format!("lanes {}", lanes_text(phase.lanes)));
            }
            picture.phase(phase);
        }
        picture.together(&phases);
        picture.text
    }

    fn phase(&self, pattern: &AccessPattern, lanes: u32) -> Phase {
        let (access, banks) = (pattern.access(), self.rule());
        let [unit, groups] = [banks.unit(access.bytes), banks.groups(access.bytes)].map(u64::from);
        let mut phase = Phase { lanes, groups: vec![Vec::new(); groups as usize] };
        for lane in lanes_of(lanes) {
            let unit = access.addresses[lane as usize] / unit;
            let passes = &mut phase.groups[(unit % groups) as usize];
            // Atomic operations on one word are serialised.
            let same = passes.iter_mut().find(|pass| pass.unit == unit && pattern.kind() != AccessKind::Atomic);
            match same {
                Some(pass) => pass.lanes |= 1 << lane,
                None => passes.push(Pass { unit, lanes: 1 << lane }),
            }
        }
        phase
    }
}

/// A group of lanes that is served before the next group.
struct Phase {
    lanes: u32,
    /// Passes of each bank, or group of banks, in order.
    groups: Vec<Vec<Pass>>,
}

/// A unit that a bank, or a group of banks, delivers to these lanes in one wavefront.
#[derive(Clone)]
struct Pass {
    unit: u64,
    lanes: u32,
}

fn title(pattern: &AccessPattern, cost: Cost) -> String {
    let (kind, bytes, lanes) = (pattern.kind(), pattern.width().bytes(), pattern.lanes().count_ones());
    let what = if kind == AccessKind::Atomic { ["pass", "passes"] } else { ["wavefront", "wavefronts"] };
    let what = what[usize::from(cost.passes != 1)];
    let [byte, lane] =
        [(bytes, ["byte", "bytes"]), (lanes, ["lane", "lanes"])].map(|(n, text)| text[usize::from(n != 1)]);
    let without = match cost.is_conflict_free() {
        true => "as without conflicts".to_owned(),
        false => format!("{} without conflicts", cost.phases),
    };
    format!("{kind} of {bytes} {byte} by {lanes} {lane}: {} {what}, {without}\n", cost.passes)
}

/// The picture so far.
struct Picture {
    text: String,
    /// Rows of the picture.
    passes: usize,
}

impl Picture {
    fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Adds the row of bank numbers.
    fn banks(&mut self, banks: u32, groups: u32) {
        let each = banks / groups;
        let name =
            |group| if each == 1 { group_text(group, group) } else { group_text(group * each, (group + 1) * each - 1) };
        self.row("bank", (0..groups).map(name));
    }

    fn row(&mut self, label: &str, cells: impl ExactSizeIterator<Item = String>) {
        // "31+" needs three columns, and "30-31" and a space six.
        let width = if cells.len() == 32 { 3 } else { 6 };
        let cells = cells.fold(String::new(), |row, cell| format!("{row}{cell:>width$}"));
        self.line(&format!("{label:>4}{cells}"));
    }

    fn phase(&mut self, phase: &Phase) {
        let rows = phase.groups.iter().map(Vec::len).max().unwrap_or(0);
        for row in 0..rows {
            self.passes += 1;
            let cells = phase.groups.iter().map(|passes| passes.get(row).map_or_else(String::new, Pass::cell));
            self.row(&self.passes.to_string(), cells);
        }
    }

    /// Adds the list of the lanes that each "+" stands for.
    fn together(&mut self, phases: &[Phase]) {
        let passes = phases.iter().flat_map(|phase| phase.groups.iter().flatten());
        let mut together: Vec<u32> = passes.map(|pass| pass.lanes).filter(|lanes| lanes.count_ones() > 1).collect();
        together.sort_by_key(|lanes| lanes.trailing_zeros());
        let mut line = "+ served together:".to_owned();
        for (k, lanes) in together.iter().enumerate() {
            let comma = if k + 1 < together.len() { "," } else { "" };
            let next = format!(" {}{comma}", lanes_text(*lanes));
            if line.len() + next.len() > COLUMNS {
                self.line(&line);
                line = " ".to_owned();
            }
            line.push_str(&next);
        }
        if !together.is_empty() {
            self.line(&line);
        }
    }
}

impl Pass {
    fn cell(&self) -> String {
        let others = if self.lanes.count_ones() > 1 { "+" } else { "" };
        format!("{}{others}", self.lanes.trailing_zeros())
    }
}

/// Returns lanes as ranges, such as `0-3+8`, in at most 48 columns.
fn lanes_text(lanes: u32) -> String {
    let mut text = String::new();
    let mut rest = lanes;
    while rest != 0 {
        let first = rest.trailing_zeros();
        let count = (rest >> first).trailing_ones();
        let separator = if text.is_empty() { "" } else { "+" };
        let _ = write!(text, "{separator}{}", group_text(first, first + count - 1));
        // The lanes after the range. A shift by 32 clears all lanes.
        rest &= u32::MAX.checked_shl(first + count).unwrap_or(0);
    }
    text
}

/// Returns a range of consecutive numbers as text.
fn group_text(first: u32, last: u32) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}
