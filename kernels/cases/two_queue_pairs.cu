// two_queue_pairs: data goes out on one queue pair, the flag behind it on another.
//
// Messages of one queue pair arrive in order; of two, in any. Role 1 finds the flag and reads data that
// has not arrived. Fixed by waiting for the data's completion before the flag is posted.
#include "case.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t two_queue_pairs(const doorbell_qp *qps, const doorbell_job *job) {
  const uint64_t flag_at = job->iterations * job->stride;
  if (job->role == 1) {
    const uint64_t *flag = reinterpret_cast<const uint64_t *>(job->inbox + flag_at);
    for (uint64_t turn = 0; turn < job->iterations; ++turn) {
      if (!wait_at_least(&qps[0], flag, turn + 1)) {
        return DOORBELL_ERROR_DEADLINE;
      }
      const uint64_t *data = reinterpret_cast<const uint64_t *>(job->inbox + turn * job->stride);
      if (data[job->bytes / 8 - 1] != turn + 1) {
        return DOORBELL_ERROR_DATA;
      }
    }
    return DOORBELL_OK;
  }
  const queue_pair data_pair(&qps[0]);
  const queue_pair flag_pair(&qps[1]);
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    const uint64_t offset = turn * job->stride;
    reinterpret_cast<uint64_t *>(job->local + offset)[job->bytes / 8 - 1] = turn + 1;
    write_put(data_pair, job, turn);
    work_request flag = transfer_request(kOpcodeWrite, source::in_operand,
                                         {job->remote + flag_at, job->remote_key}, {}, 8);
    flag.operand = turn + 1;
    write_wqe(flag_pair, flag, turn, true);
    ring_in_order(data_pair, turn + 1);
    if (kMended) {
      const uint32_t status = wait_completed(data_pair, turn + 1);
      if (status != DOORBELL_OK) {
        return status;
      }
    }
    ring_in_order(flag_pair, turn + 1);
  }
  const uint32_t status = wait_completed(data_pair, job->iterations);
  return status == DOORBELL_OK ? wait_completed(flag_pair, job->iterations) : status;
}

DOORBELL_CASE(two_queue_pairs)
