// Sums over the GPUs of a node by multimem: by loads that add up what all ranks hold, and by additions at all ranks.
#include <cstdint>

struct location {
  uint64_t address, key;
};

struct state {
  uint64_t factor, all;
};

extern "C" __global__ void node_sum(const location *in, uint64_t in_all, const location *loaded, const state *added,
                                    uint32_t role, uint64_t *my_done, uint32_t *status) {
  uint64_t begin, end;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  const uint32_t i = threadIdx.x;
  uint32_t sum;
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];"
               : "=r"(sum)
               : "l"(in_all + i * sizeof(uint32_t))
               : "memory");
  reinterpret_cast<uint32_t *>(loaded[role].address)[i] = sum;
  const uint32_t own = reinterpret_cast<const uint32_t *>(in[role].address)[i];
  asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;"
               :
               : "l"(added->all + i * sizeof(uint32_t)), "r"(own * (uint32_t)added->factor)
               : "memory");
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
  if (i == 0) my_done[0] = end - begin;
  status[i] = 0;
}
