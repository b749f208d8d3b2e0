// PEs of one node, by the stand-in for NVSHMEM beside this file: each stores its number to the heap of every PE, and adds
// it to a sum at all of them by the multicast object of the team.
struct stand_in_location {
  uint64_t address;
  uint64_t key;
};

extern "C" __global__ void stand_in_nvshmem_node(const stand_in_location *numbers, const stand_in_location *sums,
                                                 const stand_in_location *copies, uint32_t role, uint64_t *stamps,
                                                 uint32_t *status) {
#ifdef __CUDA_ARCH__
  const nvshmemi_device_host_state_t &host = nvshmemi_device_state_d;
  const nvshmemi_team_t *world = host.team_pool[NVSHMEM_TEAM_WORLD_INDEX];
  const nvshmemi_team_t *shared = host.team_pool[NVSHMEM_TEAM_SHARED_INDEX];
  uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  stamps[0] = stamps[1] = time;
  if (host.node_npes != host.npes || host.node_mype != host.mype || shared->size != host.npes ||
      !world->are_gpus_p2p_connected || !world->is_team_node ||
      host.job_connectivity != NVSHMEMI_JOB_GPU_LDST_ATOMICS) {
    status[0] = 1;
    return;
  }
  const long number = *reinterpret_cast<const long *>(numbers[role].address);
  const uint64_t base = reinterpret_cast<uint64_t>(host.heap_base);
  for (int pe = 0; pe < host.npes; ++pe) {
    const uint64_t there = reinterpret_cast<uint64_t>(host.peer_heap_base_p2p[pe]) + (copies[role].address - base);
    reinterpret_cast<long *>(there)[role] = number;
  }
  if (world->nvls_rsc_base_ptr != nullptr) {
    const uint64_t all = *static_cast<const uint64_t *>(world->nvls_rsc_base_ptr) + (sums[role].address - base);
    asm volatile("multimem.red.relaxed.sys.global.add.u64 [%0], %1;" : : "l"(all), "l"(number) : "memory");
  } else {
    for (int pe = 0; pe < host.npes; ++pe) {
      const uint64_t there = reinterpret_cast<uint64_t>(host.peer_heap_base_p2p[pe]) + (sums[role].address - base);
      atomicAdd_system(reinterpret_cast<unsigned long long *>(there), (unsigned long long)number);
    }
  }
  status[0] = 0;
#endif
}
