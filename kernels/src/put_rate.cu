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
#include "protocol.cuh"

using namespace doorbell;

namespace {

// One instance for each kind of loop, so that what a WQE is made of is known outside of it.
template <by kScope>
__device__ __forceinline__ uint32_t run(const queue_pair &qp, const doorbell_job &job,
                                        const request_list &list, uint64_t count) {
  // Two halves of a window: when one is posted, the other must be done.
  const uint64_t half = job.window > 1 ? job.window / 2 : job.window;
  uint64_t left = half;
  uint64_t previous = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const posted sent = post<kScope>(qp, list);
    if (sent.status != DOORBELL_OK) {
      return sent.status;
    }
    if (half != 0 && --left == 0) {
      const uint32_t status = wait<kScope>(qp, job.window > 1 ? previous : sent.ticket);
      if (status != DOORBELL_OK) {
        return status;
      }
      previous = sent.ticket;
      left = half;
    }
  }
  return DOORBELL_OK;
}

template <by kScope>
__device__ __forceinline__ uint32_t measure(const queue_pair &qp, const doorbell_job &job,
                                            const request_list &list) {
  uint32_t status = DOORBELL_OK;
  for (uint32_t phase = 0; phase < 2 && status == DOORBELL_OK; ++phase) {
    if (phase == 1) {
      protocol::stamp_start(job, global_time());
    }
    status = run<kScope>(qp, job, list, phase == 0 ? job.warmup : job.iterations);
  }
  return status;
}

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
  const uint32_t poster = static_cast<uint32_t>(warps ? thread / 32 : thread);
  const queue_pair qp(&qps[poster % (job.qp_count == 0 ? 1 : job.qp_count)]);
  const uint64_t offset = thread * job.stride;

  uint32_t status =
      warps ? rate<by::warp>(qp, job, offset) : rate<by::thread>(qp, job, offset);
  if (status == DOORBELL_OK) {
    status = warps ? quiet<by::warp>(qp) : quiet(qp);
  }
  protocol::stamp_end(job, global_time());
  protocol::report(job, status);
}
