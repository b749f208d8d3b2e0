// Kernels with one mistake each.
#include <cuda/atomic>
#include <cstdint>

extern "C" __global__ void wild_store(uint32_t* p, uint32_t at) {
  if (threadIdx.x == 5) p[at] = 1;
}

extern "C" __global__ void wild_load(uint64_t address, uint64_t* out) { *out = *(uint64_t*)address; }

extern "C" __global__ void wild_atomic(uint32_t* p) { atomicAdd(p, 1); }

extern "C" __global__ void misaligned(char* p) { *(uint32_t*)(p + threadIdx.x) = 7; }

extern "C" __global__ void shared_overrun(uint32_t at, uint32_t* out) {
  extern __shared__ uint32_t box[];
  box[at] = at;
  out[0] = box[at];
}

extern "C" __global__ void other_local(uint64_t* out, uint32_t at) {
  volatile uint32_t own[4];
  own[at & 3] = at;
  if (threadIdx.x == 0) out[0] = (uint64_t)&own[0];
  __syncthreads();
  if (threadIdx.x == 1) *(volatile uint32_t*)out[0] = 1;
  out[1] = own[at & 1];
}

extern "C" __global__ void early_exit(uint32_t* out) {
  if (threadIdx.x < 4) return;
  asm volatile("bar.sync 3;");
  out[0] = 1;
}

extern "C" __global__ void barrier_id(uint32_t id) { asm volatile("barrier.sync %0;" ::"r"(id)); }

extern "C" __global__ void barrier_count(uint32_t count) {
  asm volatile("barrier.sync 1, %0;" ::"r"(count));
}

extern "C" __global__ void barrier_counts_differ() {
  asm volatile("barrier.sync 1, %0;" ::"r"(threadIdx.x < 32 ? 64 : 96));
}

extern "C" __global__ void not_in_mask(uint32_t* out) {
  out[threadIdx.x] = __shfl_sync(0xfffffffe, threadIdx.x, 1);
}

extern "C" __global__ void never_fills(uint32_t* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x, 1);
  else __syncthreads();
}

extern "C" __global__ void two_shuffles(uint32_t* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x, 1);
  else out[threadIdx.x] = __shfl_xor_sync(0xffffffff, threadIdx.x, 1) + 1;
}

extern "C" __global__ void traps(uint32_t n) {
  if (threadIdx.x == n) __trap();
}

extern "C" __global__ void waits_forever(uint32_t* flag) {
  cuda::atomic_ref<uint32_t, cuda::thread_scope_system> f(*flag);
  if (threadIdx.x < 3) {
    while (f.load(cuda::memory_order_acquire) == 0) {
    }
  }
}

extern "C" __global__ void spins_forever(volatile uint32_t* out) {
  for (uint32_t i = 0;; i++) *out = i;
}

extern "C" __global__ void fine(uint32_t* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
