// A sum over all PEs by the stand-in for NVSHMEM beside this file, each number of which goes on to the next PE.
struct stand_in_location {
  uint64_t address;
  uint64_t key;
};

extern "C" __global__ void stand_in_nvshmem_sum(const stand_in_location *numbers, const stand_in_location *sums,
                                                const stand_in_location *copies, uint32_t role, uint32_t iterations,
                                                uint64_t *stamps, uint32_t *status) {
#ifdef __CUDA_ARCH__
  const int npes = nvshmemi_device_state_d.npes;
  const long number = *reinterpret_cast<const long *>(numbers[role].address);
  long *sum = reinterpret_cast<long *>(sums[role].address);
  long *copy = reinterpret_cast<long *>(copies[role].address);
  stand_in_send(sum, number, role);
  if (*static_cast<volatile long *>(sum) != number) {
    status[0] = 2;
    return;
  }
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[0] = time;
  for (uint32_t i = 0; i < iterations; ++i) {
    sum[i] = stand_in_sum(number + i);
    stand_in_send(copy + i, sum[i], (role + 1) % npes);
  }
  stand_in_barrier();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[1] = time;
  status[0] = nvshmemi_device_state_d.mype == role ? 0 : 1;
#endif
}
