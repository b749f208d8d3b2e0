// Puts by the stand-in for NVSHMEM beside this file. Compile both with
//
//   ./doorbell kernel build FOLDER --api nvshmem --include FOLDER
//
// after a change of either, or of kernels/include/doorbell/api.
extern "C" __global__ void stand_in_nvshmem(uint64_t local, uint64_t inbox, uint32_t bytes, uint32_t iterations,
                                            uint64_t *stamps, uint32_t *status) {
#ifdef __CUDA_ARCH__
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[0] = time;
  for (uint32_t i = 0; i < iterations; ++i) {
    stand_in_put(inbox, local, bytes, 1);
  }
  stand_in_quiet();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[1] = time;
  status[0] = 0;
#endif
}
