// put_price: what a put costs its thread, and how long it takes until it is done.
//
// Launch     any grid. Each thread puts on its own (scope THREAD), or its warp together (WARP); thread
//            0 is the one that is timed, the others are its company.
// Job        local, remote, bytes, stride, iterations, warmup, opcode, qp_count, scope, samples. Thread
//            t uses queue pair t % qp_count (scope WARP: its warp's number % qp_count), and the
//            messages at local + t * stride and remote + t * stride. chunk_bytes: nanoseconds of rest
//            between a put and its quiet; then samples are of the quiet too.
// Order      that of the library; after each put a quiet, so that one put of a thread is in flight.
// Who else   all threads of the grid post to the same queue pairs.
// Samples    nanoseconds of thread 0: uint64_t[iterations] from before the put until it returned,
//            which is when it was rung for or left to others; behind those uint64_t[iterations] from
//            before the put until its completion was seen; with a rest, uint64_t[iterations] of the
//            quiet behind those.
#define DOORBELL_BACK_ENDS
#include "protocol.cuh"

using namespace doorbell;

namespace {

template <by kScope, bool kRests>
__device__ __forceinline__ uint32_t price(const queue_pair &qp, const doorbell_job &job,
                                          const request_list &list, bool timed) {
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  const uint64_t total = job.warmup + job.iterations;
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < total && status == DOORBELL_OK; ++turn) {
    const uint64_t start = global_time();
    status = post<kScope>(qp, list).status;
    const uint64_t posted_at = global_time();
    uint64_t quiet_at = posted_at;
    if (kRests) {
      protocol::rest(job.chunk_bytes);
      quiet_at = global_time();
    }
    if (status == DOORBELL_OK) {
      status = quiet<kScope>(qp);
    }
    if (timed && turn >= job.warmup) {
      const uint64_t done_at = global_time();
      samples[turn - job.warmup] = posted_at - start;
      samples[turn - job.warmup + job.iterations] = done_at - start;
      if (kRests) {
        samples[turn - job.warmup + 2 * job.iterations] = done_at - quiet_at;
      }
    }
  }
  return status;
}

// A plain put with its kind known at compile time, as callers of put() have it.
template <by kScope>
__device__ __forceinline__ uint32_t price(const queue_pair &qp, const doorbell_job &job,
                                          uint64_t offset, bool timed) {
  if (job.chunk_bytes != 0) {
    return price<kScope, true>(qp, job, protocol::request_of(job, job.opcode, offset), timed);
  }
  return job.opcode == DOORBELL_OP_PUT
             ? price<kScope, false>(qp, job, protocol::request_of(job, DOORBELL_OP_PUT, offset),
                                    timed)
             : price<kScope, false>(qp, job, protocol::request_of(job, job.opcode, offset), timed);
}

}  // namespace

extern "C" __global__ void put_price(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const uint64_t thread = thread_index();
  const bool warps = job.scope == DOORBELL_SCOPE_WARP;
  const uint32_t poster = static_cast<uint32_t>(warps ? protocol::warp_index() : thread);
  const queue_pair qp(&qps[poster % (job.qp_count == 0 ? 1 : job.qp_count)]);
  const uint64_t offset = thread * job.stride;
  const bool timed = thread == 0 && job.samples != 0;

  protocol::report(job, warps ? price<by::warp>(qp, job, offset, timed)
                              : price<by::thread>(qp, job, offset, timed));
}
