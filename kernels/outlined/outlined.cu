// The functions of doorbell/outlined.cuh, to be compiled apart and linked (-rdc=true).
#include "doorbell/outlined.cuh"

#include "doorbell/doorbell.cuh"

using namespace doorbell;

namespace {

// Of one thread alone: without what lanes need to post together, which takes half of the registers.
__device__ __forceinline__ posted put_alone(const queue_pair &qp, uint64_t remote,
                                            uint32_t remote_key, uint64_t local,
                                            uint32_t local_key, uint64_t bytes) {
  const request_list list{transfer_request(kOpcodeWrite, source::device, {remote, remote_key},
                                           {local, local_key}, bytes),
                          {},
                          1};
  reservation mine{0, 0, false};
  const uint32_t status = begin_post(qp, list, mine);
  return status == DOORBELL_OK ? finish_post(qp, list, mine) : posted{status, 0};
}

}  // namespace

extern "C" {

__device__ uint32_t doorbell_put(const doorbell_qp *qp, uint64_t remote, uint32_t remote_key,
                                 uint64_t local, uint32_t local_key, uint64_t bytes,
                                 uint64_t *ticket) {
  const posted sent = put_alone(queue_pair(qp), remote, remote_key, local, local_key, bytes);
  *ticket = sent.ticket;
  return sent.status;
}

__device__ uint32_t doorbell_wait(const doorbell_qp *qp, uint64_t ticket) {
  return wait(queue_pair(qp), ticket);
}

__device__ uint32_t doorbell_quiet(const doorbell_qp *qp) { return quiet(queue_pair(qp)); }

__device__ uint32_t doorbell_put_and_wait(const doorbell_qp *qp, uint64_t remote,
                                          uint32_t remote_key, uint64_t local,
                                          uint32_t local_key, uint64_t bytes) {
  const queue_pair pair(qp);
  const posted sent = put_alone(pair, remote, remote_key, local, local_key, bytes);
  return sent.status == DOORBELL_OK ? wait(pair, sent.ticket) : sent.status;
}
}
