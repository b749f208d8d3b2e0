// scalars: a stream of puts whose kernel takes fields of the job one by one, not the job.
//
// Compiled by: nvcc -ptx -O3 -std=c++17 -arch=compute_75 -I kernels/include scalars.cu; .version
// lowered to 8.2.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

extern "C" __global__ void scalars(const doorbell_qp *qps, uint64_t local, uint32_t local_key,
                                   uint64_t remote, uint32_t remote_key, uint32_t bytes,
                                   uint64_t iterations, uint64_t *stamps, uint32_t *status) {
  const queue_pair qp(&qps[0]);
  stamps[0] = global_time();
  uint32_t result = DOORBELL_OK;
  for (uint64_t n = 0; n < iterations && result == DOORBELL_OK; ++n) {
    result = put(qp, {remote, remote_key}, {local, local_key}, bytes).status;
  }
  if (result == DOORBELL_OK) {
    result = quiet(qp);
  }
  stamps[1] = global_time();
  status[0] = result;
}
