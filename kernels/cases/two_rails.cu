// two_rails: data goes out over one HCA of the node, its flag over another when the data is complete.
//
// The completion says that the first HCA at the receiver has the data; the second one's write reaches
// GPU memory on another path and may be seen first. Fixed by a READ behind the data, on its queue pair:
// when the READ is complete, what was written before it is where everybody sees it.
#include "adapter.cuh"

using namespace cases;

template <bool kMended>
__device__ uint32_t two_rails(const doorbell_qp *qps, const doorbell_job *job) {
  if (job->role == 1) {
    return receive_by_flag(qps, job);
  }
  const queue_pair data_pair(&qps[0]);
  const queue_pair flag_pair(&qps[1]);
  const uint64_t per_turn = kMended ? 2 : 1;
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    fill(job, turn);
    write_wqe(data_pair, message(job, turn), per_turn * turn, true);
    if (kMended) {
      write_wqe(data_pair,
                transfer_request(kOpcodeRead, source::device,
                                 {job->remote + turn * job->stride, job->remote_key},
                                 {job->local + flag_offset(job), job->local_key},
                                 sizeof(uint64_t)),
                per_turn * turn + 1, true);
    }
    ring_in_order(data_pair, per_turn * (turn + 1));
    const uint32_t status = wait_completed(data_pair, per_turn * (turn + 1));
    if (status != DOORBELL_OK) {
      return status;
    }
    write_wqe(flag_pair, flag_write(job, turn + 1), turn, true);
    ring_in_order(flag_pair, turn + 1);
  }
  return wait_completed(flag_pair, job->iterations);
}

DOORBELL_CASE(two_rails)
