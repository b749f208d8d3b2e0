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

// All of these words lie in global memory, whose addresses are the same in the generic space: said by .global,
// since ptxas keeps code for shared memory beside an atomic that does not say it.
#define DOORBELL_LOAD(name, type, letter, how)                                              \
  __device__ __forceinline__ type name(const type *word) {                                  \
    type value;                                                                             \
    asm volatile("ld." how " %0, [%1];" : "=" letter(value) : "l"(word) : "memory");        \
    return value;                                                                           \
  }

#define DOORBELL_STORE(name, type, letter, how)                                             \
  __device__ __forceinline__ void name(type *word, type value) {                            \
    asm volatile("st." how " [%0], %1;" : : "l"(word), letter(value) : "memory");           \
  }

// Returns what the word was.
#define DOORBELL_ATOMIC(name, how)                                                          \
  __device__ __forceinline__ uint64_t name(uint64_t *word, uint64_t value) {                \
    uint64_t before;                                                                        \
    asm volatile("atom." how " %0, [%1], %2;"                                               \
                 : "=l"(before)                                                             \
                 : "l"(word), "l"(value)                                                    \
                 : "memory");                                                               \
    return before;                                                                          \
  }

// Returns what the word was: `expected` if it is `desired` now.
#define DOORBELL_SWAP(name, how)                                                            \
  __device__ __forceinline__ uint64_t name(uint64_t *word, uint64_t expected,               \
                                           uint64_t desired) {                              \
    uint64_t before;                                                                        \
    asm volatile("atom." how " %0, [%1], %2, %3;"                                           \
                 : "=l"(before)                                                             \
                 : "l"(word), "l"(expected), "l"(desired)                                   \
                 : "memory");                                                               \
    return before;                                                                          \
  }

// An atomic without a return value, which C++ cannot express.
#define DOORBELL_REDUCTION(name, how)                                                       \
  __device__ __forceinline__ void name(uint64_t *word, uint64_t value) {                    \
    asm volatile("red." how " [%0], %1;" : : "l"(word), "l"(value) : "memory");             \
  }

DOORBELL_LOAD(load_acquire_device, uint64_t, "l", "acquire.gpu.global.b64")
DOORBELL_LOAD(load_relaxed_device, uint64_t, "l", "relaxed.gpu.global.b64")
DOORBELL_LOAD(load_acquire_system, uint64_t, "l", "acquire.sys.global.b64")
DOORBELL_LOAD(load_acquire_system, uint32_t, "r", "acquire.sys.global.b32")
DOORBELL_LOAD(load_relaxed_system, uint32_t, "r", "relaxed.sys.global.b32")
DOORBELL_STORE(store_relaxed_device, uint64_t, "l", "relaxed.gpu.global.b64")
DOORBELL_STORE(store_release_device, uint64_t, "l", "release.gpu.global.b64")
DOORBELL_STORE(store_relaxed_system, uint32_t, "r", "relaxed.sys.global.b32")
DOORBELL_STORE(store_relaxed_system, uint64_t, "l", "relaxed.sys.global.b64")
DOORBELL_STORE(store_release_system, uint32_t, "r", "release.sys.global.b32")
DOORBELL_ATOMIC(exchange_relaxed_device, "relaxed.gpu.global.exch.b64")
DOORBELL_ATOMIC(add_relaxed_device, "relaxed.gpu.global.add.u64")
DOORBELL_ATOMIC(add_release_device, "release.gpu.global.add.u64")
DOORBELL_ATOMIC(set_bits_relaxed_device, "relaxed.gpu.global.or.b64")
DOORBELL_SWAP(swap_acq_rel_device, "acq_rel.gpu.global.cas.b64")
DOORBELL_SWAP(swap_release_device, "release.gpu.global.cas.b64")

// Raise a word to at least the value; the first releases what was acquired before.
DOORBELL_REDUCTION(raise_release_device, "release.gpu.global.max.u64")
DOORBELL_REDUCTION(raise_relaxed_device, "relaxed.gpu.global.max.u64")

#undef DOORBELL_LOAD
#undef DOORBELL_STORE
#undef DOORBELL_ATOMIC
#undef DOORBELL_SWAP
#undef DOORBELL_REDUCTION

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
               : "l"(address), "l"(value)
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
               : "l"(address),
                 "l"(static_cast<uint64_t>(value.y) << 32 | value.x),
                 "l"(static_cast<uint64_t>(value.w) << 32 | value.z)
               : "memory");
}

// Sixteen bytes to a write-combining register. PTX has no 16-byte .mmio store; relaxed at system
// scope is the strongest that supports a vector, and volatile asm keeps count and order.
__device__ __forceinline__ void store_unit_register(uint64_t address, unit value) {
  asm volatile("st.relaxed.sys.global.v4.b32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(address), "r"(value.x),
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

// Requests do not go into an mlx5 send ring there: elsewhere.cuh. A kernel that is to run on queue pairs of EFA
// defines DOORBELL_BACK_ENDS before it includes the library; the others are a third shorter. What follows
// keeps their PTX as it is, line table included.
#ifdef DOORBELL_BACK_ENDS
constexpr uint32_t kBackEnds = DOORBELL_QP_PROXY | DOORBELL_QP_EFA;
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
