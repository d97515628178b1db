//! Reports of launches.

use super::counts::Counts;
use super::finding::{Finding, Findings};
use super::site::{Action, Line, Site};
use crate::launch::Launch;
use cuda_std::host::Space;
use std::fmt;

/// Counts at one place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteCounts {
    /// The place.
    pub at: Line,
    /// Kind of access.
    pub action: Action,
    /// Accessed memory, if any.
    pub space: Option<Space>,
    /// Bytes per lane.
    pub bytes: u32,
    /// Counts of all warps.
    pub counts: Counts,
    /// Counts of each warp by its number in the block, summed over all blocks.
    pub warps: Vec<Counts>,
}

/// Findings and counts of a launch, or of [several](Report::add) launches of one kernel. They are valid for the code paths
/// that ran: for this input and, if the paths depend on it, for this order of the threads. Atomic operations took effect in
/// source order; effects of another order of [relaxed](cuda_std::Ordering::Relaxed) operations on a device are not included.
///
/// `Display` and `Debug` print a readable table, because `main` shows
/// an error by its `Debug`. Approximate numbers begin with `~`.
#[derive(Clone, PartialEq, Eq)]
pub struct Report {
    /// The kernel.
    pub kernel: &'static str,
    /// The device's [`Profile::name`](crate::Profile::name).
    pub profile: &'static str,
    /// The launch with its seed; the first of several.
    pub launch: Launch,
    /// Number of launches.
    pub launches: u64,
    /// Findings, each kind once per place in the source; races and foreign threads first.
    pub findings: Vec<Finding>,
    /// Counts by place in the source.
    pub sites: Vec<SiteCounts>,
}

impl Report {
    /// Adds the findings and counts of other launches of the same kernel.
    pub fn add(&mut self, other: Report) {
        self.launches += other.launches;
        let mut findings = Findings::default();
        std::mem::take(&mut self.findings).into_iter().chain(other.findings).for_each(|finding| findings.add(finding));
        self.findings = findings.take();
        for site in other.sites {
            match self.sites.iter_mut().find(|known| known.is_same(&site)) {
                Some(known) => known.add(&site),
                None => self.sites.push(site),
            }
        }
        self.sites.sort_by(|a, b| (&a.at, a.action).cmp(&(&b.at, b.action)));
    }

    /// Returns whether there are no findings.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns the sum of the counts at places that do `action`, in `space` if it is given.
    #[must_use]
    pub fn counts(&self, action: Action, space: Option<Space>) -> Counts {
        let sites = self.sites.iter().filter(|site| site.action == action && (space.is_none() || site.space == space));
        sites.map(|site| site.counts).sum()
    }

    /// Returns the number of wavefronts of shared memory that bank conflicts cause.
    #[must_use]
    pub fn bank_conflicts(&self) -> u64 {
        let shared = self.sites.iter().filter(|site| site.space == Some(Space::Shared));
        shared.map(|site| site.counts.bank_conflicts()).sum()
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Launch { grid, block, shared_bytes, seed, .. } = self.launch;
        writeln!(
            f,
            "{} on {}: grid {grid:?}, block {block:?}, {shared_bytes} bytes of shared memory, seed {seed}",
            self.kernel, self.profile
        )?;
        if self.launches > 1 {
            writeln!(f, "the first of {} launches; together:", self.launches)?;
        }
        match self.findings.len() {
            0 => writeln!(f, "nothing found")?,
            n => writeln!(f, "{n} found")?,
        }
        for finding in &self.findings {
            writeln!(f, "  {finding}")?;
        }
        let width = self.sites.iter().map(|site| site.at.to_string().len()).max().unwrap_or(0);
        write_header(f, width + 26)?;
        self.sites.iter().try_for_each(|site| {
            write!(f, "{:width$}  {:24}", site.at.to_string(), site.description())?;
            write_row(f, &site.counts)
        })
    }
}

impl SiteCounts {
    /// Returns the counts of a block's warps at `site`.
    pub(crate) fn new(site: &Site, warps: Vec<Counts>) -> Self {
        let Site { at, action, space, bytes } = *site;
        SiteCounts { at: at.into(), action, space, bytes, counts: warps.iter().copied().sum(), warps }
    }

    /// Returns whether both count the same accesses.
    fn is_same(&self, other: &SiteCounts) -> bool {
        (&self.at, self.action, self.space, self.bytes) == (&other.at, other.action, other.space, other.bytes)
    }

    /// Adds the counts of other launches at the same place.
    fn add(&mut self, other: &SiteCounts) {
        self.counts += other.counts;
        self.warps.resize(self.warps.len().max(other.warps.len()), Counts::default());
        for (warp, counts) in self.warps.iter_mut().zip(&other.warps) {
            *warp += *counts;
        }
    }

    /// Returns a description of the accesses.
    fn description(&self) -> String {
        let space = match self.space {
            Some(Space::Shared) => "shared ",
            Some(Space::Global | Space::GlobalConstant) => "global ",
            Some(Space::Constant) => "constant ",
            None => "",
        };
        let bytes = if self.bytes == 0 { String::new() } else { format!(", {} bytes", self.bytes) };
        format!("{space}{}{bytes}", self.action)
    }

    /// Returns a printable table of the counts by warp. Reports print their sum.
    #[must_use]
    pub fn by_warp(&self) -> impl fmt::Display {
        fmt::from_fn(|f| {
            writeln!(f, "{}  {}", self.at, self.description())?;
            write_header(f, 8)?;
            self.warps.iter().enumerate().try_for_each(|(warp, counts)| {
                write!(f, "warp {warp:<3}")?;
                write_row(f, counts)
            })
        })
    }
}

/// Writes the column titles, after a column of this width.
fn write_header(f: &mut fmt::Formatter<'_>, width: usize) -> fmt::Result {
    write!(f, "{:width$}", "")?;
    let titles = ["requests", "lanes", "left out", "wavefronts", "conflicts", "sectors", "degree"];
    titles.iter().try_for_each(|title| write!(f, " {title:>10}"))?;
    writeln!(f)
}

/// Writes the counts of a row. Approximate numbers begin with a tilde.
fn write_row(f: &mut fmt::Formatter<'_>, counts: &Counts) -> fmt::Result {
    let Counts { requests, lanes, left_out, wavefronts, sectors, degree, approximate, .. } = *counts;
    let exact = |number| (number, "");
    let concluded = |number| (number, if approximate { "~" } else { "" });
    let conflicts = concluded(counts.bank_conflicts());
    let others = [concluded(wavefronts), conflicts, concluded(sectors), concluded(degree.into())];
    for (number, mark) in [concluded(requests), exact(lanes), exact(left_out)].into_iter().chain(others) {
        let text = if number == 0 { String::new() } else { format!("{mark}{number}") };
        write!(f, " {text:>10}")?;
    }
    writeln!(f)
}
