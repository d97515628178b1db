//! A parser for the parts of LLVM IR that are needed: functions, basic blocks, calls and their source locations.

use super::metadata::{Metadata, digits};
use rustc_demangle::demangle;
use std::collections::{HashMap, HashSet};

/// A module in LLVM IR.
#[derive(Debug, Default)]
pub(super) struct Module<'a> {
    /// Defined functions.
    pub(super) functions: Vec<Function<'a>>,
    /// Declared functions with the attribute `convergent`.
    pub(super) convergent: HashSet<&'a str>,
    /// Names that also appear outside of direct calls and definitions, so that they may be called through pointers.
    pub(super) pointed_at: HashSet<&'a str>,
    pub(super) metadata: Metadata<'a>,
}

#[derive(Debug)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) blocks: Vec<Block<'a>>,
}

/// A basic block.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    label: &'a str,
    /// Labels in the last instruction.
    targets: Vec<&'a str>,
    pub(super) calls: Vec<Call<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) callee: Callee<'a>,
    /// Metadata number of the source location.
    pub(super) location: Option<&'a str>,
}

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Callee<'a> {
    Named(&'a str),
    /// The text of inline assembly.
    Assembly(&'a str),
    /// A function that is unknown at compile time.
    Pointer,
}

impl Callee<'_> {
    /// Returns the callee's name for messages.
    pub(super) fn operation(&self) -> String {
        match self {
            // `#` omits the hash.
            Callee::Named(name) => format!("`{:#}`", demangle(name)),
            Callee::Assembly(text) => format!("`{}`", text.split_whitespace().next().unwrap_or(text)),
            Callee::Pointer => "a call through a pointer, as of a trait object,".to_owned(),
        }
    }
}

impl<'a> Function<'a> {
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.blocks.iter().flat_map(|block| &block.calls)
    }

    /// Returns the calls, each with the index of its block.
    pub(super) fn calls_with_blocks(&self) -> impl Iterator<Item = (usize, &Call<'a>)> {
        self.blocks.iter().enumerate().flat_map(|(number, block)| block.calls.iter().map(move |call| (number, call)))
    }

    /// Returns the successors of each block.
    pub(super) fn successors(&self) -> Vec<Vec<usize>> {
        let numbers: HashMap<&str, usize> = self.blocks.iter().enumerate().map(|(k, block)| (block.label, k)).collect();
        let known = |targets: &[&str]| targets.iter().filter_map(|target| numbers.get(target).copied()).collect();
        self.blocks.iter().map(|block| known(&block.targets)).collect()
    }
}

impl<'a> Module<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let mut module = Module::default();
        let groups = attribute_groups(text);
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("define ") {
                let body = lines.by_ref().take_while(|line| *line != "}");
                module.functions.extend(function(line, body));
            } else if line.starts_with("declare ") {
                module.declare(line, &groups);
            } else if line.starts_with('!') {
                module.metadata.add(line);
            }
        }
        module.pointed_at = pointed_at(text);
        module
    }

    fn declare(&mut self, line: &'a str, groups: &HashSet<&str>) {
        let is_convergent = line.split_whitespace().any(|word| word == "convergent" || groups.contains(word));
        if let Some((name, _)) = called(line).filter(|_| is_convergent) {
            self.convergent.insert(name);
        }
    }
}

/// Returns the names of the attribute groups that contain `convergent`.
fn attribute_groups(text: &str) -> HashSet<&str> {
    let groups = text.lines().filter_map(|line| line.strip_prefix("attributes ")?.split_once(" = "));
    groups.filter(|(_, list)| list.split_whitespace().any(|word| word == "convergent")).map(|(name, _)| name).collect()
}

fn function<'a>(head: &'a str, body: impl Iterator<Item = &'a str>) -> Option<Function<'a>> {
    let (name, _) = called(head)?;
    // The first block may have no label.
    let mut blocks = vec![Block::default()];
    for line in body {
        match (label(line), blocks.last_mut()) {
            (Some(label), _) => blocks.push(Block { label, ..Block::default() }),
            (None, Some(block)) => block.add(line),
            (None, None) => {}
        }
    }
    if blocks[0].targets.is_empty() && blocks[0].calls.is_empty() {
        blocks.remove(0);
    }
    Some(Function { name, blocks })
}

impl<'a> Block<'a> {
    fn add(&mut self, line: &'a str) {
        let targets = line.split("label %").skip(1).filter_map(|rest| Some(name(rest)?.0));
        self.targets.extend(targets);
        self.calls.extend(call(line));
    }
}

/// Returns the label if the line is one.
fn label(line: &str) -> Option<&str> {
    let (name, rest) = name(line)?;
    rest.starts_with(':').then_some(name)
}

/// Returns the call if the line is one.
fn call(line: &str) -> Option<Call<'_>> {
    let instruction = line.trim_start();
    let instruction = match instruction.starts_with('%') {
        true => instruction.split_once(" = ")?.1,
        false => instruction,
    };
    let kinds = ["call ", "tail call ", "musttail call ", "notail call "];
    let rest = kinds.iter().find_map(|kind| instruction.strip_prefix(kind))?;
    let location = rest.split_once("!dbg !").map(|(_, rest)| digits(rest));
    let callee = match rest.split_once(" asm ") {
        Some((_, rest)) => Callee::Assembly(rest.split('"').nth(1)?),
        None => match called(rest)? {
            (name, '@') => Callee::Named(name),
            _ => Callee::Pointer,
        },
    };
    Some(Call { callee, location })
}

/// Returns the first name that an opening parenthesis follows, and its sigil.
fn called(text: &str) -> Option<(&str, char)> {
    let sigils = text.char_indices().filter(|(_, sigil)| ['@', '%'].contains(sigil));
    sigils.into_iter().find_map(|(at, sigil)| {
        let (name, rest) = name(&text[at + 1..])?;
        rest.starts_with('(').then_some((name, sigil))
    })
}

/// Returns the names with `@` that no argument list follows.
fn pointed_at(text: &str) -> HashSet<&str> {
    let named = text.split('@').skip(1).filter_map(name);
    named.filter(|(_, rest)| !rest.starts_with('(')).map(|(name, _)| name).collect()
}

/// Returns the name at the start of `text`, quoted or not, and the rest.
fn name(text: &str) -> Option<(&str, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.split_once('"');
    }
    let is_other = |c: char| !(c.is_ascii_alphanumeric() || ['-', '$', '.', '_'].contains(&c));
    let end = text.find(is_other).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}
