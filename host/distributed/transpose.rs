//! Transposition of a matrix on several devices.
//!
//! Each member has rows of the matrix, and then rows of the transposed one. A block is where the rows of one member and the columns of
//! another one cross:
//!
//! ```text
//!            columns that become rows of
//!              member 0    member 1
//! member 0  [  block 00  |  block 01  ]        [  00ᵀ  |  10ᵀ  ]
//! member 1  [  block 10  |  block 11  ]  --->  [  01ᵀ  |  11ᵀ  ]
//! ```
//!
//! A block goes to its new member as it is, and is transposed there into its place.

use super::moves::{self, Move};
use super::{Course, Devices, Distributed, DistributedBuffer, DistributedError, Distribution};
use crate::device::buffer::check_length;
use crate::device::data::{BufferView, BufferViewMut, Elements, Target};
use crate::device::kernel::Recent;
use crate::device::rows::{Place, Rows};
use crate::element::raw::Raw;
use crate::transpose::PreparedTranspose;
use crate::{Buffer, BufferSlice, BufferSliceMut, Device, Result, Transpose, TransposeElement};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The transpositions of one member's blocks.
pub struct PreparedBlocks<T: TransposeElement> {
    device: Device,
    transpose: Transpose<T>,
    /// By rows and columns of a block.
    prepared: Recent<[usize; 2], Arc<PreparedTranspose<T>>>,
}

impl<T: TransposeElement> PreparedBlocks<T> {
    fn of(&self, [rows, columns]: [usize; 2]) -> Result<Arc<PreparedTranspose<T>>> {
        let prepare = || Ok(Arc::new(self.transpose.of_block(rows, columns).prepare(&self.device)?));
        self.prepared.get([rows, columns], prepare)
    }

    /// Transposes a block of this many rows and columns, with these row pitches of input and output.
    fn transpose(
        &self,
        shape: [usize; 2],
        input: BufferSlice<'_, T>,
        output: BufferSliceMut<'_, T>,
        [input_pitch, output_pitch]: [usize; 2],
    ) -> Result<()> {
        let input = Elements::Device(BufferView::matrix(input, input_pitch));
        T::run(&*self.of(shape)?, &input, Target::Device(BufferViewMut::matrix(output, output_pitch)))
    }
}

impl<T: TransposeElement> fmt::Debug for PreparedBlocks<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedBlocks").field("device", &self.device).finish_non_exhaustive()
    }
}

impl<T: TransposeElement> Transpose<T> {
    /// Prepares the transposition of one matrix on several devices; otherwise as [`prepare`](Self::prepare).
    ///
    /// # Errors
    ///
    /// [`DistributedError::Batch`] for several matrices, and the errors of [`prepare`](Self::prepare).
    pub fn prepare_on(&self, devices: &Devices) -> Result<Distributed<PreparedBlocks<T>>> {
        if self.count() != 1 {
            return Err(DistributedError::Batch { matrices: self.count() }.into());
        }
        Distributed::new(devices, |device| {
            // What prevents the transposition is found now.
            self.checked()?;
            self.of_block(1, 1).prepare(device)?;
            Ok(PreparedBlocks { device: device.clone(), transpose: *self, prepared: Recent::default() })
        })
    }
}

impl<T: TransposeElement> Distributed<PreparedBlocks<T>> {
    /// Returns the transposed matrix, whose rows are [evenly](Distribution::even) distributed. On GPUs, this returns when the work is
    /// enqueued.
    ///
    /// ```
    /// use slm::Transpose;
    /// use slm::distributed::Devices;
    /// use slm::ndarray::Array2;
    ///
    /// # fn main() -> slm::Result<()> {
    /// let devices = Devices::all()?;
    /// let matrix = Array2::from_shape_fn((40, 30), |(row, column)| (100 * row + column) as i32);
    /// let transposed = Transpose::new(40, 30).prepare_on(&devices)?.apply(&devices.distribute(&matrix)?)?;
    /// assert_eq!((transposed.total_rows(), transposed.width()), (30, 40));
    /// assert_eq!(transposed.download()?[..3], [0, 100, 200]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`apply_into`](Self::apply_into), and those of [`Device::zeroed`](crate::Device::zeroed).
    pub fn apply(&self, matrix: &DistributedBuffer<T>) -> Result<DistributedBuffer<T>> {
        let [rows, columns, components] = self.any().transpose.sides();
        let mut transposed = self.devices().zeroed(columns, rows.saturating_mul(components))?;
        self.apply_into(matrix, &mut transposed)?;
        Ok(transposed)
    }

