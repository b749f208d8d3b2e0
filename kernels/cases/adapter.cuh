// What the cases of adapters share: cases that are right on an HCA which keeps InfiniBand's order, and
// wrong on one that places, refuses or shows otherwise (docs/adapters.md).
#ifndef DOORBELL_CASE_ADAPTER_CUH
#define DOORBELL_CASE_ADAPTER_CUH

#include "case.cuh"

namespace cases {

using doorbell::detail::write_fenced;

// The flag behind all messages.
__device__ __forceinline__ uint64_t flag_offset(const doorbell_job *job) {
  return job->iterations * job->stride;
}

// A WRITE of `value` to the flag.
__device__ __forceinline__ work_request flag_write(const doorbell_job *job, uint64_t value) {
  work_request flag =
      transfer_request(kOpcodeWrite, source::in_operand,
                       {job->remote + flag_offset(job), job->remote_key}, {}, sizeof(uint64_t));
  flag.operand = value;
  return flag;
}

// An atomic that adds one to the flag; the old value lands behind the sender's messages.
__device__ __forceinline__ work_request flag_add(const doorbell_job *job) {
  return atomic_request(kOpcodeFetchAdd, {job->remote + flag_offset(job), job->remote_key},
                        {job->local + flag_offset(job), job->local_key}, 1, 0);
}

// Fills message `turn`: its first and its last word say which it is.
__device__ __forceinline__ void fill(const doorbell_job *job, uint64_t turn) {
  uint64_t *data = reinterpret_cast<uint64_t *>(job->local + turn * job->stride);
  data[0] = turn + 1;
  data[job->bytes / 8 - 1] = turn + 1;
}

__device__ __forceinline__ bool is_whole(const doorbell_job *job, uint64_t turn) {
  const uint64_t *data = reinterpret_cast<const uint64_t *>(job->inbox + turn * job->stride);
  return data[0] == turn + 1 && data[job->bytes / 8 - 1] == turn + 1;
}

// The receiver: waits for the flag of each message and looks at the message.
__device__ __forceinline__ uint32_t receive_by_flag(const doorbell_qp *qps,
                                                    const doorbell_job *job) {
  const uint64_t *flag = reinterpret_cast<const uint64_t *>(job->inbox + flag_offset(job));
  for (uint64_t turn = 0; turn < job->iterations; ++turn) {
    if (!wait_at_least(&qps[0], flag, turn + 1)) {
      return DOORBELL_ERROR_DEADLINE;
    }
    if (!is_whole(job, turn)) {
      return DOORBELL_ERROR_DATA;
    }
  }
  return DOORBELL_OK;
}

// A put of message `turn`.
__device__ __forceinline__ work_request message(const doorbell_job *job, uint64_t turn) {
  const uint64_t offset = turn * job->stride;
  return transfer_request(kOpcodeWrite, source::device, {job->remote + offset, job->remote_key},
                          {job->local + offset, job->local_key}, job->bytes);
}

#ifdef DOORBELL_BACK_ENDS
// Posts the request that is number `index` of the queue pair, on any adapter, with fences of system scope.
__device__ __forceinline__ posted send(const queue_pair &qp, const work_request &request,
                                       uint64_t index) {
  if (qp.is(DOORBELL_QP_EFA)) {
    return post(qp, {request, {}, 1});
  }
  write_wqe(qp, request, index, true);
  ring_in_order(qp, index + 1);
  return {DOORBELL_OK, index + 1};
}
#endif

}  // namespace cases

#endif  // DOORBELL_CASE_ADAPTER_CUH
