// put_rate: as many operations as many threads can post.
//
// Launch     any grid. Each thread posts on its own (scope THREAD), or its warp together (WARP).
// Job        local, remote, bytes, stride, iterations (of each thread), warmup, opcode, operand,
//            compare, window, qp_count, scope, stamps. Thread t uses queue pair t % qp_count (scope
//            WARP: its warp's number % qp_count), and the messages at local + t * stride and
//            remote + t * stride.
// Window     at most that many operations of a thread are in flight; 0: as many as the rings hold.
// Order      that of the library; threads are not ordered among each other.
// Who else   all threads of the grid post to the same queue pairs.
// Stamps     earliest start after a thread's warm-up, latest end of a thread's quiet.
#define DOORBELL_BACK_ENDS
#include "protocol.cuh"

using namespace doorbell;

namespace {

template <by kScope>
__device__ __forceinline__ uint32_t run(const queue_pair &qp, const doorbell_job &job,
                                        const request_list &list, uint64_t count) {
  protocol::window window(job);
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t status = window.admit<kScope>(qp, post<kScope>(qp, list));
    if (status != DOORBELL_OK) {
      return status;
    }
  }
  return quiet<kScope>(qp);
}

// Warm-up and measurement are two turns of one loop, so that the post is in the code once. Lanes that
// began together begin each turn together: who parted in the warm-up would post apart from then on.
template <by kScope>
__device__ __forceinline__ uint32_t measure(const queue_pair &qp, const doorbell_job &job,
                                            const request_list &list) {
  const uint32_t together = __activemask();
  uint32_t status = DOORBELL_OK;
#pragma unroll 1
  for (uint32_t measured = 0; measured < 2; ++measured) {
    __syncwarp(together);
    if (status == DOORBELL_OK) {
      if (measured != 0) {
        protocol::stamp_start(job, global_time());
      }
      status = run<kScope>(qp, job, list, measured != 0 ? job.iterations : job.warmup);
    }
  }
  protocol::stamp_end(job, global_time());
  return status;
}

// A put has a loop of its own, in which its WQE is known but for the index.
template <by kScope>
__device__ __forceinline__ uint32_t rate(const queue_pair &qp, const doorbell_job &job,
                                         uint64_t offset) {
  return job.opcode == DOORBELL_OP_PUT
             ? measure<kScope>(qp, job, protocol::request_of(job, DOORBELL_OP_PUT, offset))
             : measure<kScope>(qp, job, protocol::request_of(job, job.opcode, offset));
}

}  // namespace

extern "C" __global__ void put_rate(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const uint64_t thread = thread_index();
  const bool warps = job.scope == DOORBELL_SCOPE_WARP;
  const uint32_t poster = static_cast<uint32_t>(warps ? protocol::warp_index() : thread);
  const queue_pair qp(&qps[poster % (job.qp_count == 0 ? 1 : job.qp_count)]);
  const uint64_t offset = thread * job.stride;

  protocol::report(job,
                   warps ? rate<by::warp>(qp, job, offset) : rate<by::thread>(qp, job, offset));
}
