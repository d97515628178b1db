//! Declarations of kernels in their sources, to compare compiled modules with them.

use super::sources::files;
use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};

/// `pub fn name<'l>(arena, …) in "module" where registers <= 64 {`, inside of `kernel!`.
#[derive(Debug)]
pub struct Declaration {
    /// The entry point, without the types of generic kernels. It begins with `$` if a macro names it.
    name: String,
    /// The module, unless the kernel is generic.
    module: Option<String>,
    /// Whether the code has the block's shared memory: otherwise the parameter is `_arena`.
    pub has_arena: bool,
    pub registers: Registers,
}

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
    pub fn find(entry: &str, module: &str) -> Result<&'static Self, String> {
        static ALL: LazyLock<io::Result<Vec<Declaration>>> = LazyLock::new(|| all(Path::new("kernels")));
        let all = ALL.as_ref().map_err(|error| error.to_string())?;
        let is_it =
            |name: &str| entry.strip_prefix(name).is_some_and(|types| types.is_empty() || types.starts_with('_'));
        let named = all.iter().filter(|it| is_it(&it.name)).max_by_key(|it| it.name.len());
        let by_macro = || all.iter().find(|it| it.name.starts_with('$') && it.module.as_deref() == Some(module));
        named.or_else(by_macro).ok_or_else(|| format!("there is no declaration of {entry}"))
    }

    /// Returns the declaration that follows `pub fn `, unless that is another function.
    fn parse(text: &str) -> Option<Self> {
        // Types may have blocks too.
        let (head, _) = text.split_once("{\n")?;
        let (name, rest) = head.split_once('(')?;
        let (name, _lifetime) = name.split_once('<').unwrap_or((name, ""));
        let (first, rest) = rest.split_once(',')?;
        let has_arena = match first {
            "arena" => true,
            "_arena" => false,
            _ => return None,
        };
        let module = rest.split_once(") in \"").and_then(|(_, module)| module.split('"').next());
        let registers = Registers::parse(rest)?;
        Some(Declaration { name: name.to_owned(), module: module.map(str::to_owned), has_arena, registers })
    }
}

fn all(folder: &Path) -> io::Result<Vec<Declaration>> {
    let texts = files(folder)?.into_iter().map(fs::read_to_string).collect::<io::Result<Vec<_>>>()?;
    Ok(texts.iter().flat_map(|text| text.split("pub fn ").skip(1)).filter_map(Declaration::parse).collect())
}
