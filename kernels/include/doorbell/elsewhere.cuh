// The back ends of queue pairs that are not mlx5's send rings, chosen by a flag of the queue pair: commands that
// the CPU posts (proxy.cuh), EFA (efa.cuh), GPI (gpi.cuh). One test finds all of them; the rest is out of line.
#ifndef DOORBELL_ELSEWHERE_CUH
#define DOORBELL_ELSEWHERE_CUH

#include "doorbell/proxy.cuh"

#ifdef DOORBELL_BACK_ENDS
#include "doorbell/efa.cuh"
#include "doorbell/gpi.cuh"

namespace doorbell {

// `adds`: a single request may be an atomic whose old value nobody reads.
inline __device__ __noinline__ posted submit_elsewhere(const doorbell_qp *qp, work_request first,
                                                       work_request second, uint32_t count,
                                                       bool adds = false) {
  if ((qp->flags & DOORBELL_QP_EFA) != 0) {
    return detail::submit_to_efa(qp, first, second, count);
  }
  if ((qp->flags & DOORBELL_QP_GPI) != 0) {
    return detail::submit_to_gpi(qp, first, second, count, adds);
  }
  return submit_to_cpu(qp, first, second, count);
}

inline __device__ __noinline__ uint32_t wait_elsewhere(const doorbell_qp *qp, uint64_t ticket) {
  if ((qp->flags & DOORBELL_QP_EFA) != 0) {
    return detail::wait_for_efa(qp, ticket);
  }
  return (qp->flags & DOORBELL_QP_GPI) != 0 ? detail::wait_for_gpi(qp, ticket)
                                            : wait_for_cpu(qp, ticket);
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
  if ((qp->flags & DOORBELL_QP_EFA) != 0) {
    const uint32_t status = detail::efa_progress(qp);
    if (status != DOORBELL_OK) {
      return status;
    }
  } else if ((load_acquire_system(reinterpret_cast<const uint64_t *>(gpi_of(qp)->counter)) &
              kGpiCounterError) != 0) {
    return fail(qp, DOORBELL_ERROR_CQE, 0, 0);
  }
  return load_acquire_device(&counters_of(qp)->poison) != 0 ? DOORBELL_ERROR_POISONED
                                                            : DOORBELL_OK;
}

}  // namespace doorbell

#endif  // DOORBELL_BACK_ENDS: else memory.cuh has other names for proxy.cuh

#endif  // DOORBELL_ELSEWHERE_CUH
