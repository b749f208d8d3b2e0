// What the threads of a warp, a block and a grid do together.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdint>
namespace cg = cooperative_groups;

extern "C" __global__ void shuffles(const uint64_t* in, uint64_t* out) {
  uint64_t x = in[threadIdx.x];
  uint64_t* o = out + threadIdx.x * 12;
  o[0] = __shfl_sync(~0u, x, 5); o[1] = __shfl_up_sync(~0u, x, 3); o[2] = __shfl_down_sync(~0u, x, 7, 16);
  o[3] = __shfl_xor_sync(~0u, x, 9); o[4] = __shfl_sync(~0u, (uint32_t)x, threadIdx.x * 3, 8);
  o[5] = (uint64_t)__shfl_xor_sync(~0u, (double)x, 1); o[6] = (uint64_t)__shfl_down_sync(~0u, (float)(x & 0xff), 2);
  o[7] = __ballot_sync(~0u, x & 1); o[8] = __any_sync(~0u, x == 3); o[9] = __all_sync(~0u, x != 3);
  o[10] = __match_any_sync(~0u, x % 5);
  int all;
  o[11] = __match_all_sync(~0u, (uint32_t)x >> 31, &all) + all;
  __syncwarp();
}

extern "C" __global__ void reductions(const uint32_t* in, uint32_t* out) {
  uint32_t x = in[threadIdx.x];
  uint32_t* o = out + threadIdx.x * 8;
#if __CUDA_ARCH__ >= 800
  o[0] = __reduce_add_sync(~0u, x); o[1] = __reduce_min_sync(~0u, x); o[2] = __reduce_max_sync(~0u, (int)x);
  o[3] = __reduce_and_sync(~0u, x); o[4] = __reduce_or_sync(~0u, x); o[5] = __reduce_xor_sync(~0u, x);
#endif
  o[6] = __activemask(); o[7] = 0;
  for (int i = 16; i > 0; i /= 2) x += __shfl_xor_sync(~0u, x, i);
  o[7] = x;
}

extern "C" __global__ void barriers(const uint32_t* in, uint32_t* out) {
  uint32_t x = in[threadIdx.x];
  uint32_t count = __syncthreads_count(x & 1), both = __syncthreads_and(x > 2), any = __syncthreads_or(x == 5);
  __barrier_sync(3);
  if (threadIdx.x < 32) __barrier_sync_count(4, 64); else __barrier_sync_count(4, 64);
  asm volatile("barrier.cta.sync.aligned 5;" ::: "memory");
  asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %0, 0; barrier.cta.red.and.pred q, 6, p; }" ::"r"(x));
  if (threadIdx.x < 32) asm volatile("bar.arrive 7, 64;"); else asm volatile("bar.sync 7, 64;");
  out[threadIdx.x] = count * 100 + both * 10 + any;
}

extern "C" __global__ void groups(const uint32_t* in, uint32_t* out) {
  cg::thread_block block = cg::this_thread_block();
  uint32_t x = in[block.thread_rank()];
  uint32_t* o = out + block.thread_rank() * 8;
  auto tile = cg::tiled_partition<8>(block);
  o[0] = cg::reduce(tile, x, cg::plus<uint32_t>()); o[1] = cg::inclusive_scan(tile, x); o[2] = tile.meta_group_rank();
  auto warp = cg::tiled_partition<32>(block);
  o[3] = cg::reduce(warp, (int)x, cg::greater<int>()); o[4] = warp.any(x == 3);
  if (x & 1) { auto some = cg::coalesced_threads(); o[5] = some.size(); } else { o[5] = 0; }
  auto odd = cg::labeled_partition(warp, x & 3);
  o[6] = odd.size();
  block.sync();
  o[7] = cg::exclusive_scan(warp, x);
}

extern "C" __global__ void grid(uint32_t* sums, uint32_t* out) {
  cg::grid_group all = cg::this_grid();
  for (int round = 0; round < 3; round++) {
    if (threadIdx.x == 0) atomicAdd(sums + round, blockIdx.x + 1);
    all.sync();
    if (all.thread_rank() == 0) out[round] = sums[round];
  }
  if (all.thread_rank() == 0) out[3] = (uint32_t)all.size();
}
