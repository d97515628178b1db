use super::{Copies, align_barriers};

/// The end of a module: declarations, attributes, and locations in line 5 of `helper` and line 9 of `kernel`.
const REST: &str = r#"
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) unnamed_addr #0
declare void @llvm.nvvm.barrier.cta.sync.all(i32) unnamed_addr #0
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() unnamed_addr #1

attributes #0 = { convergent nocallback nounwind }
attributes #1 = { nocallback nounwind }

!1 = !DIFile(filename: "kernels/sum.rs", directory: "/")
!2 = distinct !DISubprogram(name: "kernel", linkageName: "kernel", scope: null, file: !1, line: 8, scopeLine: 8)
!3 = distinct !DISubprogram(name: "helper", linkageName: "_Rhelper", scope: null, file: !1, line: 3, scopeLine: 3)
!4 = distinct !DILexicalBlock(scope: !3, file: !1, line: 4, column: 1)
!5 = !DILocation(line: 5, column: 7, scope: !4, inlinedAt: !6)
!6 = distinct !DILocation(line: 9, column: 3, scope: !2)
!7 = !DILocation(line: 5, column: 7, scope: !4, inlinedAt: !8)
!8 = distinct !DILocation(line: 9, column: 3, scope: !2)
!9 = !DILocation(line: 12, column: 1, scope: !2)
"#;

const SHUFFLE: &str = "tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 0, i32 1, i32 31), !dbg";
const BARRIER: &str = "tail call void @llvm.nvvm.barrier.cta.sync.all(i32 0), !dbg";

/// Returns the copies in `kernel`, with `one` and `other` in the arms of a branch, and `last` after them.
fn branch(one: &str, other: &str, last: &str) -> Copies {
    let kernel = format!(
        "define ptx_kernel void @kernel(i32 %0) unnamed_addr #2 !dbg !2 {{\n\
         start:\n  %c = icmp eq i32 %0, 0, !dbg !9\n  br i1 %c, label %bb1, label %bb2, !dbg !9\n\n\
         bb1:                                              ; preds = %start\n  {one}\n  br label %bb3\n\n\
         bb2:\n  {other}\n  br label %bb3\n\nbb3:\n  {last}\n  ret void, !dbg !9\n}}\n"
    );
    Copies::find(&(kernel + REST))
}

fn texts(copies: &Copies) -> Vec<String> {
    copies.warp_operations.iter().map(ToString::to_string).collect()
}

#[test]
fn copies_in_two_arms_are_found_with_their_lines() {
    let copies = branch(&format!("%1 = {SHUFFLE} !5"), &format!("%2 = {SHUFFLE} !7"), "");
    let expected = "`llvm.nvvm.shfl.sync.bfly.i32`\n  in helper (kernels/sum.rs:5:7)\n  in kernel (kernels/sum.rs:9:3)";
    assert_eq!(texts(&copies), [expected]);
    assert!(!copies.barriers);
}

#[test]
fn operations_of_different_lines_are_no_copies() {
    let copies = branch(&format!("%1 = {SHUFFLE} !5"), &format!("%2 = {SHUFFLE} !9"), "");
    assert_eq!(texts(&copies), [""; 0]);
}

#[test]
fn iterations_of_an_unrolled_loop_are_no_copies() {
    let [first, second] = ["%3", "%4"].map(|result| format!("{result} = {SHUFFLE} !5"));
    assert_eq!(texts(&branch("", "", &format!("{first}\n  {second}"))), [""; 0]);
}

/// Lanes that take the arm execute their first iteration there, the other lanes after it.
#[test]
fn an_iteration_that_some_lanes_skip_is_a_copy() {
    let copies = branch(
        &format!("%1 = {SHUFFLE} !5"),
        "",
        &format!("br label %bb4\n\nbb4:\n  %2 = {SHUFFLE} !7\n  br i1 %c, label %bb4, label %bb5\n\nbb5:"),
    );
    assert_eq!(copies.warp_operations.len(), 1);
}

#[test]
fn copied_barriers_are_reported_separately() {
    let copies = branch(&format!("{BARRIER} !5"), &format!("{BARRIER} !7"), "");
    assert!(copies.barriers && copies.warp_operations.is_empty());
    let once = branch("", "", &format!("{BARRIER} !5"));
    assert!(!once.barriers);
}

#[test]
fn products_of_matrices_are_found_in_assembly() {
    let product = |result| {
        format!("{result} = tail call i32 asm sideeffect \"mma.sync.aligned.m8n8k16 $0;\", \"=&r\"() #3, !dbg !5")
    };
    let copies = branch(&product("%1"), &product("%2"), "");
    assert!(texts(&copies)[0].starts_with("`mma.sync.aligned.m8n8k16`\n  in helper"), "{copies:?}");
}

