// shared_queue_pair: two blocks post to one queue pair, and each rings for itself.
//
// The index that a doorbell carries promises every WQE below it. Whoever rings with an index of its own
// promises the WQE of the other poster, which may not be written yet; and the record may go backwards.
// Fixed by the baton: ring when everything before is written, then hand on.
#include "case.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t shared_queue_pair(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  uint64_t *reserved = shared_word(job, 0);
  uint64_t *ready = shared_word(job, 1);
  uint64_t last = 0;
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    const uint64_t mine = cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(*reserved)
                              .fetch_add(1, cuda::memory_order_relaxed);
    write_put(qp, job, mine);
    if (kMended && !wait_at_least(&qps[0], ready, mine)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    ring_in_order(qp, mine + 1);
    if (kMended) {
      set_release(ready, mine + 1);
    }
    last = mine + 1;
  }
  return wait_completed(qp, last);
}

DOORBELL_CASE(shared_queue_pair)
