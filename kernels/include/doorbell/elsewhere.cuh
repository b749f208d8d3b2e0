// The back ends of queue pairs that are not mlx5's send rings, chosen by a flag of the queue pair: commands that
// the CPU posts (proxy.cuh), EFA (efa.cuh). One test finds all of them; the rest is out of line.
#ifndef DOORBELL_ELSEWHERE_CUH
#define DOORBELL_ELSEWHERE_CUH

#include "doorbell/proxy.cuh"

#ifdef DOORBELL_BACK_ENDS
#include "doorbell/efa.cuh"

namespace doorbell {

inline __device__ __noinline__ posted submit_elsewhere(const doorbell_qp *qp, work_request first,
                                                       work_request second, uint32_t count) {
  if ((qp->flags & DOORBELL_QP_EFA) != 0) {
    return detail::submit_to_efa(qp, first, second, count);
  }
  return submit_to_cpu(qp, first, second, count);
}

inline __device__ __noinline__ uint32_t wait_elsewhere(const doorbell_qp *qp, uint64_t ticket) {
  if ((qp->flags & DOORBELL_QP_EFA) != 0) {
    return detail::wait_for_efa(qp, ticket);
  }
  return wait_for_cpu(qp, ticket);
}

inline __device__ __noinline__ uint32_t quiet_elsewhere(const doorbell_qp *qp) {
  return (qp->flags & DOORBELL_QP_PROXY) != 0
             ? quiet_for_cpu(qp)
             : wait_elsewhere(qp, detail::posted_to(counters_of(qp)));
}

// Checks once whether the queue pair is in error.
inline __device__ __noinline__ uint32_t check_elsewhere(const doorbell_qp *qp) {
  if ((qp->flags & DOORBELL_QP_PROXY) != 0) {
    return load_acquire_system(&reinterpret_cast<doorbell_error *>(qp->error)->status);
  }
  const uint32_t status = detail::efa_progress(qp);
  if (status != DOORBELL_OK) {
    return status;
  }
  return load_acquire_device(&counters_of(qp)->poison) != 0 ? DOORBELL_ERROR_POISONED
                                                            : DOORBELL_OK;
}

}  // namespace doorbell

#endif  // DOORBELL_BACK_ENDS: else memory.cuh has other names for proxy.cuh

#endif  // DOORBELL_ELSEWHERE_CUH
