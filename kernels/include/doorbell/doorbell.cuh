// Doorbell's device library: RDMA operations from CUDA kernels. See kernels/README.md.
#ifndef DOORBELL_DOORBELL_CUH
#define DOORBELL_DOORBELL_CUH

#include "doorbell/abi.h"
#include "doorbell/operations.cuh"
#include "doorbell/order.cuh"
#include "doorbell/stage.cuh"

#endif  // DOORBELL_DOORBELL_CUH
