//! The lifetime of a launch: what kernels cannot keep.
//!
//! Windows, arenas and constants have a lifetime `'l`, and kernels are generic over it. So a kernel knows nothing about `'l`
//! except that it lasts until the kernel returns, and the compiler refuses every way to keep such a value: a later launch,
//! which was not given the memory, cannot reach it. Numbers have no lifetime, and may be kept.
//!
//! Arguments with windows of another lifetime, such as `'static`, are refused where the kernel is defined
//! ([`ArgumentOf`](crate::ArgumentOf)), on the host and on the device. The host creates windows for a lifetime that its code is
//! generic over, too (`Windows` of the crate `slm`).
//!
//! ```
//! use cuda_std::{GlobalIn, kernel};
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! static LAST: AtomicU32 = AtomicU32::new(0);
//!
//! kernel! {
//!     /// Keeps a number.
//!     pub fn keep<'l>(_arena, input: GlobalIn<'l, u32>) {
//!         LAST.store(input.get(0), Ordering::Relaxed);
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! A static with a lock:
//!
//! ```compile_fail,E0521
//! use cuda_std::{GlobalOut, kernel};
//! use std::sync::Mutex;
//!
//! static KEPT: Mutex<Option<GlobalOut<u32>>> = Mutex::new(None);
//!
//! kernel! {
//!     /// Keeps a window.
//!     pub fn keep<'l>(_arena, output: GlobalOut<'l, u32>) {
//!         *KEPT.lock().unwrap() = Some(output);
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! A thread-local variable:
//!
//! ```compile_fail,E0521
//! use cuda_std::{GlobalInOut, kernel};
//! use std::cell::Cell;
//!
//! thread_local!(static KEPT: Cell<Option<GlobalInOut<'static, u32>>> = const { Cell::new(None) });
//!
//! kernel! {
//!     /// Keeps a window.
//!     pub fn keep<'l>(_arena, data: GlobalInOut<'l, u32>) {
//!         KEPT.set(Some(data));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! A channel:
//!
//! ```compile_fail,E0521
//! use cuda_std::{GlobalIn, kernel};
//! use std::sync::OnceLock;
//! use std::sync::mpsc::Sender;
//!
//! static CHANNEL: OnceLock<Sender<GlobalIn<u32>>> = OnceLock::new();
//!
//! kernel! {
//!     /// Sends a window.
//!     pub fn send<'l>(_arena, input: GlobalIn<'l, u32>) {
//!         CHANNEL.get().unwrap().send(input).unwrap();
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! A leaked box:
//!
//! ```compile_fail
//! use cuda_std::{GlobalOut, kernel};
//!
//! kernel! {
//!     /// Leaks a window.
//!     pub fn leak<'l>(_arena, output: GlobalOut<'l, u32>) {
//!         let _: &'static GlobalOut<u32> = Box::leak(Box::new(output));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! A closure:
//!
//! ```compile_fail
//! use cuda_std::{GlobalOut, kernel};
//! use std::sync::Mutex;
//!
//! static LATER: Mutex<Vec<Box<dyn Fn() + Send>>> = Mutex::new(Vec::new());
//!
//! kernel! {
//!     /// Keeps a closure with a window.
//!     pub fn keep<'l>(_arena, output: GlobalOut<'l, u32>) {
//!         LATER.lock().unwrap().push(Box::new(move || output.set(0, 666)));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! A value of any type:
//!
//! ```compile_fail
//! use cuda_std::{GlobalOut, kernel};
//! use std::any::Any;
//!
//! kernel! {
//!     /// Forgets the type of a window.
//!     pub fn forget<'l>(_arena, output: GlobalOut<'l, u32>) {
//!         let _: Box<dyn Any> = Box::new(output);
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! Another OS thread:
//!
//! ```compile_fail,E0521
//! use cuda_std::{GlobalOut, kernel};
//!
//! kernel! {
//!     /// Starts a thread that may outlive the launch.
//!     pub fn start<'l>(_arena, output: GlobalOut<'l, u32>) {
//!         std::thread::spawn(move || output.set(0, 666));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! The arguments as a whole:
//!
//! ```compile_fail,E0521
//! use cuda_std::{GlobalOut, arguments, kernel};
//! use std::sync::Mutex;
//!
//! arguments! {
//!     /// Arguments of `keep`.
//!     pub struct Keeping<'l> {
//!         /// Some elements.
//!         pub output: GlobalOut<'l, u32>,
//!     }
//! }
//!
//! static KEPT: Mutex<Option<Keeping>> = Mutex::new(None);
//!
//! kernel! {
//!     /// Keeps its arguments.
//!     pub fn keep<'l>(_arena, args: Keeping<'l>) {
//!         *KEPT.lock().unwrap() = Some(args);
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! A part of a window, with 32-bit indices:
//!
//! ```compile_fail,E0521
//! use cuda_std::{GlobalOut, kernel};
//! use std::sync::Mutex;
//!
//! static KEPT: Mutex<Option<GlobalOut<u32, u32>>> = Mutex::new(None);
//!
//! kernel! {
//!     /// Keeps a part of a window.
//!     pub fn keep<'l>(_arena, output: GlobalOut<'l, u32>) {
//!         *KEPT.lock().unwrap() = Some(output.at(5).first(3).anchored());
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! A row of a matrix:
//!
//! ```compile_fail,E0521
//! use cuda_std::{GlobalIn, GlobalIn2, kernel};
//! use std::sync::Mutex;
//!
//! static KEPT: Mutex<Option<GlobalIn<u32, u32>>> = Mutex::new(None);
//!
//! kernel! {
//!     /// Keeps a row.
//!     pub fn keep<'l>(_arena, matrix: GlobalIn2<'l, u32>) {
//!         *KEPT.lock().unwrap() = Some(matrix.row(0u32));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! A window on shared memory:
//!
//! ```compile_fail,E0521
//! use cuda_std::{Shared, kernel};
//! use std::sync::Mutex;
//!
//! static KEPT: Mutex<Option<Shared<f64>>> = Mutex::new(None);
//!
//! kernel! {
//!     /// Keeps a window on the shared memory of a block.
//!     pub fn keep(arena, len: u32) {
//!         *KEPT.lock().unwrap() = Some(arena.split::<f32>(len).0.cast());
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! Windows that `shared!` describes:
//!
//! ```compile_fail,E0521
//! use cuda_std::{kernel, shared};
//! use std::sync::Mutex;
//!
//! shared! {
//!     /// The block's samples.
//!     pub struct Tile {
//!         /// The samples.
//!         pub samples: [f32; 256],
//!     }
//! }
//!
//! static KEPT: Mutex<Option<Tile>> = Mutex::new(None);
//!
//! kernel! {
//!     /// Keeps a tile.
//!     pub fn keep(arena, _number: u32) {
//!         *KEPT.lock().unwrap() = Some(Tile::split(arena).0);
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! An arena:
//!
//! ```compile_fail,E0521
//! use cuda_std::{Arena, kernel};
//! use std::sync::Mutex;
//!
//! static KEPT: Mutex<Option<Arena>> = Mutex::new(None);
//!
//! kernel! {
//!     /// Keeps the memory of a window.
//!     pub fn keep(arena, len: u32) {
//!         *KEPT.lock().unwrap() = Some(arena.split::<u8>(len).0.reuse());
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! Constants:
//!
//! ```compile_fail,E0521
//! use cuda_std::kernel;
//! use std::sync::Mutex;
//!
//! static KEPT: Mutex<Option<cuda_std::Constants<f32, 8>>> = Mutex::new(None);
//!
//! kernel! {
//!     /// Keeps the constants of a launch.
//!     pub fn keep(_arena, _number: u32, constants: Constants<f32, 8>) {
//!         *KEPT.lock().unwrap() = Some(constants);
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! Arguments whose windows have no lifetime of their own:
//!
//! ```compile_fail,E0106
//! cuda_std::arguments! {
//!     /// Arguments that could be kept.
//!     pub struct Lasting {
//!         /// Some elements.
//!         pub output: cuda_std::GlobalOut<u32>,
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! Arguments with a window that lasts:
//!
//! ```compile_fail
//! use cuda_std::{GlobalIn, GlobalOut, arguments, kernel};
//!
//! arguments! {
//!     /// One of the windows could be kept.
//!     pub struct Mixed<'l> {
//!         /// Some elements.
//!         pub input: GlobalIn<'l, u32>,
//!         /// Some others.
//!         pub output: GlobalOut<'static, u32>,
//!     }
//! }
//!
//! kernel! {
//!     /// Does nothing.
//!     pub fn nothing<'l>(_arena, _args: Mixed<'l>) {}
//! }
//! # fn main() {}
//! ```
//!
//! A type that names the lifetime, but is a window that lasts:
//!
//! ```compile_fail
//! use cuda_std::{GlobalOut, kernel};
//!
//! type Lasting<'l> = GlobalOut<'static, u32>;
//!
//! kernel! {
//!     /// Does nothing.
//!     pub fn nothing<'l>(_arena, _output: Lasting<'l>) {}
//! }
//! # fn main() {}
//! ```
//!
//! A type that exists for `'static` only:
//!
//! ```compile_fail
//! use cuda_std::{GlobalOut, kernel};
//!
//! pub struct Hidden<'l: 'static>(&'l ());
//!
//! pub trait Window {
//!     type Of;
//! }
//!
//! impl<'l: 'static> Window for Hidden<'l> {
//!     type Of = GlobalOut<'l, u32>;
//! }
//!
//! kernel! {
//!     /// Does nothing.
//!     pub fn nothing<'l>(_arena, _output: <Hidden<'l> as Window>::Of) {}
//! }
//! # fn main() {}
//! ```
