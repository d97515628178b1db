//! Declarations of kernels in their sources, to compare compiled modules with them.

use super::sources::files;
use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};

/// `pub fn name<'l>(arena, …) in "module" where registers <= 64 {`, inside of `kernel!`.
#[derive(Debug)]
pub struct Declaration {
    /// The entry points: one, without the types of generic kernels, or all those that a macro declares.
    names: Vec<String>,
    /// Whether the code has the block's shared memory: otherwise the parameter is `_arena`.
    pub has_arena: bool,
    pub registers: Registers,
}

/// What declarations begin with.
const FUNCTION: &str = "pub fn ";

/// The maximum number of registers of a kernel's threads.
#[derive(Clone, Copy, Debug)]
pub enum Registers {
    Any,
    AtMost(u32),
    /// A limit that depends on the types of an instance.
    OfTypes,
}

impl Registers {
    /// Returns the limit in what follows the parameters, or `None` if it is not valid.
    fn parse(rest: &str) -> Option<Self> {
        let Some((_, most)) = rest.split_once("where registers <= ") else { return Some(Registers::Any) };
        match most.trim() {
            most if most.starts_with('{') => Some(Registers::OfTypes),
            most => most.parse().ok().map(Registers::AtMost),
        }
    }

    /// Returns whether these are the limits in the code of a kernel.
    pub fn allow(self, limits: &[u32]) -> bool {
        match (self, limits) {
            (Registers::Any, []) | (Registers::OfTypes, [_]) => true,
            (Registers::AtMost(most), [limit]) => most == *limit,
            _ => false,
        }
    }
}

impl Declaration {
    /// Returns the declaration of an entry point of a module of this repository.
    pub fn find(entry: &str) -> Result<&'static Self, String> {
        static ALL: LazyLock<io::Result<Vec<Declaration>>> = LazyLock::new(|| all(Path::new("kernels")));
        let all = ALL.as_ref().map_err(|error| error.to_string())?;
        let is_it =
            |name: &str| entry.strip_prefix(name).is_some_and(|types| types.is_empty() || types.starts_with('_'));
        let names = all.iter().flat_map(|it| it.names.iter().map(move |name| (name, it)));
        let named = names.filter(|(name, _)| is_it(name)).max_by_key(|(name, _)| name.len());
        named.map(|(_, it)| it).ok_or_else(|| format!("there is no declaration of {entry}"))
    }

    /// Returns the declaration that follows the `pub fn ` at a position in a file, unless that is another function.
    fn parse(file: &str, at: usize) -> Option<Self> {
        let (before, text) = (&file[..at], &file[at + FUNCTION.len()..]);
        // Types may have blocks too.
        let (head, _) = text.split_once("{\n")?;
        let (name, rest) = head.split_once('(')?;
        let (name, _lifetime) = name.split_once('<').unwrap_or((name, ""));
        let (first, rest) = rest.split_once(',')?;
        let has_arena = match first.trim() {
            "arena" => true,
            "_arena" => false,
            _ => return None,
        };
        let names = if name.starts_with('$') { arguments_of_macro(file, before)? } else { vec![name.to_owned()] };
        Some(Declaration { names, has_arena, registers: Registers::parse(rest)? })
    }
}

/// Returns the first word of each line of the call of the macro whose definition begins in `before`.
fn arguments_of_macro(file: &str, before: &str) -> Option<Vec<String>> {
    let (_, definition) = before.rsplit_once("macro_rules! ")?;
    let name = definition.split(' ').next()?;
    let (_, call) = file.split_once(&format!("\n{name}! {{\n"))?;
    let (lines, _) = call.split_once("\n}")?;
    Some(lines.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
}

fn all(folder: &Path) -> io::Result<Vec<Declaration>> {
    let texts = files(folder)?.into_iter().map(fs::read_to_string).collect::<io::Result<Vec<_>>>()?;
    let of_file = |file: &String| -> Vec<_> {
        file.match_indices(FUNCTION).filter_map(|(at, _)| Declaration::parse(file, at)).collect()
    };
    Ok(texts.iter().flat_map(of_file).collect())
}
