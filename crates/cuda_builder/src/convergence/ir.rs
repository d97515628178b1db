//! The little that has to be understood of LLVM's language: functions, blocks, calls and where they come from.

use super::metadata::Metadata;
use rustc_demangle::demangle;
use std::collections::{HashMap, HashSet};

/// A module in LLVM's language.
#[derive(Debug, Default)]
pub(super) struct Module<'a> {
    /// The functions that are defined.
    pub(super) functions: Vec<Function<'a>>,
    /// The functions that are declared as operations of several threads.
    pub(super) convergent: HashSet<&'a str>,
    /// The names that appear elsewhere than in direct calls and definitions.
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
    /// The labels that its last instruction names.
    targets: Vec<&'a str>,
    pub(super) calls: Vec<Call<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) callee: Callee<'a>,
    /// The number of the source location among the metadata.
    pub(super) location: Option<&'a str>,
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Callee<'a> {
    Named(&'a str),
    /// The text of inline assembly.
    Assembly(&'a str),
    /// A function that is not known when compiling.
    Pointer,
}

impl Callee<'_> {
    /// What is called, in words.
    pub(super) fn operation(&self) -> String {
        match self {
            // Without the hash.
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

    /// The calls, each with the number of its block.
    pub(super) fn placed_calls(&self) -> impl Iterator<Item = (usize, &Call<'a>)> {
        self.blocks.iter().enumerate().flat_map(|(number, block)| block.calls.iter().map(move |call| (number, call)))
    }

    /// The blocks that may run after each block.
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

/// The groups of attributes that say `convergent`.
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

/// The label that a line is.
fn label(line: &str) -> Option<&str> {
    let (name, rest) = name(line)?;
    rest.starts_with(':').then_some(name)
}

/// The call that a line is.
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

/// The first name in front of a parenthesis, and its sigil.
fn called(text: &str) -> Option<(&str, char)> {
    let sigils = text.char_indices().filter(|(_, sigil)| ['@', '%'].contains(sigil));
    sigils.into_iter().find_map(|(at, sigil)| {
        let (name, rest) = name(&text[at + 1..])?;
        rest.starts_with('(').then_some((name, sigil))
    })
}

/// The names with `@` that stand elsewhere than in front of arguments.
fn pointed_at(text: &str) -> HashSet<&str> {
    let named = text.split('@').skip(1).filter_map(name);
    named.filter(|(_, rest)| !rest.starts_with('(')).map(|(name, _)| name).collect()
}

/// The name, in quotation marks or not, that `text` begins with, and what follows.
fn name(text: &str) -> Option<(&str, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.split_once('"');
    }
    let is_other = |c: char| !(c.is_ascii_alphanumeric() || ['-', '$', '.', '_'].contains(&c));
    let end = text.find(is_other).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

pub(super) fn digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}
