// Copies beside the thread: cp.async, bulk copies, and the barriers in shared memory that await them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_pipeline.h>
#include <cstdint>
namespace cg = cooperative_groups;

extern "C" __global__ void primitives(const uint4* in, uint4* out) {
  __shared__ uint4 stage[2][64];
  for (int i = 0; i < 2; i++) {
    __pipeline_memcpy_async(&stage[i][threadIdx.x], in + i * 64 + threadIdx.x, 16);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  out[threadIdx.x] = stage[0][63 - threadIdx.x];
  __pipeline_wait_prior(0);
  __syncthreads();
  out[64 + threadIdx.x] = stage[1][63 - threadIdx.x];
  __pipeline_memcpy_async(&stage[0][threadIdx.x], in + threadIdx.x, 16, 12);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[128 + threadIdx.x] = stage[0][threadIdx.x];
}

#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void block_barrier(const uint32_t* in, uint32_t* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ uint32_t stage[64];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int round = 0; round < 4; round++) {
    stage[threadIdx.x] = in[threadIdx.x] + round;
    auto token = bar.arrive();
    bar.wait(std::move(token));
    out[round * 64 + threadIdx.x] = stage[63 - threadIdx.x];
    bar.arrive_and_wait();
  }
}

extern "C" __global__ void group_copy(const uint32_t* in, uint32_t* out) {
  extern __shared__ uint32_t stage[];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, stage, in, sizeof(uint32_t) * 64);
  cg::wait(block);
  out[threadIdx.x] = stage[63 - threadIdx.x];
}

extern "C" __global__ void pipelined(const uint32_t* in, uint32_t* out) {
  __shared__ uint32_t stage[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int i = 0; i < 4; i++) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, stage[i & 1], in + i * 64, sizeof(uint32_t) * 64, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[i * 64 + threadIdx.x] = stage[i & 1][63 - threadIdx.x];
    pipe.consumer_release();
  }
}

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
extern "C" __global__ void bulk(const uint32_t* in, uint32_t* out) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(16) uint32_t stage[256];
  __shared__ barrier bar;
  if (threadIdx.x == 0) { init(&bar, blockDim.x); cuda::device::experimental::fence_proxy_async_shared_cta(); }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(stage, in, cuda::aligned_size_t<16>(sizeof(stage)), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(stage));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < 256; i += blockDim.x) stage[i] += 1;
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out, stage, sizeof(stage));
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
    cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
  }
}

extern "C" __global__ void bulk_reduce(uint32_t* sum) {
  __shared__ alignas(16) uint32_t ones[64];
  ones[threadIdx.x] = threadIdx.x;
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_reduce_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, cuda::ptx::op_add, sum, ones, sizeof(ones));
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
  }
}
#endif

extern "C" __global__ void phases(uint64_t* out) {
  __shared__ uint64_t bar;
  uint32_t at = (uint32_t)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) {
#if __CUDA_ARCH__ >= 800
    uint64_t state;
    uint32_t done;
    asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    uint32_t pending;
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[0] = pending;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "l"(state) : "memory");
    out[1] = done;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "l"(state) : "memory");
    out[2] = done;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at), "l"(state) : "memory");
    out[3] = done;
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
#endif
  }
}
