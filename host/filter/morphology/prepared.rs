//! A morphological operation bound to a device.

use crate::device::data::{self, Elements, Results, Shape, Target};
use crate::filter::rank::Step;
use crate::filter::two_d::window::PictureProblem;
use crate::plan::Planned;
use crate::pointwise::PreparedArithmetic;
use crate::rank2d::PreparedRank2d;
use crate::{Arithmetic, Device, Input, Output, Plan, RankElement, Result};
use std::fmt;

/// A [`Morphology2d`](crate::Morphology2d) that is ready to run on its device, any number of times and from any thread.
pub struct PreparedMorphology2d<S: RankElement> {
    pub(super) form: Form,
    pub(super) first: PreparedRank2d<S>,
    second: Option<PreparedRank2d<S>>,
    /// What GPUs subtract with, for forms that need it.
    difference: Option<PreparedArithmetic<S>>,
}

/// The second step and the problems of both, in one use. The first step is [`PreparedMorphology2d::first`].
pub(super) struct Steps<'a, S: RankElement> {
    pub(super) second: &'a PreparedRank2d<S>,
    pub(super) problems: [PictureProblem; 2],
}

/// What is made of samples `x` by a first and perhaps a second step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `second(first(x))`, or `first(x)`.
    Last,
    /// `first(x) - second(x)`
    Gradient,
    /// `x - second(first(x))`
    TopHat,
    /// `second(first(x)) - x`
    BlackHat,
}

impl Form {
    /// Returns the minuend and the subtrahend, of the results of the first step, those of the second one, and the samples.
    pub(super) fn terms<T>(self, first: T, second: T, samples: T) -> [T; 2] {
        match self {
            Form::Gradient => [first, second],
            Form::TopHat => [samples, second],
            Form::Last | Form::BlackHat => [second, samples],
        }
    }
}

impl<S: RankElement> PreparedMorphology2d<S> {
    pub(super) fn new(device: &Device, form: Form, first: Step<S>, second: Option<Step<S>>) -> Result<Self> {
        let (first, second) = (first.prepare(device)?, second.map(|second| second.prepare(device)).transpose()?);
        let difference =
            (form != Form::Last && device.gpu().is_some()).then(|| Arithmetic::sub().prepare(device)).transpose()?;
        Ok(PreparedMorphology2d { form, first, second, difference })
    }

    /// Returns the device that the operation runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.first.device()
    }

    /// Returns the pictures of the results, which have the shape of the samples. The forms of pictures are those of
    /// [`PreparedRank2d::apply`].
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Morphology2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let closing = Morphology2d::closing(3).ignore_outside().prepare(&device)?;
    /// let picture = array![[9, 9, 9], [9, 1, 9], [9, 9, 9]];
    /// assert_eq!(closing.apply(&picture)?[[1, 1]], 9);
    ///
    /// let on_device = Buffer2::upload(&device, &picture)?;
    /// assert_eq!(closing.apply(&on_device)?.download()?[[1, 1]], 9);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`PreparedRank2d::apply`].
    pub fn apply<I: Input<S, S>>(&self, samples: I) -> Result<I::Output> {
        let shape = samples.shape();
        let (_, axes) = self.first.problem(&shape)?;
        data::apply(("the input", &samples), &axes, self.device(), |samples, outputs| {
            self.run(&shape, samples, outputs)
        })
    }

    /// Writes the results to any [`Output`] of the shape of the samples. If that is on a device, this returns when the work is enqueued.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Boundary, Buffer2, Device, Morphology2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let erosion = Morphology2d::erosion([1, 3]).boundary(Boundary::Nearest).prepare(&device)?;
    /// let x = Buffer2::upload(&device, &array![[4u16, 3, 8, 9]])?;
    /// let mut y = Buffer2::zeroed(&device, 1, 4)?;
    /// erosion.apply_into(&x, &mut y)?;
    /// assert_eq!(y.download()?, array![[3, 3, 3, 8]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`PreparedRank2d::apply_into`].
    pub fn apply_into(&self, samples: impl Input<S, S>, outputs: &mut (impl Output<S> + ?Sized)) -> Result<()> {
        let shape = samples.shape();
        let (_, axes) = self.first.problem(&shape)?;
        outputs.check_axes("the output", &axes)?;
        data::apply_into(("the input", &samples), outputs, self.device(), |samples, outputs| {
            self.run(&shape, samples, outputs)
        })
    }

    /// Runs the steps. Samples on the host are uploaded once, for all of them.
    fn run(&self, shape: &Shape, samples: &Elements<'_, S>, outputs: Target<'_, S>) -> Result<()> {
        let (first, _) = self.first.problem(shape)?;
        let Some(second) = &self.second else { return self.first.run(first, samples, outputs) };
        let steps = Steps { second, problems: [first, second.problem(shape)?.0] };
        if self.device().gpu().is_none() {
            return self.run_in_bands(&steps, samples, outputs);
        }
        if samples.are_on_host() {
            let uploaded = samples.on_buffer(self.device())?;
            return self.run_on_gpu(&steps, &Elements::Device(uploaded.slice().into()), outputs);
        }
        self.run_on_gpu(&steps, samples, outputs)
    }

    fn run_on_gpu(
        &self,
        Steps { second, problems: [first, last] }: &Steps<'_, S>,
        samples: &Elements<'_, S>,
        outputs: Target<'_, S>,
    ) -> Result<()> {
        let between = self.results(&self.first, first, samples)?;
        let between = between.elements();
        let Some(difference) = &self.difference else { return second.run(*last, &between, outputs) };
        let after = self.results(second, last, if self.form == Form::Gradient { samples } else { &between })?;
        let matrix = Shape::new(data::Form::Matrix { planes: 1 }, &[last.output_rows(), last.output_width()]);
        difference.run(&matrix, self.form.terms(&between, &after.elements(), samples), outputs)
    }

    /// Returns the results of a step, on the device.
    pub(super) fn results(
        &self,
        rank: &PreparedRank2d<S>,
        problem: &PictureProblem,
        samples: &Elements<'_, S>,
    ) -> Result<Results<S>> {
        let on_host = self.device().gpu().is_none();
        Results::written(self.device(), on_host, problem.len()?, |outputs| rank.run(*problem, samples, outputs))
    }

    /// Returns the plan for pictures of this shape, which is as for [`PreparedRank2d::output_shape`].
    ///
    /// # Errors
    ///
    /// Those of [`PreparedRank2d::plan`].
    pub fn plan(&self, shape: impl AsRef<[usize]>) -> Result<Plan> {
        let shape = shape.as_ref();
        let first = self.first.plan(shape)?;
        let mut launches = first.launches;
        if let Some(second) = &self.second {
            launches.extend(second.plan(shape)?.launches);
        }
        if let Some(difference) = &self.difference {
            launches.extend(difference.plan(&first.outputs)?.launches);
        }
        Ok(Plan::new(self.device(), (), &first.outputs, (), Planned::new(first.reason, launches)))
    }
}

impl<S: RankElement> fmt::Debug for PreparedMorphology2d<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedMorphology2d")
            .field("form", &self.form)
            .field("first", &self.first)
            .field("second", &self.second)
            .finish_non_exhaustive()
    }
}
