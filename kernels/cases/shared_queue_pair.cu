// shared_queue_pair: two blocks post to one queue pair, and each rings for itself.
//
// The index that a doorbell carries promises every WQE below it. Whoever rings with an index of its own
// promises the WQE of the other poster, which may not be written yet; and the record may go backwards.
// Mended by the baton: ring when everything before is written, then hand on.
#include "case.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t shared_queue_pair(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role != 0) {
    return DOORBELL_OK;
  }
  const queue_pair qp(&qps[0]);
  uint64_t last = 0;
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    const reservation mine = reserve(qp, 1);
    write_put(qp, job, mine.base);
    if (kMended) {
      const uint32_t status = wait_for_baton(qp.shared, mine.base);
      if (status != DOORBELL_OK) {
        return status;
      }
    }
    ring_in_order(qp, mine.end);
    if (kMended) {
      store_release_device(&qp.counters->ready, mine.end);
    }
    last = mine.end;
  }
  return wait_completed(qp.shared, last);
}

DOORBELL_CASE(shared_queue_pair)
