// Puts by the stand-in for GPUNetIO beside this file. Compile both with
//
//   ./doorbell kernel build FOLDER --api gpunetio --include FOLDER
//
// after a change of either, or of kernels/include/doorbell/api.
#include <doca_gpunetio_device.h>

extern "C" __global__ void stand_in_gpunetio(doca_gpu_dev_verbs_qp *qps, uint64_t local, uint32_t local_key,
                                             uint64_t remote, uint32_t remote_key, uint32_t bytes, uint32_t iterations,
                                             uint64_t *stamps, uint32_t *status) {
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[0] = time;
  uint64_t last = 0;
  for (uint32_t i = 0; i < iterations; ++i) {
    last = stand_in_put(&qps[0], remote, remote_key, local, local_key, bytes);
  }
  stand_in_wait(&qps[0], last);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[1] = time;
  status[0] = 0;
}
