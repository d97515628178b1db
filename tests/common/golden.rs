//! Reading golden files.

use libtest_mimic::Failed;
use serde_json::Value;
use slm::Boundary;

/// Returns the list of `value` with the given key.
pub fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], Failed> {
    value[key].as_array().map(Vec::as_slice).ok_or_else(|| format!("no list {key}").into())
}

/// Returns the cases of a file. It must have `count` of them, so that a truncated file fails.
pub fn cases(file: &str, count: usize) -> Result<Vec<Value>, Failed> {
    let file: Value = serde_json::from_str(file)?;
    let cases = list(&file, "cases")?;
    match cases.len() == count {
        true => Ok(cases.to_vec()),
        false => Err(format!("{} cases instead of {count}", cases.len()).into()),
    }
}

/// Returns the text of `value` with the given key.
pub fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str, Failed> {
    value[key].as_str().ok_or_else(|| format!("no text {key}").into())
}

/// Returns the boundary with a name. `outside` is the constant.
pub fn boundary<T>(name: &str, outside: T) -> Result<Boundary<T>, Failed> {
    Ok(match name {
        "zero" => Boundary::Zero,
        "constant" => Boundary::Constant(outside),
        "nearest" => Boundary::Nearest,
        "reflect" => Boundary::Reflect,
        "mirror" => Boundary::Mirror,
        "wrap" => Boundary::Wrap,
        _ => return Err(format!("the boundary {name} is unknown").into()),
    })
}
