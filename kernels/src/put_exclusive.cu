// put_exclusive: puts by threads that hold a queue pair each, by the accesses that its HCA requires.
//
// Launch     any grid. Thread t uses queue pair t, which is exclusive and has a collapsed CQ; there are as
//            many queue pairs as threads.
// Job        local, remote, bytes, stride, iterations (doorbells of a thread), warmup, qp_count, samples, stamps.
//            The message of thread t is at t * stride. compare: puts of a doorbell, 0 is one. chunk_bytes:
//            nanoseconds of rest between a doorbell and its quiet.
// Order      that of exclusive.cuh, by the queue pair's kind of record. With samples, a quiet after each
//            doorbell; else one at the end.
// Who else   nobody posts to the queue pairs.
// Samples    nanoseconds of thread 0: uint64_t[iterations] from before the put until the doorbell was
//            rung; behind those uint64_t[iterations] until its completion was seen; with a rest,
//            uint64_t[iterations] of the quiet behind those.
// Stamps     without samples: first put after the warm-up, last completion.
#include "doorbell/exclusive.cuh"
#include "protocol.cuh"

using namespace doorbell;
using exclusive::record;
using exclusive::transfer;

namespace {

// The puts of a doorbell.
template <record kRecord>
__device__ __forceinline__ uint32_t post(exclusive::poster<kRecord> &poster, const transfer &what,
                                         uint32_t puts) {
  return puts <= 1 ? poster.put(what) : poster.put_batch(puts, [&](uint32_t) { return what; });
}

template <record kRecord>
__device__ __forceinline__ uint32_t price(exclusive::poster<kRecord> &poster, const doorbell_job &job,
                                          const transfer &what) {
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  const bool timed = thread_index() == 0;
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < job.warmup + job.iterations && status == DOORBELL_OK; ++turn) {
    const uint64_t start = global_time();
    status = post(poster, what, low(job.compare));
    const uint64_t posted_at = global_time();
    if (job.chunk_bytes != 0) {
      protocol::rest(job.chunk_bytes);
    }
    const uint64_t quiet_at = global_time();
    if (status == DOORBELL_OK) {
      status = poster.quiet();
    }
    if (timed && turn >= job.warmup) {
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

template <record kRecord>
__device__ __forceinline__ uint32_t rate(exclusive::poster<kRecord> &poster, const doorbell_job &job,
                                         const transfer &what) {
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < job.warmup + job.iterations && status == DOORBELL_OK; ++turn) {
    if (turn == job.warmup) {
      protocol::stamp_start(job, global_time());
    }
    status = post(poster, what, low(job.compare));
  }
  if (status == DOORBELL_OK) {
    status = poster.quiet();
  }
  protocol::stamp_end(job, global_time());
  return status;
}

template <record kRecord>
__device__ __forceinline__ uint32_t run(const doorbell_qp *qp, const doorbell_job &job,
                                        const transfer &what) {
  exclusive::poster<kRecord> poster(qp);
  const uint32_t status =
      job.samples != 0 ? price(poster, job, what) : rate(poster, job, what);
  const uint32_t closed = poster.close();
  return status != DOORBELL_OK ? status : closed;
}

}  // namespace

extern "C" __global__ void put_exclusive(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const uint64_t thread = thread_index();
  if (thread >= job.qp_count) {
    protocol::report(job, DOORBELL_ERROR_ARGUMENT);
    return;
  }
  const doorbell_qp *const qp = &qps[thread];
  const uint64_t offset = thread * job.stride;
  const transfer what(job.remote + offset, job.remote_key, job.local + offset, job.local_key,
                      static_cast<uint32_t>(job.bytes));
  const uint32_t flags = qp->flags;
  protocol::report(job, (flags & DOORBELL_QP_RECORD_LAST) != 0 ? run<record::last>(qp, job, what)
                        : (flags & DOORBELL_QP_NO_RECORD) != 0 ? run<record::none>(qp, job, what)
                                                               : run<record::first>(qp, job, what));
}
