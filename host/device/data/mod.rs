//! The data of operations: what they read, in host memory or on a device, and results of the same form.
//!
//! ```text
//!   slice, array, picture                Buffer, Buffer2
//!            |                                  |
//!      Elements::Host                       Elements::Device
//!            |                                  |
//!            +---------> OnDevice::run   <------+
//!            |                                  |
//!      Results::Host                      Results::Device
//!            |                                  |
//!   Vec, array, picture                  Buffer, Buffer2
//! ```
//!
//! | file | |
//! |---|---|
//! | `forms.rs` | slices, arrays and buffers as input |
//! | `elements.rs` | where they are |
//! | `shape.rs` | lengths of axes |
//! | `output.rs` | where operations write |
//! | `view.rs` | buffers and matrices of a device as one type |

mod elements;
mod forms;
mod output;
mod shape;
mod view;

pub(crate) use elements::{Elements, Results};
pub use output::Output;
pub(crate) use output::Target;
#[cfg(feature = "image")]
pub(crate) use output::Write;
pub(crate) use shape::{Axes, Form, Shape, check_same, number_of};
pub use view::Planes;
pub(crate) use view::{BufferView, BufferViewMut};

use crate::{Device, Element, Result};

/// Data that an operation reads: elements of type `S`, in host memory or on a device. `O` is the type of the results.
///
/// The results of `apply` have the form of its input, except for the counts and sums of histograms:
///
/// | input | results |
/// |---|---|
/// | a slice: `&[S]`, `&Vec<S>`, `&[S; N]`, `&Pinned<S>` | `Vec<O>` |
/// | an array of `ndarray`, of any strides: `&Array<S, D>`, `ArrayView<S, D>` | `Array<O, D>` |
/// | a picture of `image`: `&ImageBuffer<P, C>` | a picture whose pixels have subpixels of type `O` |
/// | `&Buffer<S>`, [`BufferSlice<S>`](crate::BufferSlice) | `Buffer<O>` |
/// | `&Buffer2<S>`, [`Planes<S>`](crate::filter2d::Planes) | `Buffer2<O>` |
///
/// The CPU uses elements of the host where they are, if they are contiguous; for a GPU they are copied there and back. If the results are on
/// a device, `apply` returns when the work is enqueued. An operation with several inputs returns results of the first one's form, and copies inputs of the host to a device if
/// others are there.
///
/// `apply_into` takes the same inputs, and writes to any [`Output`]: input and output may be on different sides.
///
/// The trait is sealed.
///
/// ```
/// use slm::ndarray::{Array2, array};
/// use slm::{Buffer, Device, Map};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let square = Map::square().prepare(&device)?;
/// let from_slice: Vec<i32> = square.apply(&[1, 2, 3])?;
/// let from_array: Array2<i32> = square.apply(&array![[1, 2, 3]])?;
/// let from_buffer: Buffer<i32> = square.apply(&device.upload(&[1, 2, 3])?)?;
/// assert_eq!((from_slice, from_array, from_buffer.download()?), (vec![1, 4, 9], array![[1, 4, 9]], vec![1, 4, 9]));
/// # Ok(())
/// # }
/// ```
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Data` in their generic code")]
pub trait Input<S: Element, O: Element = S>: Data<S, O, Results = <Self as Input<S, O>>::Output> {
    /// Results of the same form.
    type Output;
}

/// Access to data of any form.
pub(crate) trait Data<S: Element, O: Element>: Sized {
    type Results;

    fn shape(&self) -> Shape;

    /// Returns the elements in row-major order.
    fn elements(&self) -> Result<Elements<'_, S>>;

    /// Returns the elements in any order.
    fn unordered(&self) -> Result<Elements<'_, S>> {
        self.elements()
    }

    /// Returns an error if there are no results with these axes, which are those of a [`Shape`] of the same form.
    fn check_results(axes: &[usize]) -> Result<()>;

    /// Returns results, for which `check_results` has found no error.
    fn results(&self, axes: &[usize], results: Results<O>) -> Result<Self::Results>;
}

/// Returns results with these axes in the form of the input: what `run` writes, which gets input and outputs of this device.
/// Errors name the input.
pub(crate) fn apply<S: Element, O: Element, I: Input<S, O>>(
    (name, input): (&'static str, &I),
    axes: &[usize],
    device: &Device,
    run: impl FnOnce(&Elements<'_, S>, Target<'_, O>) -> Result<()>,
) -> Result<I::Output> {
    I::check_results(axes)?;
    let elements = input.elements()?;
    elements.check_owner(name, device)?;
    let write = |outputs: Target<'_, O>| run(&elements, outputs);
    let results = Results::written(device, elements.are_on_host(), number_of(axes), write)?;
    input.results(axes, results)
}

/// Writes outputs, whose axes have been checked: what `run` writes, which gets input and outputs of this device.
/// Errors name the input.
pub(crate) fn apply_into<S: Element, O: Element>(
    (name, input): (&'static str, &impl Input<S, O>),
    outputs: &mut (impl Output<O> + ?Sized),
    device: &Device,
    run: impl Fn(&Elements<'_, S>, Target<'_, O>) -> Result<()>,
) -> Result<()> {
    let elements = input.elements()?;
    elements.check_owner(name, device)?;
    outputs.write(&mut |outputs| {
        outputs.check_owner("the output", device)?;
        run(&elements, outputs)
    })
}
