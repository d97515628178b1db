//! The lanes of a warp: what they do together, and what their accesses cost.
//!
//! Operations of a warp, such as shuffles:
//! * `operations`: the calls of lanes, which of them belong together, and the results
//! * `meetings`: lanes that wait until all lanes of the mask have made the call
//!
//! Lanes run one after another, so the requests that they make together on a device are assembled afterwards:
//!
//! ```text
//!  visit of a lane ─► requests ─► ambiguous ── in step, or shown by the addresses ──────► counts
//!                                     │ kept until the warp meets                            ▲
//!                                     └─► settling ─► alignment, colours: addresses of a line│
//!                                                  └► anchors: other lines ──────────────────┘
//! ```
//!
//! * `requests`: collects the visits of all lanes to all sites since the warp last met
//! * `ambiguous`: the requests at one site, counted at once or kept; `settling`: those that were kept
//! * `alignment`, `colours`: lanes that belong together according to their addresses at one site
//! * `anchors`: visits that certainly happened together, and iterations of loops, which other sites can adopt
//! * `costs`: the costs of a request: wavefronts, sectors, degree

mod alignment;
mod ambiguous;
mod anchors;
mod colours;
mod costs;
mod meetings;
mod operations;
mod requests;
mod settling;

pub(crate) use operations::{Answer, LaneInput, Meeting};
pub(crate) use requests::Requests;
