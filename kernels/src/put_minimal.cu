// put_minimal: puts by the fewest accesses that an HCA requires, with each choice as a parameter.
//
// It measures what an HCA and a GPU's instructions cost apart from what the device library adds: no
// counters but those that the sharing needs, no error record, no choice at run time in the path.
//
//   build     48 bytes of WQE in 16-byte stores, more with further inline payload
//   order     job.operand, bits 0 to 7, below
//   doorbell  one store of 8 bytes
//   look      one load of the last word of a CQE; of several that are awaited, of the last
//
// Launch     any grid. Posters are threads (scope THREAD) or warps (WARP: the lanes build a WQE each
//            in lockstep, lane 0 publishes and rings once for all of them). Poster p uses queue pair
//            p % qp_count. Ping-pong: one thread on either side.
// Job        local, remote, bytes, stride, iterations (doorbells of a poster), warmup, opcode (PUT by
//            pointer or PUT_INLINE, at most 972 bytes: a WQE's length in 16 bytes has 6 bits), qp_count,
//            scope, role, inbox, samples, stamps. Thread t puts the message at t * stride.
//            operand  bits 0 to 7: the order of a post, one of kOrder...; bits 8 to 15: how posters
//                     share a queue pair, one of kSharing...; bit 16: only the last WQE of a doorbell
//                     has a CQE; bit 17: of several CQEs that are awaited, each is looked at, by the
//                     lanes of a warp at once; bit 18: all that a post needs of its queue pair and
//                     the segments of address and data are registers (but for kSharingVisits;
//                     kSharingLock, kSharingMarks and bit 20 beside it: put_minimal_rare);
//                     bit 19: when timed, the wait ends when nothing is in flight on any queue pair;
//                     bit 22: on the poster's own;
//                     bit 20: the CPU rings. The poster stores to the word that the CPU watches, behind
//                     what the order has before the record; the CPU writes record and doorbell
//                     (kSharingMarks, kSharingVisits, an inbox, a background: put_minimal_rare);
//                     bit 21: the background shares the probe's queue pair
//            staging  where the two keys of a put by pointer lie, uint32_t[2], or 0: registers. Each post
//                     loads this address too, as from a table of memory regions
//            peers, path  for put_dynamic
//            compare  WQEs of a doorbell (scope THREAD); in scope WARP it is the lanes of the warp
//            window   doorbells of a queue pair in flight; 1: each is awaited and timed
//            chunk_bytes  nanoseconds of rest between the doorbell and the first look, when timed
//            staging_bytes  not 0: thread 0 alone is timed, the threads of blocks 1 and up are its
//                     background: they put messages of so many bytes by pointer, staging_key doorbells of
//                     each queue pair in flight, until it has ended. Thread t of them puts at (t + 1) *
//                     stride; it uses queue pair t % qp_count when they share (then staging_key is
//                     the probe's window too), else 1 + t % (qp_count - 1)
//            staging_wire  with a background: uint64_t[2], zeroed: the probe has ended; threads of the
//                     background that have begun
// Order      kOrderNone is unsafe and a control only. What the others rely on is in the table of
//            docs/concepts.md. kOrderReadBack is for threads with kSharingOwn, bit 18 and at most 12 bytes
//            inline; in any other job that names it the order is kOrderSystem. Payload lies in memory that nobody writes during the run, but for the
//            word of a ping-pong, which is stored before the WQE.
// Who else   the HCA, and the posters that share the queue pair.
// Samples    window 1: nanoseconds of poster 0, uint64_t[iterations] from before the build until the
//            doorbell was stored; behind those uint64_t[iterations] until the CQE was seen; behind
//            those uint64_t[iterations] of the look, from its begin to its end. With an inbox,
//            uint64_t[iterations] of whole round trips, of role 0.
// Stamps     otherwise: first doorbell after the warm-up, last completion.
#include "minimal.cuh"

using namespace doorbell;
using namespace doorbell::minimal;

