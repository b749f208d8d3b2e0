// ready_index: the ready index is raised without a release.
//
// Thread 0 of the grid writes a WQE and raises `ready`; thread 1, which finds it raised, writes its own
// and rings for both. Without a release the index may be seen before the WQE: the HCA fetches what is
// half written and completes with a local error.
#include "case.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t ready_index(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  const uint64_t number = thread_index();
  uint64_t *ready = shared_word(job, 0);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    const uint64_t mine = 2 * turn + number;
    if (!wait_at_least(&qps[0], ready, mine)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    write_put(qp, job, mine);
    if (number == 1) {
      ring_in_order(qp, mine + 1);
    }
    if (kMended) {
      set_release(ready, mine + 1);
    } else {
      set_relaxed(ready, mine + 1);
    }
  }
  return wait_completed(qp, 2 * job->iterations);
}

DOORBELL_CASE(ready_index)
