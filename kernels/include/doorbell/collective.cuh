// Collectives over RDMA puts: all-reduce, reduce-scatter, all-gather, broadcast, reduce, all-to-all and
// barrier, by any algorithm. An algorithm is data: the list of steps of each rank (collective_abi.h).
//
//   collective::program mine{steps, arena, arena_key, own_flag, flags, peers, type, reduction, multicast};
//   uint32_t status = collective::execute(qps, mine, turn, 0, count);
//
// All threads of one block call execute() and get a status; it is DOORBELL_OK for all of them or for none.
// A block executes one program; queue pair p of qps leads to rank p, and nobody else posts to it
// meanwhile.
//
// DOORBELL_COMBINE_SWITCH is compiled for sm_90 and later; elsewhere such a step ends with DOORBELL_ERROR_ARGUMENT.
//
// Memory order: a put and its flag are one post to one queue pair, and the flag is a signal (order.cuh), so it
// arrives behind the data on every adapter. A flag is acquired at system scope by thread 0, a barrier of the block passes that on. Data with the flag
// inside is loaded by words of 8 bytes, relaxed at system scope: each is whole, and nothing else is read
// through it. To a near peer the block stores the data itself; a flag behind it is stored by thread 0 after a
// barrier of the block, with release at system scope. What the block has combined is ordered before a put of it by a barrier and the fence of the
// post.
//
// Reuse: a rank may begin turn t + 1 when every rank that it sends to has done with turn t, and its own puts
// are complete: a barrier at the end of the program, and a quiet of each queue pair. The quiet is needed where
// flags are inside the data: what a relaxed load returns does not order the HCA's read of where it was packed.
#ifndef DOORBELL_COLLECTIVE_CUH
#define DOORBELL_COLLECTIVE_CUH

#include "doorbell/collective_abi.h"
#include "doorbell/order.cuh"

namespace doorbell {
namespace collective {

// A rank's part of a collective.
struct program {
  const doorbell_step *steps;
  uint64_t arena;
  uint32_t arena_key;         // in the byte order of abi.h
  uint32_t own_flag;          // which of a peer's flags this program raises: its rank, where there is one program
  const uint64_t *flags;      // a word of each rank
  const doorbell_peer *peers; // inbox: the arena, signals: the flags of each rank
  uint32_t type;              // DOORBELL_TYPE_*
  uint32_t reduction;         // DOORBELL_REDUCE_*
  uint64_t multicast;         // a multicast object over the arenas of a node, for DOORBELL_COMBINE_SWITCH; sm_90
};

namespace detail {

__device__ __forceinline__ uint64_t load_relaxed_system(const uint64_t *word) {
  return cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*const_cast<uint64_t *>(word))
      .load(cuda::memory_order_relaxed);
}

__device__ __forceinline__ float to_float(uint32_t bits, bool bfloat) {
  if (bfloat) {
    return __uint_as_float(bits << 16);
  }
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<uint16_t>(bits)));
  return value;
}

