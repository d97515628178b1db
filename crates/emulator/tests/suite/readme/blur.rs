use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, thread};

arguments! {
    /// Arguments of `blur`.
    pub struct Blurring<'l> {
        /// The samples.
        pub input: GlobalIn<'l, f32>,
        /// Receives the mean of each sample and the next one; a zero follows the last sample.
        pub output: GlobalOut<'l, f32>,
    }
}

kernel! {
    /// Thread `i` of the grid computes element `i`.
    pub fn blur<'l>(_arena, args: Blurring<'l>) in "blur" {
        let i = thread::global_x();
        // Some threads of the last block have no element: these functions skip elements out of range.
        let mean = 0.5 * (args.input.get_or(i, 0.0) + args.input.get_or(i + 1, 0.0));
        args.output.set_if(i < args.output.len(), i, mean);
    }
}