namespace {

// One poster a queue pair, in code of its own for the orders that are measured most.
template <typename kView, scope kScope>
__device__ __forceinline__ uint32_t own(const doorbell_qp *qps, const doorbell_job &job,
                                        const uint64_t *table) {
  switch (job.operand & 0xff) {
    case kOrderNone:
      return share<kOrderNone, kSharingOwn, kView, kScope>(qps, job, table);
    case kOrderFence:
      return share<kOrderFence, kSharingOwn, kView, kScope>(qps, job, table);
    case kOrderSystem:
      return share<kOrderSystem, kSharingOwn, kView, kScope>(qps, job, table);
    case kOrderNoRecord:
      return share<kOrderNoRecord, kSharingOwn, kView, kScope>(qps, job, table);
    case kOrderReadBack:
      if constexpr (kView::kThreeUnits) {
        return share<kOrderReadBack, kSharingOwn, kView, kScope>(qps, job, table);
      }
    default:
      return share<kOrderOfJob, kSharingOwn, kView, kScope>(qps, job, table);
  }
}

__device__ __forceinline__ uint32_t put_by(const doorbell_qp *qps, const doorbell_job &job,
                                           const doorbell_job *source) {
  // Through memory only where a table is given: else the keys are registers.
  const uint64_t *const table =
      job.staging != 0 && job.opcode == DOORBELL_OP_PUT ? &source->staging : nullptr;
  if (job.inbox != 0) {
    return thread_index() == 0 ? bounce<view_in_memory>(qps[0], job, nullptr) : DOORBELL_OK;
  }
  if ((job.operand >> 20 & 1) != 0) {
    switch (job.operand >> 8 & 0xff) {
      case kSharingLock:
        return share<kOrderOfJob, kSharingLock, view_rung_by_cpu<view_in_memory>>(qps, job, table);
      case kSharingTurns:
        return share<kOrderOfJob, kSharingTurns, view_rung_by_cpu<view_in_memory>>(qps, job, table);
      default:
        return share<kOrderOfJob, kSharingOwn, view_rung_by_cpu<view_in_memory>>(qps, job, table);
    }
  }
  if (job.staging_bytes != 0) {
    const uint64_t number = thread_index() - blockDim.x;
    if (blockIdx.x != 0) {
      switch (job.operand >> 8 & 0xff) {
        case kSharingLock:
          return background<kSharingLock>(qps, number, job);
        case kSharingTurns:
          return background<kSharingTurns>(qps, number, job);
        case kSharingMarks:
          return background<kSharingMarks, kOrderAgain>(qps, number, job);
        default:
          return background<kSharingOwn>(qps, number, job);
      }
    }
    if (threadIdx.x != 0) {
      return DOORBELL_OK;
    }
    if (!await_background(qps->deadline_ns, job, (gridDim.x - 1ull) * blockDim.x)) {
      return DOORBELL_ERROR_DEADLINE;
    }
  }
  const bool registers = (job.operand >> 18 & 1) != 0;
  const bool warps = job.scope == DOORBELL_SCOPE_WARP;
  const bool fenced = (job.operand & 0xff) == kOrderFence;
  using kept = view_in_registers<false>;
  switch (job.operand >> 8 & 0xff) {
    case kSharingLock:
      return fenced && !warps ? share<kOrderFence, kSharingLock, view_in_memory, scope::thread>(qps, job, table)
                              : share<kOrderOfJob, kSharingLock>(qps, job, table);
    case kSharingTurns:
      if (registers) {
        return share<kOrderOfJob, kSharingTurns, kept>(qps, job, table);
      }
      return !fenced ? share<kOrderOfJob, kSharingTurns>(qps, job, table)
             : warps ? share<kOrderFence, kSharingTurns, view_in_memory, scope::warp>(qps, job, table)
                     : share<kOrderFence, kSharingTurns, view_in_memory, scope::thread>(qps, job, table);
    case kSharingMarks:
      return share<kOrderAgain, kSharingMarks>(qps, job, table);
    case kSharingVisits:
      return share<kOrderOfJob, kSharingVisits>(qps, job, table);
    default:
      break;
  }
  if (registers) {
    const bool brief = !warps && (job.opcode == DOORBELL_OP_PUT || job.bytes <= 12);
    return brief ? own<view_in_registers<true>, scope::thread>(qps, job, table)
                 : share<kOrderOfJob, kSharingOwn, kept>(qps, job, table);
  }
  return warps ? share<kOrderOfJob, kSharingOwn>(qps, job, table)
               : own<view_in_memory, scope::thread>(qps, job, table);
}

}  // namespace

extern "C" __global__ void put_minimal(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  protocol::report(job, put_by(qps, job, jobs));
}
