//! A parser for the charts of the examples.

use crate::common::ensure;
use libtest_mimic::Failed;

/// A chart of an example.
pub(super) struct Svg(String);

/// Adjacent bars: the position of their base, and of their tops.
pub(super) struct Outline {
    base: f64,
    tops: Vec<f64>,
}

impl Outline {
    /// Returns the heights of the bars in pixels.
    pub(super) fn heights(&self) -> Vec<f64> {
        self.tops.iter().map(|top| self.base - top).collect()
    }
}

impl Svg {
    pub(super) fn new(text: String) -> Result<Self, Failed> {
        ensure(text.starts_with("<svg ") && text.ends_with("</svg>\n"), || text.clone())?;
        // It must have colours for dark pages too.
        ensure(text.contains("@media (prefers-color-scheme: dark)"), || text.clone())?;
        Ok(Svg(text))
    }

    /// Fails unless the chart has all texts: titles, labels of axes, legends.
    pub(super) fn says(&self, texts: &[&str]) -> Result<(), Failed> {
        let missing: Vec<_> = texts.iter().filter(|text| !self.0.contains(&format!(">{text}</"))).collect();
        ensure(missing.is_empty(), || format!("{missing:?} are missing in {}", self.0))
    }

    /// Returns the numbers at the vertical axis of the first panel, or an error if one is not whole.
    pub(super) fn ticks(&self) -> Result<Vec<u64>, Failed> {
        let panel = self.0.split("class=\"axis\"").next().unwrap_or_default();
        let texts = panel.lines().filter(|line| line.contains("text-anchor=\"end\""));
        let texts = texts.filter_map(|line| line.split('>').nth(1)?.split('<').next());
        texts.map(|text| text.replace(',', "").parse().map_err(|_| Failed::from(format!("a tick is {text}")))).collect()
    }

    /// Returns the outlines of a colour's bars, without the legend. Fails if lines of the grid are drawn over them.
    pub(super) fn outlines(&self, color: usize) -> Result<Vec<Outline>, Failed> {
        let class = format!("class=\"line{color} area{color}\"");
        let lines: Vec<_> = self.0.lines().collect();
        let bars: Vec<_> = (0..lines.len()).filter(|&i| lines[i].contains(&class)).skip(1).collect();
        let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return Ok(Vec::new()) };
        ensure(lines[*first..*last].iter().all(|line| !line.contains("\"grid\"")), || "a line over bars".to_owned())?;
        bars.iter().map(|&i| outline(lines[i]).ok_or_else(|| Failed::from(lines[i]))).collect()
    }

    pub(super) fn circles(&self) -> usize {
        self.0.matches("<circle ").count()
    }
}

/// Parses a path that consists of an `M`, a `V` and an `H` for each bar, and a last `V`.
fn outline(line: &str) -> Option<Outline> {
    let path = line.split("d=\"M").nth(1)?.split('Z').next()?;
    let (start, steps) = path.split_once('V')?;
    let base: f64 = start.split_once(' ')?.1.parse().ok()?;
    let mut tops = steps.split('V').map(|step| step.split('H').next()?.parse().ok()).collect::<Option<Vec<f64>>>()?;
    (tops.pop()? == base).then_some(Outline { base, tops })
}
