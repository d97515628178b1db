//! What the operations of a warp give.

use crate::planted::{launch, run};
use catalogue::Args;
use cuda_std::{kernel, thread, warp};

kernel! {
    /// Every operation of a warp, in turn: thread `t` writes the result number `right` of its lane.
    pub fn exchanges(_arena, args: Args) {
        let t = thread::thread_idx_x();
        let value = t * t;
        let result = match args.right {
            0 => warp::shuffle(warp::FULL, value, t + 5),
            _ => {
                let up = warp::shuffle_up(warp::FULL, value, 3);
                let down = warp::shuffle_down(warp::FULL, value, 30);
                let odd = warp::ballot(warp::FULL, t % 2 == 1);
                up + down + odd + warp::reduce_add(warp::FULL, t) + warp::shuffle_xor(warp::FULL, value, 31)
            }
        };
        args.output.set(t.into(), result);
    }
}

#[test]
fn warp_operations_give_what_they_promise() {
    let square = |t: u32| t * t;
    for seed in 0..10 {
        let (report, shuffled) = run::<exchanges>(launch(1, 32).seed(seed), false);
        assert!(report.is_clean(), "{report}");
        let expected: Vec<u32> = (0..32).map(|t| square((t + 5) % 32)).collect();
        assert_eq!(shuffled[..32], expected);
        let (report, sums) = run::<exchanges>(launch(1, 32).seed(seed), true);
        assert!(report.is_clean(), "{report}");
        for t in 0..32u32 {
            let up = square(if t < 3 { t } else { t - 3 });
            let down = square(if t < 2 { t + 30 } else { t });
            assert_eq!(sums[t as usize], up + down + 0xaaaa_aaaa + 31 * 16 + square(31 - t), "lane {t}");
        }
    }
}
