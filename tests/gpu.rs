//! What only a GPU shows.

fn main() {}