// Rounds to the nearest, ties to even.
__device__ __forceinline__ uint32_t from_float(float value, bool bfloat) {
  if (bfloat) {
    const uint32_t bits = __float_as_uint(value);
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu
                                              : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  }
  uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

__device__ __forceinline__ float reduce_floats(float a, float b, uint32_t reduction) {
  return reduction == DOORBELL_REDUCE_SUM   ? a + b
         : reduction == DOORBELL_REDUCE_MAX ? fmaxf(a, b)
                                            : fminf(a, b);
}

// Reduces a word: one element of 4 bytes, or two of 2.
template <uint32_t kType>
__device__ __forceinline__ uint32_t reduce_word(uint32_t a, uint32_t b, uint32_t reduction) {
  if constexpr (kType == DOORBELL_TYPE_I32) {
    const int32_t x = static_cast<int32_t>(a);
    const int32_t y = static_cast<int32_t>(b);
    return reduction == DOORBELL_REDUCE_SUM   ? a + b
           : reduction == DOORBELL_REDUCE_MAX ? static_cast<uint32_t>(x > y ? x : y)
                                              : static_cast<uint32_t>(x < y ? x : y);
  } else if constexpr (kType == DOORBELL_TYPE_F32) {
    return __float_as_uint(reduce_floats(__uint_as_float(a), __uint_as_float(b), reduction));
  } else {
    constexpr bool kBfloat = kType == DOORBELL_TYPE_BF16;
    const float low = reduce_floats(to_float(a & 0xffffu, kBfloat), to_float(b & 0xffffu, kBfloat),
                                    reduction);
    const float high = reduce_floats(to_float(a >> 16, kBfloat), to_float(b >> 16, kBfloat),
                                     reduction);
    return from_float(low, kBfloat) | from_float(high, kBfloat) << 16;
  }
}

__device__ __forceinline__ uint4 *units_at(const program &mine, uint64_t offset) {
  return reinterpret_cast<uint4 *>(mine.arena + offset);
}

// Returns where a step that reduces stores the result in a near peer's arena as well, or null.
__device__ __forceinline__ uint4 *forwards_to(const program &mine, const doorbell_step &step) {
  const bool forwards = step.put == (DOORBELL_PUT_NEAR | DOORBELL_PUT_DATA) &&
                        (step.combine & (DOORBELL_COMBINE_SWITCH | DOORBELL_COMBINE_PACKED)) ==
                            DOORBELL_COMBINE_REDUCE &&
                        step.put_source == step.target && step.put_bytes == step.bytes;
  return forwards ? reinterpret_cast<uint4 *>(mine.peers[step.put_peer].inbox + step.put_target)
                  : nullptr;
}

// Reduces 16 bytes a thread and turn; what of the last 16 bytes is behind the end is padding.
template <uint32_t kType>
__device__ __forceinline__ void reduce_units(const program &mine, const doorbell_step &step) {
  uint4 *peer = forwards_to(mine, step);
  const uint4 *first = units_at(mine, step.first);
  const uint4 *second = units_at(mine, step.second);
  uint4 *target = units_at(mine, step.target);
  const uint64_t units = (step.bytes + 15) / 16;
#pragma unroll 1
  for (uint64_t i = threadIdx.x; i < units; i += blockDim.x) {
    const uint4 a = first[i];
    const uint4 b = second[i];
    const uint4 sum = make_uint4(reduce_word<kType>(a.x, b.x, mine.reduction),
                                 reduce_word<kType>(a.y, b.y, mine.reduction),
                                 reduce_word<kType>(a.z, b.z, mine.reduction),
                                 reduce_word<kType>(a.w, b.w, mine.reduction));
    target[i] = sum;
    if (peer != nullptr) {
      peer[i] = sum;
    }
  }
}

__device__ __forceinline__ void copy_units(const program &mine, const doorbell_step &step) {
  const uint4 *first = units_at(mine, step.first);
  uint4 *target = units_at(mine, step.target);
  const uint64_t units = (step.bytes + 15) / 16;
#pragma unroll 1
  for (uint64_t i = threadIdx.x; i < units; i += blockDim.x) {
    target[i] = first[i];
  }
}

#if __CUDA_ARCH__ >= 900
template <uint32_t kType>
__device__ __forceinline__ void add_in_switch(uint64_t from, uint64_t to) {
  uint32_t a, b, c, d;
  if constexpr (kType == DOORBELL_TYPE_F32) {
    asm volatile("multimem.ld_reduce.weak.global.add.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(from) : "memory");
  } else if constexpr (kType == DOORBELL_TYPE_F16) {
    asm volatile("multimem.ld_reduce.weak.global.add.acc::f32.v4.f16x2 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(from) : "memory");
  } else {
    asm volatile("multimem.ld_reduce.weak.global.add.acc::f32.v4.bf16x2 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(from) : "memory");
  }
  asm volatile("multimem.st.weak.global.v4.f32 [%0], {%1, %2, %3, %4};"
               :: "l"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
#endif

// Has the switch add 16 bytes a thread and turn of all GPUs of the node, and store the sums in all of them.
template <uint32_t kType>
__device__ __forceinline__ uint32_t add_units_in_switch(const program &mine, const doorbell_step &step) {
#if __CUDA_ARCH__ >= 900
  const uint64_t bytes = (step.bytes + 15) / 16 * 16;
#pragma unroll 1
  for (uint64_t at = 16 * threadIdx.x; at < bytes; at += 16 * blockDim.x) {
    add_in_switch<kType>(mine.multicast + step.first + at, mine.multicast + step.target + at);
  }
  return DOORBELL_OK;
#else
  return DOORBELL_ERROR_ARGUMENT;
#endif
}

__device__ __forceinline__ uint32_t add_in_switch(const program &mine, const doorbell_step &step) {
  return mine.type == DOORBELL_TYPE_F16    ? add_units_in_switch<DOORBELL_TYPE_F16>(mine, step)
         : mine.type == DOORBELL_TYPE_BF16 ? add_units_in_switch<DOORBELL_TYPE_BF16>(mine, step)
                                           : add_units_in_switch<DOORBELL_TYPE_F32>(mine, step);
}

__device__ __forceinline__ uint32_t reduce_word(uint32_t type, uint32_t reduction, uint32_t a,
                                                uint32_t b) {
  switch (type) {
    case DOORBELL_TYPE_F16:
      return reduce_word<DOORBELL_TYPE_F16>(a, b, reduction);
    case DOORBELL_TYPE_BF16:
      return reduce_word<DOORBELL_TYPE_BF16>(a, b, reduction);
    case DOORBELL_TYPE_I32:
      return reduce_word<DOORBELL_TYPE_I32>(a, b, reduction);
    default:
      return reduce_word<DOORBELL_TYPE_F32>(a, b, reduction);
  }
}

// Waits for each packed word of `second`, and copies or reduces it.
__device__ __forceinline__ uint32_t combine_packed(const doorbell_qp *qp, const program &mine,
                                                   const doorbell_step &step, uint32_t turn) {
  const uint32_t *first = reinterpret_cast<const uint32_t *>(mine.arena + step.first);
  const uint64_t *second = reinterpret_cast<const uint64_t *>(mine.arena + step.second);
  uint32_t *target = reinterpret_cast<uint32_t *>(mine.arena + step.target);
  const bool reduces = (step.combine & DOORBELL_COMBINE_REDUCE) != 0;
  const uint64_t words = (step.bytes + 3) / 4;
#pragma unroll 1
  for (uint64_t i = threadIdx.x; i < words; i += blockDim.x) {
    deadline limit(qp->deadline_ns);
    uint64_t word = load_relaxed_system(second + i);
    while (high(word) != turn + 1) {
      if (limit.due()) {
        const uint32_t status = doorbell::check(qp, turn + 1);
        if (status != DOORBELL_OK) {
          return status;
        }
        if (limit.passed()) {
          return doorbell::fail(qp, DOORBELL_ERROR_DEADLINE, 0, turn + 1);
        }
      }
      word = load_relaxed_system(second + i);
    }
    target[i] = reduces ? reduce_word(mine.type, mine.reduction, first[i], low(word)) : low(word);
  }
  return DOORBELL_OK;
}

__device__ __forceinline__ uint64_t packed_word(const uint32_t *source, uint64_t i, uint32_t turn) {
  return static_cast<uint64_t>(turn + 1) << 32 | source[i];
}

// Packs data where it is put from, or where a near peer polls it.
__device__ __forceinline__ void pack(const program &mine, const doorbell_step &step, bool near,
                                     uint32_t turn) {
  const uint32_t *source = reinterpret_cast<const uint32_t *>(mine.arena + step.put_source);
  const uint64_t words = (step.put_bytes + 3) / 4;
  if (near) {
    uint64_t *polled =
        reinterpret_cast<uint64_t *>(mine.peers[step.put_peer].inbox + step.put_target);
#pragma unroll 1
    for (uint64_t i = threadIdx.x; i < words; i += blockDim.x) {
      cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(polled[i])
          .store(packed_word(source, i, turn), cuda::memory_order_relaxed);
    }
    return;
  }
  uint64_t *packed = reinterpret_cast<uint64_t *>(mine.arena + step.packed);
#pragma unroll 1
  for (uint64_t i = threadIdx.x; i < words; i += blockDim.x) {
    packed[i] = packed_word(source, i, turn);
  }
}

// The block stores data into a near peer's arena.
__device__ __forceinline__ void store_near(const program &mine, const doorbell_step &step) {
  const uint4 *source = units_at(mine, step.put_source);
  uint4 *target = reinterpret_cast<uint4 *>(mine.peers[step.put_peer].inbox + step.put_target);
  const uint64_t units = (step.put_bytes + 15) / 16;
#pragma unroll 4
  for (uint64_t i = threadIdx.x; i < units; i += blockDim.x) {
    target[i] = source[i];
  }
}

// One thread stores the flag behind it.
__device__ __forceinline__ void raise_near(const program &mine, const doorbell_step &step,
                                           uint64_t turn) {
  uint64_t *flag = reinterpret_cast<uint64_t *>(mine.peers[step.put_peer].signals) + mine.own_flag;
  cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*flag).store(
      turn * step.put_flags + step.put_flag, cuda::memory_order_release);
}

// One thread puts data, a flag or both.
__device__ __forceinline__ uint32_t send(const doorbell_qp *qps, const program &mine,
                                         const doorbell_step &step, uint64_t turn) {
  const queue_pair qp(&qps[step.put_peer]);
  const doorbell_peer &peer = mine.peers[step.put_peer];
  const bool packed = (step.put & DOORBELL_PUT_PACKED) != 0;
  const uint64_t from = packed ? step.packed : step.put_source;
  const uint64_t bytes = packed ? (step.put_bytes + 3) / 4 * 8 : step.put_bytes;
  const source payload = (step.put & DOORBELL_PUT_INLINE) != 0 ? source::in_wqe : source::device;
  signal_list list{{transfer_request(kOpcodeWrite, payload, {peer.inbox + step.put_target, peer.inbox_key},
                                     {mine.arena + from, mine.arena_key}, bytes),
                    {},
                    1},
                   step.put_flag};
  if (step.put_flag != 0) {
    const work_request flag = signal_request(
        {{peer.signals + 8 * static_cast<uint64_t>(mine.own_flag), peer.signals_key},
         turn * step.put_flags + step.put_flag, 0, {0, 0}});
    if (bytes == 0) {
      list.first = flag;
    } else {
      list.second = flag;
      list.count = 2;
    }
  }
  return post(qp, list).status;
}

}  // namespace detail

// Executes steps [from, to) of a program in turn `turn`, from 0. All threads of the block call it.
__device__ __noinline__ uint32_t execute(const doorbell_qp *qps, const program &mine, uint64_t turn,
                                         uint64_t from, uint64_t to) {
  uint32_t status = DOORBELL_OK;
  __syncthreads();  // what the block wrote before
#pragma unroll 1
  for (uint64_t at = from; at < to; ++at) {
    const doorbell_step &step = mine.steps[at];
    const uint32_t combine = step.combine;
    const bool packs = (step.put & DOORBELL_PUT_PACKED) != 0;
    if (threadIdx.x == 0 && step.wait_flag != 0 && status == DOORBELL_OK) {
      const queue_pair qp(&qps[step.wait_peer]);
      status = wait_for_word(qp, mine.flags + step.wait_peer,
                             turn * step.wait_flags + step.wait_flag, true);
    }
    if (combine != DOORBELL_COMBINE_NONE) {
      if (step.wait_flag != 0 && __syncthreads_or(status != DOORBELL_OK)) {
        break;
      }
      if ((combine & DOORBELL_COMBINE_PACKED) != 0) {
        status = detail::combine_packed(&qps[step.wait_peer], mine, step, low(turn));
      } else if (combine == DOORBELL_COMBINE_COPY) {
        detail::copy_units(mine, step);
      } else if (combine == DOORBELL_COMBINE_SWITCH) {
        status = detail::add_in_switch(mine, step);
      } else if (mine.type == DOORBELL_TYPE_F32) {
        detail::reduce_units<DOORBELL_TYPE_F32>(mine, step);
      } else if (mine.type == DOORBELL_TYPE_F16) {
        detail::reduce_units<DOORBELL_TYPE_F16>(mine, step);
      } else if (mine.type == DOORBELL_TYPE_BF16) {
        detail::reduce_units<DOORBELL_TYPE_BF16>(mine, step);
      } else {
        detail::reduce_units<DOORBELL_TYPE_I32>(mine, step);
      }
      if (__syncthreads_or(status != DOORBELL_OK)) {
        break;
      }
    }
    const bool near = (step.put & DOORBELL_PUT_NEAR) != 0;
    // All threads store what thread 0 has waited for.
    if (near && __syncthreads_or(status != DOORBELL_OK)) {
      break;
    }
    if (packs) {
      detail::pack(mine, step, near, low(turn));
      __syncthreads();
    }
    if (near) {
      if (!packs && detail::forwards_to(mine, step) == nullptr) {
        detail::store_near(mine, step);
        __syncthreads();
      }
      if (threadIdx.x == 0 && status == DOORBELL_OK && step.put_flag != 0) {
        detail::raise_near(mine, step, turn);
      }
    } else if (threadIdx.x == 0 && status == DOORBELL_OK &&
               (step.put != DOORBELL_PUT_NONE || step.put_flag != 0)) {
      status = detail::send(qps, mine, step, turn);
    }
  }
  const bool failed = __syncthreads_or(status != DOORBELL_OK);
  return failed && status == DOORBELL_OK ? DOORBELL_ERROR_POISONED : status;
}

}  // namespace collective
}  // namespace doorbell

#endif  // DOORBELL_COLLECTIVE_CUH
