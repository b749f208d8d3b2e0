// unregistered_result: the word that an atomic returns its old value to is not registered.
//
// Registration of that buffer had failed, and nobody looked. The HCA checks the key before it sends the atomic: it
// completes with a local protection error, and the receiver waits for ever for a signal that never left. Fixed by
// a word of registered memory.
#include "adapter.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t unregistered_result(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    return receive_by_flag(qps, job);
  }
  const queue_pair qp(&qps[0]);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    fill(job, turn);
    write_wqe(qp, message(job, turn), 2 * turn, true);
    const location flag{job->remote + flag_offset(job), job->remote_key};
    const uint64_t result = kMended ? job->local + flag_offset(job) : job->staging;
    write_wqe(qp, atomic_request(kOpcodeFetchAdd, flag, {result, job->local_key}, 1, 0),
              2 * turn + 1, true);
    ring_in_order(qp, 2 * turn + 2);
  }
  return kMended ? wait_completed(qp, 2 * job->iterations) : uint32_t{DOORBELL_OK};
}

DOORBELL_CASE(unregistered_result)
