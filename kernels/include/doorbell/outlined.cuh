// Operations as functions that are compiled apart: for callers whose registers are worth more than a call.
//
// A kernel that posts by the functions of operations.cuh carries the library's registers on top of
// its own, whether it posts or not. These four are compiled by themselves, from
// kernels/outlined/outlined.cu, with a bound on their registers, and linked:
//
//   nvcc -rdc=true -maxrregcount=64 -c outlined.cu      nvcc -rdc=true -c caller.cu      nvcc both
//
// The caller then pays for the registers that the calling convention does not preserve. Each call reads the
// descriptor, and posts for its thread alone: lanes of a warp do not share a doorbell. `kernels/weight`
// says what either costs.
//
// Memory order and status: as operations.cuh says. Any thread. Keys: as the WQE holds them.
#ifndef DOORBELL_OUTLINED_CUH
#define DOORBELL_OUTLINED_CUH

#include <stdint.h>

#include "doorbell/abi.h"

extern "C" {

// Puts `bytes` bytes. Returns a status; where it is DOORBELL_OK, *ticket is what doorbell_wait() takes.
__device__ uint32_t doorbell_put(const doorbell_qp *qp, uint64_t remote, uint32_t remote_key,
                                 uint64_t local, uint32_t local_key, uint64_t bytes,
                                 uint64_t *ticket);

// Waits until what a ticket stands for is done.
__device__ uint32_t doorbell_wait(const doorbell_qp *qp, uint64_t ticket);

// Waits until everything posted before the call is done.
__device__ uint32_t doorbell_quiet(const doorbell_qp *qp);

// A put that is awaited.
__device__ uint32_t doorbell_put_and_wait(const doorbell_qp *qp, uint64_t remote,
                                          uint32_t remote_key, uint64_t local,
                                          uint32_t local_key, uint64_t bytes);
}

#endif  // DOORBELL_OUTLINED_CUH