    /// Transposes a matrix into another one. On GPUs, this returns when the work is enqueued, and between
    /// processes when the messages have passed. Until it is done, a member also has memory for
    /// what comes from the others, about as much as its part.
    ///
    /// # Errors
    ///
    /// * [`DistributedError::Devices`] for data on other devices.
    /// * [`Error::Length`](crate::Error::Length) if a matrix has another number of rows, and [`DistributedError::Width`] if its rows have
    ///   another length.
    /// * [`DistributedError::Incomplete`] with an error of [`PreparedTranspose::apply_into`] or a [`DistributedError::Transport`] as its
    ///   cause: some elements may be written. The devices stay usable, except those that are lost.
    pub fn apply_into(&self, matrix: &DistributedBuffer<T>, transposed: &mut DistributedBuffer<T>) -> Result<()> {
        let [rows, columns, components] = self.any().transpose.sides();
        self.check("the input", [rows, columns * components], matrix)?;
        self.check("the output", [columns, rows * components], transposed)?;
        let (of_rows, of_columns) = (matrix.distribution().clone(), transposed.distribution().clone());
        let grid = Grid { stages: stages::<T>(rows * columns * components), of_rows, of_columns, components };
        let rows_here = self.local().map(|(member, _)| grid.of_columns.rows(member).len()).sum::<usize>();
        let mut course = Course::new("elements", (rows_here * rows * components) as u64);
        // To free blocks is to wait for their transposition, so all are kept.
        let mut kept = Vec::new();
        for stage in 0..grid.stages {
            let mut blocks = grid.room(self.devices(), course, stage)?;
            moves::run(
                self.devices(),
                course,
                &grid.moves(self.devices(), columns, stage),
                &matrix.parts(),
                &mut blocks,
            )?;
            if stage == 0 {
                // The blocks wait for what the members had to do before them.
                self.transpose_own(&grid, &mut course, matrix, transposed)?;
            }
            for (to, prepared) in self.local() {
                let Some(output) = &mut transposed.parts_mut()[to] else { continue };
                for (Block { rows: of_rows, columns: width, .. }, elements) in grid.coming(to, stage).zip(&blocks[to]) {
                    let (shape, pitches) = ([of_rows.len(), width], [width * components, rows * components]);
                    let place = of_rows.start * components;
                    let run = prepared.transpose(shape, elements.into(), output.slice_mut(place..)?, pitches);
                    course.on(to, run)?;
                    course.add(elements.len() as u64);
                }
            }
            kept.push(blocks);
        }
        Ok(())
    }

    /// Transposes the blocks that stay on their members.
    fn transpose_own(
        &self,
        grid: &Grid,
        course: &mut Course,
        matrix: &DistributedBuffer<T>,
        transposed: &mut DistributedBuffer<T>,
    ) -> Result<()> {
        let [rows, columns, components] = self.any().transpose.sides();
        for (member, prepared) in self.local() {
            let (of_rows, of_columns) = (grid.of_rows.rows(member), grid.of_columns.rows(member));
            let (Some(input), Some(output)) = (matrix.part(member), &mut transposed.parts_mut()[member]) else {
                continue;
            };
            if of_rows.is_empty() || of_columns.is_empty() {
                continue;
            }
            let (shape, pitches) = ([of_rows.len(), of_columns.len()], [columns * components, rows * components]);
            let input = input.slice(of_columns.start * components..)?;
            let run = prepared.transpose(shape, input, output.slice_mut(of_rows.start * components..)?, pitches);
            course.on(member, run)?;
            course.add((of_rows.len() * of_columns.len() * components) as u64);
        }
        Ok(())
    }

