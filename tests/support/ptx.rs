//! A minimal parser for PTX, to search for instructions that must not be in it.

/// A module's text, without comments.
pub struct Code(String);

/// An instruction or directive: the text between semicolons, braces and line ends.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a>(&'a str);

impl Code {
    pub fn new(text: &str) -> Self {
        Code(text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n"))
    }

    pub fn statements(&self) -> impl Iterator<Item = Statement<'_>> {
        self.0.split(['\n', ';', '{', '}']).map(Statement::new).filter(|s| !s.0.is_empty())
    }

    /// Returns the first word after each occurrence of a directive.
    pub fn directive(&self, name: &str) -> Vec<String> {
        let words = |line: &str| line.split([' ', '\t', ',']).map(str::to_owned).collect::<Vec<_>>();
        let lines = self.0.lines().map(|line| words(line.trim()));
        lines.filter(|words| words[0] == name).filter_map(|words| words.get(1).cloned()).collect()
    }

    /// Returns each kernel, with the text up to the next one.
    pub fn kernels(&self) -> Vec<Code> {
        self.0.split(".entry").skip(1).map(|rest| Code(format!(".entry{rest}"))).collect()
    }

    /// Returns the number of instructions with the given prefix.
    pub fn count(&self, prefix: &str) -> usize {
        self.statements().filter(|s| s.opcode().starts_with(prefix)).count()
    }

    /// Returns the names of the kernels.
    pub fn entries(&self) -> Vec<String> {
        let names = self.0.split(".entry").skip(1);
        names.map(|rest| rest.trim_start().split(['(', ' ', '\t', '\n']).next().unwrap_or_default().into()).collect()
    }

    /// Returns the number of loads of global memory that do not use the read-only path.
    pub fn plain_loads(&self) -> usize {
        let is_plain =
            |opcode: &str| opcode.starts_with("ld.") && opcode.contains(".global") && !opcode.contains(".nc");
        self.statements().filter(|s| is_plain(s.opcode())).count()
    }

    /// Returns the statements that need a stack or call functions.
    pub fn stack_and_calls(&self) -> Vec<String> {
        let is_call = |s: &Statement<'_>| s.opcode().split('.').next() == Some("call");
        let declares = |s: &Statement<'_>| s.0.split_whitespace().any(|word| matches!(word, ".local" | ".func"));
        self.statements().filter(|s| is_call(s) || declares(s)).map(|s| s.0.to_owned()).collect()
    }
}

impl<'a> Statement<'a> {
    /// Returns the statement without its label and predicate.
    fn new(text: &'a str) -> Self {
        let mut text = text.trim();
        if let Some((label, rest)) = text.split_once(':') {
            // State spaces such as `shared::cta` contain colons too.
            if !label.contains(char::is_whitespace) && !rest.starts_with(':') {
                text = rest.trim_start();
            }
        }
        if text.starts_with('@') {
            text = text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
        }
        Statement(text)
    }

    /// Returns the opcode with its suffixes, such as `ld.global.nc.b32`.
    pub fn opcode(&self) -> &'a str {
        self.0.split_whitespace().next().unwrap_or_default()
    }
}

/// Returns accesses that do not name global, shared or parameter space, and conversions to and from generic addresses.
pub fn memory_faults(code: &Code) -> Vec<String> {
    code.statements().filter(|s| is_fault(s.opcode())).map(|s| s.0.to_owned()).collect()
}

fn is_fault(opcode: &str) -> bool {
    let mut parts = opcode.split('.');
    let name = parts.next().unwrap_or_default();
    let has =
        |part: &str| parts.clone().any(|p| p == part || p.strip_prefix(part).is_some_and(|p| p.starts_with("::")));
    match name {
        "cvta" => true,
        "ld" | "ldu" | "st" | "atom" | "red" => !["global", "shared", "param"].into_iter().any(has),
        _ => false,
    }
}

/// A section of the list of compiled modules.
pub struct Section<'a>(&'a str);

impl<'a> Section<'a> {
    pub fn find(index: &'a str, name: &str) -> Option<Self> {
        let (_, rest) = index.split_once(&format!("\n[{name}]\n"))?;
        Some(Section(rest.split("\n[").next().unwrap_or_default()))
    }

    /// Returns the names of the modules.
    pub fn modules(index: &'a str) -> impl Iterator<Item = &'a str> {
        let names = index.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        names.filter(|name| !name.contains('.'))
    }

    /// Returns the targets of a module, such as `sm_75`.
    pub fn targets(index: &'a str, module: &str) -> impl Iterator<Item = &'a str> {
        let names = index.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        names.filter_map(move |name| name.strip_prefix(module)?.strip_prefix('.'))
    }

    /// Returns a string value, which must have no escapes.
    pub fn string(&self, key: &str) -> Option<&'a str> {
        let mut values = self.0.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        values.next()?.strip_prefix('"')?.strip_suffix('"')
    }

    /// Returns the files with their packages.
    pub fn files(&self) -> Vec<String> {
        let lists = self.0.lines().filter_map(|line| line.strip_prefix("files.")?.split_once(" = "));
        let names = lists.flat_map(|(package, list)| {
            let names = list.split('"').skip(1).step_by(2);
            names.map(move |name| format!("{package}/{name}"))
        });
        names.collect()
    }
}
