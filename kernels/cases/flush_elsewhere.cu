// flush_elsewhere: data over one HCA of the node, the READ that flushes it over the other, which signals.
//
// A READ makes visible what its own HCA has written before; another HCA's writes are on another path. The
// flag is seen before the data. Fixed by the READ on the data's queue pair: one flush for each HCA.
#include "adapter.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t flush_elsewhere(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    return receive_by_flag(qps, job);
  }
  const queue_pair data_pair(&qps[0]);
  const queue_pair flag_pair(&qps[1]);
  const uint64_t of_data = kMended ? 2 : 1;
  const uint64_t of_flag = kMended ? 1 : 2;
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    fill(job, turn);
    const work_request read = transfer_request(
        kOpcodeRead, source::device, {job->remote + turn * job->stride, job->remote_key},
        {job->local + flag_offset(job), job->local_key}, sizeof(uint64_t));
    write_wqe(data_pair, message(job, turn), of_data * turn, true);
    if (kMended) {
      write_wqe(data_pair, read, of_data * turn + 1, true);
    }
    ring_in_order(data_pair, of_data * (turn + 1));
    uint32_t status = wait_completed(data_pair, of_data * (turn + 1));
    if (!kMended && status == DOORBELL_OK) {
      write_wqe(flag_pair, read, of_flag * turn, true);
      ring_in_order(flag_pair, of_flag * turn + 1);
      status = wait_completed(flag_pair, of_flag * turn + 1);
    }
    if (status != DOORBELL_OK) {
      return status;
    }
    write_wqe(flag_pair, flag_write(job, turn + 1), of_flag * (turn + 1) - 1, true);
    ring_in_order(flag_pair, of_flag * (turn + 1));
  }
  return wait_completed(flag_pair, of_flag * job->iterations);
}

DOORBELL_CASE(flush_elsewhere)
