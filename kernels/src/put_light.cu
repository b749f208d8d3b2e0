// put_light: puts that cost a caller few registers, by threads with a queue pair each.
//
// Launch     any grid. Thread t uses queue pair t, which is exclusive and has a collapsed CQ; there are as
//            many queue pairs as threads.
// Job        local, remote, bytes, stride, iterations, warmup, qp_count, samples, stamps. The message of
//            thread t is at t * stride. chunk_bytes: nanoseconds of rest between a put and its quiet.
// Order      that of light.cuh. With samples, a quiet after each put; else one at the end.
// Who else   nobody posts to the queue pairs.
// Samples    nanoseconds of thread 0: uint64_t[iterations] from before the put until the doorbell was
//            rung; behind those uint64_t[iterations] until its completion was seen; with a rest,
//            uint64_t[iterations] of the quiet behind those.
// Stamps     without samples: first put after the warm-up, last completion.
#include "doorbell/light.cuh"
#include "protocol.cuh"

using namespace doorbell;

namespace {

__device__ __forceinline__ uint32_t price(const doorbell_qp *qp, const doorbell_job &job,
                                          const light::transfer &what) {
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < job.warmup + job.iterations && status == DOORBELL_OK; ++turn) {
    const uint64_t start = global_time();
    status = light::put(qp, what);
    const uint64_t posted_at = global_time();
    if (job.chunk_bytes != 0) {
      protocol::rest(job.chunk_bytes);
    }
    const uint64_t quiet_at = global_time();
    if (status == DOORBELL_OK) {
      status = light::quiet(qp);
    }
    if (turn >= job.warmup && thread_index() == 0) {
      const uint64_t done_at = global_time();
      samples[turn - job.warmup] = posted_at - start;
      samples[turn - job.warmup + job.iterations] = done_at - start;
      if (job.chunk_bytes != 0) {
        samples[turn - job.warmup + 2 * job.iterations] = done_at - quiet_at;
      }
    }
  }
  return status;
}

__device__ __forceinline__ uint32_t rate(const doorbell_qp *qp, const doorbell_job &job,
                                         const light::transfer &what) {
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < job.warmup + job.iterations && status == DOORBELL_OK; ++turn) {
    if (turn == job.warmup) {
      protocol::stamp_start(job, global_time());
    }
    status = light::put(qp, what);
  }
  if (status == DOORBELL_OK) {
    status = light::quiet(qp);
  }
  protocol::stamp_end(job, global_time());
  return status;
}

}  // namespace

extern "C" __global__ void put_light(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const uint64_t thread = thread_index();
  if (thread >= job.qp_count) {
    protocol::report(job, DOORBELL_ERROR_ARGUMENT);
    return;
  }
  const uint64_t offset = thread * job.stride;
  const light::transfer what(job.remote + offset, job.remote_key, job.local + offset, job.local_key,
                             static_cast<uint32_t>(job.bytes));
  protocol::report(job, job.samples != 0 ? price(&qps[thread], job, what)
                                         : rate(&qps[thread], job, what));
}