#[test]
fn operations_of_single_threads_may_be_copied() {
    let index = "tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !5";
    assert_eq!(texts(&branch(&format!("%1 = {index}"), &format!("%2 = {index}"), "")), [""; 0]);
}

/// Returns the copies in a module that begins with `global`. `kernel` executes `call` in two arms, and `helper` contains
/// `operation`.
fn helper(global: &str, call: &str, operation: &str) -> Copies {
    let text = format!(
        "{global}\ndefine internal fastcc i32 @helper(i32 %v) unnamed_addr #0 !dbg !3 {{\n  %1 = {operation} !5\n  ret i32 0\n}}\n\
         define ptx_kernel void @kernel(i32 %0, ptr %f) #0 !dbg !2 {{\n\
         start:\n  switch i32 %0, label %bb1 [\n    i32 7, label %bb2\n  ]\n\n\
         bb1:\n  %1 = {call}, !dbg !9\n  ret void\n\nbb2:\n  %2 = {call}, !dbg !9\n  ret void\n}}\n{REST}"
    );
    Copies::find(&text)
}

#[test]
fn calls_of_functions_with_operations_are_operations() {
    let call = "tail call fastcc noundef i32 @helper(i32 noundef 1) #4";
    let copies = helper("", call, SHUFFLE);
    assert_eq!(texts(&copies), ["`helper`\n  in kernel (kernels/sum.rs:12:1)"]);
    let barriers = helper("", call, "add i32 %v, 1, !dbg");
    assert!(barriers.warp_operations.is_empty() && !barriers.barriers);
}

#[test]
fn calls_through_pointers_are_operations_if_they_may_reach_one() {
    let call = "tail call noundef i32 %f(i32 noundef 1) #4";
    assert_eq!(texts(&helper("", call, SHUFFLE)), [""; 0]);
    let table = "@vtable.0 = private unnamed_addr constant <{ ptr }> <{ ptr @helper }>, align 8";
    let copies = helper(table, call, SHUFFLE);
    assert!(texts(&copies)[0].starts_with("a call through a pointer"), "{copies:?}");
}

#[test]
fn long_chains_of_calls_take_little_time() {
    const COUNT: usize = 20_000;
    // Each function calls the next one, one of them through a pointer.
    let callee = |k| if k == COUNT / 2 { "%p".to_owned() } else { format!("@f{}", k + 1) };
    let function = |k| format!("define void @f{k}(ptr %p) {{\n  call void {}(ptr %p), !dbg !9\n}}\n", callee(k));
    let functions: String = (0..COUNT).map(function).collect();
    let last = format!("define void @f{COUNT}(ptr %p) {{\n  %1 = {SHUFFLE} !5\n  ret void\n}}\n");
    let table = format!("@table = constant <{{ ptr }}> <{{ ptr @f{} }}>\n{functions}{last}", COUNT / 2 + 1);
    assert_eq!(texts(&helper(&table, "call void @f0(ptr %f)", SHUFFLE)), ["`f0`\n  in kernel (kernels/sum.rs:12:1)"]);
}

#[test]
fn barriers_that_were_not_copied_are_aligned() {
    assert_eq!(align_barriers("\tbarrier.sync \t0;\n\tbarrier.sync \t1;\n"), "\tbar.sync \t0;\n\tbarrier.sync \t1;\n");
}

#[test]
fn locations_in_a_circle_end() {
    let (declarations, _) = REST.split_once("\n!1 = ").unwrap();
    for circle in ["inlinedAt: !5)", "inlinedAt: !6)\n!6 = !DILocation(scope: !4, inlinedAt: !5)"] {
        let metadata = format!("!4 = !DILexicalBlock(scope: !4)\n!5 = !DILocation(line: 5, scope: !4, {circle}\n");
        let copies = Copies::find(&format!("define void @kernel() {{\n  {SHUFFLE} !5\n}}\n{declarations}\n{metadata}"));
        assert_eq!(texts(&copies), [""; 0]);
    }
}

#[test]
fn many_loops_take_little_time() {
    let block = |k: usize| format!("b{k}:\n  br i1 %c, label %b{}, label %b{}\n", k + 1, k * 7919 % 10_000);
    let blocks: String = (0..10_000).map(block).collect();
    let function = format!("define void @kernel() {{\n{blocks}b10000:\n  %1 = {SHUFFLE} !5\n  ret void\n}}\n");
    assert_eq!(texts(&Copies::find(&(function + REST))), [""; 0]);
}
