// Words that a GPU thread shares with other threads, with the CPU and with the HCA: the few accesses
// and fences that the library is made of, named by their memory order and scope.
//
// PTX has a scope for the threads of a GPU (gpu) and one for all agents (sys). An HCA that reads GPU
// memory through the GPU's own caches is ordered by gpu scope, as all shipping libraries assume; one that
// reads host memory, or receives stores that leave the GPU, needs sys.
#ifndef DOORBELL_MEMORY_CUH
#define DOORBELL_MEMORY_CUH

#include <cuda/atomic>

#include "doorbell/abi.h"

namespace doorbell {

__device__ __forceinline__ uint64_t load_acquire_device(const uint64_t *word) {
  return cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(*const_cast<uint64_t *>(word))
      .load(cuda::memory_order_acquire);
}

__device__ __forceinline__ uint64_t load_relaxed_device(const uint64_t *word) {
  return cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(*const_cast<uint64_t *>(word))
      .load(cuda::memory_order_relaxed);
}

__device__ __forceinline__ uint64_t load_acquire_system(const uint64_t *word) {
  return cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*const_cast<uint64_t *>(word))
      .load(cuda::memory_order_acquire);
}

__device__ __forceinline__ uint32_t load_acquire_system(const uint32_t *word) {
  return cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(*const_cast<uint32_t *>(word))
      .load(cuda::memory_order_acquire);
}

__device__ __forceinline__ uint32_t load_relaxed_system(const uint32_t *word) {
  return cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(*const_cast<uint32_t *>(word))
      .load(cuda::memory_order_relaxed);
}

__device__ __forceinline__ void store_relaxed_device(uint64_t *word, uint64_t value) {
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(*word).store(value,
                                                                     cuda::memory_order_relaxed);
}

__device__ __forceinline__ void store_release_device(uint64_t *word, uint64_t value) {
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(*word).store(value,
                                                                     cuda::memory_order_release);
}

__device__ __forceinline__ void store_relaxed_system(uint32_t *word, uint32_t value) {
  cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(*word).store(value,
                                                                     cuda::memory_order_relaxed);
}

__device__ __forceinline__ void store_relaxed_system(uint64_t *word, uint64_t value) {
  cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*word).store(value,
                                                                     cuda::memory_order_relaxed);
}

__device__ __forceinline__ void store_release_system(uint32_t *word, uint32_t value) {
  cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(*word).store(value,
                                                                     cuda::memory_order_release);
}

__device__ __forceinline__ uint64_t exchange_relaxed_device(uint64_t *word, uint64_t value) {
  return cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(*word).exchange(
      value, cuda::memory_order_relaxed);
}

// Raises a word to at least value, releasing what was acquired before. An atomic without a return
// value, which C++ cannot express.
__device__ __forceinline__ void raise_release_device(uint64_t *word, uint64_t value) {
  asm volatile("red.release.gpu.global.max.u64 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(word)), "l"(value)
               : "memory");
}

// The same without any order.
__device__ __forceinline__ void raise_relaxed_device(uint64_t *word, uint64_t value) {
  asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(word)), "l"(value)
               : "memory");
}

// Waits until this thread's stores, and those it has acquired, are visible to the HCA.
__device__ __forceinline__ void fence(bool system) {
  if (system) {
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
  } else {
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
  }
}

// One store to a device register: never combined, never split, never dropped.
__device__ __forceinline__ void store_register(uint64_t address, uint64_t value) {
  asm volatile("st.mmio.relaxed.sys.global.b64 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(reinterpret_cast<void *>(address))), "l"(value)
               : "memory");
}

// Sixteen bytes of a WQE or of a payload; x is the first word in memory.
struct unit {
  uint32_t x, y, z, w;
};

__device__ __forceinline__ void store_unit(uint64_t address, unit value) {
  *reinterpret_cast<uint4 *>(address) = make_uint4(value.x, value.y, value.z, value.w);
}

// Sixteen bytes as two stores of eight bytes that threads of this GPU may load, whole, at the same time.
__device__ __forceinline__ void store_unit_strong(uint64_t address, unit value) {
  asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};"
               :
               : "l"(__cvta_generic_to_global(reinterpret_cast<void *>(address))),
                 "l"(static_cast<uint64_t>(value.y) << 32 | value.x),
                 "l"(static_cast<uint64_t>(value.w) << 32 | value.z)
               : "memory");
}

// Sixteen bytes to a write-combining register. PTX has no 16-byte .mmio store; relaxed at system
// scope is the strongest that supports a vector, and volatile asm keeps count and order.
__device__ __forceinline__ void store_unit_register(uint64_t address, unit value) {
  asm volatile("st.relaxed.sys.global.v4.b32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(reinterpret_cast<void *>(address))), "r"(value.x),
                 "r"(value.y), "r"(value.z), "r"(value.w)
               : "memory");
}

__device__ __forceinline__ uint32_t big_endian(uint32_t value) {
  return __byte_perm(value, 0, 0x0123);
}

__device__ __forceinline__ uint32_t high(uint64_t value) {
  return static_cast<uint32_t>(value >> 32);
}

__device__ __forceinline__ uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }

// Nanoseconds of the clock that all threads of the GPU share. Real GPUs advance it in steps of 32 ns
// to 1 us.
__device__ __forceinline__ uint64_t global_time() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

// Bounds a wait. The clock is read on every 32nd failed poll only, so that a short wait does not pay
// for it; after 1,024 of them the thread sleeps between polls.
class deadline {
 public:
  __device__ __forceinline__ explicit deadline(uint64_t nanoseconds) : limit_(nanoseconds) {}

  // True on the polls at which the rarer causes to end a wait are checked as well.
  __device__ __forceinline__ bool due() { return (++looks_ & 31u) == 0; }

  // True on every 1,024th poll.
  __device__ __forceinline__ bool rarely() const { return (looks_ & 1023u) == 0; }

  // Called when due: true when the time is up.
  __device__ __forceinline__ bool passed() {
    const uint64_t now = global_time();
    if (start_ == 0) {
      start_ = now;
    }
    if (looks_ > 1024) {
      __nanosleep(64);
    }
    return now - start_ >= limit_;
  }

 private:
  uint64_t limit_;
  uint64_t start_ = 0;
  uint32_t looks_ = 0;
};

// Requests do not go into an mlx5 send ring there: elsewhere.cuh. A kernel that is to run on queue pairs of EFA or
// GPI defines DOORBELL_BACK_ENDS before it includes the library; the others are a third shorter. What follows
// keeps their PTX as it is, line table included.
#ifdef DOORBELL_BACK_ENDS
constexpr uint32_t kBackEnds = DOORBELL_QP_PROXY | DOORBELL_QP_EFA | DOORBELL_QP_GPI;
__device__ uint32_t check_elsewhere(const doorbell_qp *qp);
#else
constexpr uint32_t kBackEnds = DOORBELL_QP_PROXY;
#define check_elsewhere(qp) \
  load_acquire_system(&reinterpret_cast<doorbell_error *>((qp)->error)->status)
#define submit_elsewhere submit_to_cpu
#define wait_elsewhere wait_for_cpu
#define quiet_elsewhere quiet_for_cpu
#endif

}  // namespace doorbell

#endif  // DOORBELL_MEMORY_CUH
