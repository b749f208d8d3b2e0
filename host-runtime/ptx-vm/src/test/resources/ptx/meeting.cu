// Threads that wait for each other: in a warp, in a block, over the grid.
#include <cuda/atomic>
#include <cstdint>

extern "C" __global__ void warp_scan(const uint32_t* in, uint32_t* out) {
  uint32_t x = in[blockIdx.x * blockDim.x + threadIdx.x];
  uint32_t lane = threadIdx.x & 31;
  for (int d = 1; d < 32; d *= 2) {
    uint32_t y = __shfl_up_sync(0xffffffff, x, d);
    if (lane >= d) x += y;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

// Half of the lanes vote among themselves, the other half too.
extern "C" __global__ void halves(uint32_t* out) {
  uint32_t lane = threadIdx.x & 31;
  if (lane & 1) {
    out[threadIdx.x] = __ballot_sync(0xaaaaaaaa, lane > 7);
  } else {
    out[threadIdx.x] = __shfl_xor_sync(0x55555555, lane * 10, 4);
  }
}

// The classic aggregated increment.
extern "C" __global__ void aggregate(uint32_t* counter, uint32_t* out, uint32_t* groups) {
  if (threadIdx.x % 3 == 0) {
    uint32_t mask = __activemask();
    uint32_t leader = __ffs(mask) - 1;
    uint32_t lane = threadIdx.x & 31;
    uint32_t base = 0;
    if (lane == leader) {
      base = atomicAdd(counter, __popc(mask));
      atomicAdd(groups, 1);
    }
    base = __shfl_sync(mask, base, leader);
    out[base + __popc(mask & ((1u << lane) - 1))] = threadIdx.x;
  }
}

// A lock that lanes of one warp fight for: dead without independent progress.
extern "C" __global__ void lock(uint32_t* taken, uint32_t* protectedSum, uint32_t rounds) {
  for (uint32_t i = 0; i < rounds; i++) {
    while (atomicCAS(taken, 0, 1) != 0) {
    }
    __threadfence();
    uint32_t seen = *(volatile uint32_t*)protectedSum;
    *(volatile uint32_t*)protectedSum = seen + 1;
    __threadfence();
    atomicExch(taken, 0);
  }
}

// Thread i waits for thread i + 1; only the last can go.
extern "C" __global__ void chain(uint32_t* flags, uint32_t n) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) {
    cuda::atomic_ref<uint32_t, cuda::thread_scope_device> next(flags[i + 1]);
    while (next.load(cuda::memory_order_acquire) == 0) {
    }
  }
  cuda::atomic_ref<uint32_t, cuda::thread_scope_device> own(flags[i]);
  own.store(1, cuda::memory_order_release);
}

// All blocks meet `rounds` times.
extern "C" __global__ void grid_barrier(uint32_t* arrived, uint32_t* out, uint32_t rounds) {
  cuda::atomic_ref<uint32_t, cuda::thread_scope_device> a(*arrived);
  for (uint32_t r = 0; r < rounds; r++) {
    atomicAdd(&out[r], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
      a.fetch_add(1, cuda::memory_order_acq_rel);
      while (a.load(cuda::memory_order_acquire) < (r + 1) * gridDim.x) __nanosleep(20);
    }
    __syncthreads();
    if (out[r] != gridDim.x * blockDim.x) __trap();
  }
}

// Producers and consumers of a block meet at named barriers.
extern "C" __global__ void named(uint32_t* out) {
  __shared__ uint32_t box[32];
  uint32_t lane = threadIdx.x & 31;
  for (uint32_t i = 0; i < 5; i++) {
    if (threadIdx.x < 32) {
      box[lane] = i * 100 + lane;
      asm volatile("barrier.sync 1, 64;" ::: "memory");
      asm volatile("barrier.sync 2, 64;" ::: "memory");
    } else {
      asm volatile("barrier.sync 1, 64;" ::: "memory");
      out[i * 32 + lane] = box[31 - lane];
      asm volatile("barrier.sync 2, 64;" ::: "memory");
    }
  }
}

extern "C" __global__ void reductions(uint32_t* out) {
  uint32_t t = threadIdx.x;
  out[t * 4] = __syncthreads_count(t % 3 == 0);
  out[t * 4 + 1] = __syncthreads_and(t < 1000);
  out[t * 4 + 2] = __syncthreads_or(t == 5);
  out[t * 4 + 3] = __match_any_sync(0xffffffff, t & 3);
}

extern "C" __global__ void sleeps(uint64_t* out) {
  uint64_t a, b;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(a));
  long long c = clock64();
  __nanosleep(1000);
  while (clock64() == c) {
  }
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(b));
  out[0] = a;
  out[1] = b;
}

extern "C" __global__ void ids(uint32_t* out) {
  uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  uint32_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  uint32_t i = block * blockDim.x * blockDim.y * blockDim.z + thread;
  out[i] = i * 3 + 1;
}

template <typename T>
__device__ void all_atomics(T* c, uint64_t* out) {
  out[0] = atomicAdd(&c[0], (T)3);
  out[1] = atomicMin(&c[1], (T)5);
  out[2] = atomicMax(&c[2], (T)5);
  out[3] = atomicAnd(&c[3], (T)0x0ff0);
  out[4] = atomicOr(&c[4], (T)0x0ff0);
  out[5] = atomicXor(&c[5], (T)0x0ff0);
  out[6] = atomicExch(&c[6], (T)9);
  out[7] = atomicCAS(&c[7], (T)7, (T)70);
}

extern "C" __global__ void atomics(uint32_t* a, unsigned long long* b, uint64_t* out) {
  all_atomics(a, out);
  all_atomics(b, out + 8);
  out[16] = atomicInc(&a[8], 3);
  out[17] = atomicDec(&a[9], 3);
  float old = atomicAdd((float*)&a[10], 1.25f);
  out[18] = __float_as_uint(old);
  out[19] = __double_as_longlong(atomicAdd((double*)&b[8], 2.5));
}