    fn check(&self, what: &'static str, [rows, width]: [usize; 2], matrix: &DistributedBuffer<T>) -> Result<()> {
        matrix.check_devices(what, self.devices())?;
        check_length(what, rows, matrix.total_rows())?;
        match matrix.width() == width {
            true => Ok(()),
            false => Err(DistributedError::Width { what, expected: width, actual: matrix.width() }.into()),
        }
    }
}

/// Stages of a large matrix: while the blocks of one are transposed, those of the next one are on their way.
const STAGES: usize = 8;

/// Bytes of a matrix from which on stages take less time.
const LARGE: usize = 64 << 20;

fn stages<T>(elements: usize) -> usize {
    if elements.saturating_mul(size_of::<T>()) >= LARGE { STAGES } else { 1 }
}

/// The blocks of a matrix.
struct Grid {
    stages: usize,
    of_rows: Distribution,
    of_columns: Distribution,
    components: usize,
}

impl Grid {
    /// Returns the blocks that come to a member from others in a stage, in the order of these.
    fn coming(&self, to: usize, stage: usize) -> impl Iterator<Item = Block> {
        (0..self.of_rows.members()).filter_map(move |from| self.block(from, to, stage))
    }

    /// Returns the block that goes from a member to another one in a stage, unless it is empty.
    fn block(&self, from: usize, to: usize, stage: usize) -> Option<Block> {
        let (of_member, columns) = (self.of_rows.rows(from), self.of_columns.rows(to).len());
        let part = Distribution::even(of_member.len(), self.stages).rows(stage);
        let rows = of_member.start + part.start..of_member.start + part.end;
        (from != to && rows.len() * columns > 0).then_some(Block { from, to, rows, columns })
    }

    /// Returns room for the blocks that come to each member in this process.
    fn room<T: Raw>(&self, devices: &Devices, course: Course, stage: usize) -> Result<Vec<Vec<Buffer<T>>>> {
        let mut room: Vec<Vec<_>> = (0..devices.len()).map(|_| Vec::new()).collect();
        for (member, queue) in devices.incoming() {
            for Block { rows, columns, .. } in self.coming(member, stage) {
                room[member].push(course.on(member, queue.unwritten(rows.len() * columns * self.components))?);
            }
        }
        Ok(room)
    }

    /// Returns the moves of all blocks that come to a member in this process or go from there, of a matrix with this number of columns. Of
    /// the others there may be millions.
    fn moves(&self, devices: &Devices, columns: usize, stage: usize) -> Vec<Move> {
        let mut moves = Vec::new();
        for to in 0..self.of_columns.members() {
            match devices.get(to) {
                Some(_) => {
                    let coming = self.coming(to, stage).enumerate();
                    moves.extend(coming.map(|(target, block)| self.step(&block, columns, target)));
                }
                None => {
                    let leaving = devices.local().filter_map(|(from, _)| self.block(from, to, stage));
                    // The place among the blocks there is known there.
                    moves.extend(leaving.map(|block| self.step(&block, columns, 0)));
                }
            }
        }
        moves
    }

    /// Returns the move of a block.
    fn step(&self, &Block { from, to, ref rows, columns: width }: &Block, columns: usize, target: usize) -> Move {
        let (len, pitch) = (width * self.components, columns * self.components);
        let row = rows.start - self.of_rows.rows(from).start;
        let source = Place { first: row * pitch + self.of_columns.rows(to).start * self.components, pitch };
        Move { from, to, target, rows: Rows { count: rows.len(), len, source, target: Place::at_start(len) } }
    }
}

/// Rows of a member, and the columns of them that go to another one.
struct Block {
    from: usize,
    to: usize,
    rows: Range<usize>,
    /// Number of columns.
    columns: usize,
}
