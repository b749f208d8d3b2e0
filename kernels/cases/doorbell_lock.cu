// doorbell_lock: a spin lock around the doorbell that excludes, but does not acquire.
//
// The lock is taken by a relaxed compare-and-swap and left by a relaxed store. Two threads are never
// inside together, yet who comes next may read the tail as it was before: both write the same slot, and
// one message is lost. Fixed by acquire and release.
#include "case.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t doorbell_lock(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device> lock(*shared_word(job, 0));
  uint64_t *next = shared_word(job, 1);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    deadline limit(qps[0].deadline_ns);
    uint64_t open = 0;
    while (!lock.compare_exchange_strong(
        open, 1, kMended ? cuda::memory_order_acquire : cuda::memory_order_relaxed)) {
      open = 0;
      if (limit.due() && limit.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    const uint64_t tail = *next;
    write_put(qp, job, tail);
    ring_in_order(qp, tail + 1);
    *next = tail + 1;
    lock.store(0, kMended ? cuda::memory_order_release : cuda::memory_order_relaxed);
  }
  return wait_completed(qp, job->iterations);
}

DOORBELL_CASE(doorbell_lock)
