// The smallest peer of the bench: a lock, a WQE, a record and a doorbell, in plain CUDA: the pattern for a
// header of your own (peer.cuh). A lock is slow: 0.22 million puts a second of one thread, 0.13 of 16 x 128.
#ifndef DOORBELL_BENCH_PEERS_STAND_IN_CUH
#define DOORBELL_BENCH_PEERS_STAND_IN_CUH

#include <cuda/atomic>

#include "doorbell/abi.h"

namespace peer {

constexpr const char *kName = "stand-in";
constexpr uint32_t kFlags = 0;

struct queue {
  doorbell_qp qp;
  uint64_t next;       // WQEs posted
  uint64_t completed;  // WQEs known to be done
  uint32_t lock;
};

inline queue describe(const doorbell_qp &from, bool) { return {from, 0, 0, 0}; }

namespace detail {

__device__ __forceinline__ uint32_t swap(uint32_t value) { return __byte_perm(value, 0, 0x0123); }

// Looks until the WQE `ticket` has its CQE.
__device__ inline void await(queue *to, uint64_t ticket) {
  const doorbell_qp &qp = to->qp;
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device> completed(to->completed);
  cuda::atomic_ref<uint32_t, cuda::thread_scope_system> tail(*reinterpret_cast<uint32_t *>(
      qp.cq_ring + (ticket & (qp.cq_entries - 1)) * 64 + 0x3c));
  // Once another thread knows of it the entry may belong to a later lap.
  while (completed.load(cuda::memory_order_acquire) <= ticket) {
    const uint32_t seen = swap(tail.load(cuda::memory_order_acquire));
    const uint32_t owner = (ticket & qp.cq_entries) != 0 ? 1 : 0;
    if ((seen & 0xf1u) == owner && seen >> 16 == (ticket & 0xffffu)) {
      completed.fetch_max(ticket + 1, cuda::memory_order_release);
    }
  }
}

}  // namespace detail

template <bool kExclusive>
__device__ inline uint64_t put(queue *to, uint64_t remote, uint32_t remote_key, uint64_t local,
                               uint32_t local_key, uint32_t bytes) {
  const doorbell_qp &qp = to->qp;
  cuda::atomic_ref<uint32_t, cuda::thread_scope_device> lock(to->lock);
  uint64_t index = 0;
  for (bool posted = false; !posted;) {  // lanes of a warp take turns
    if (!kExclusive && lock.exchange(1, cuda::memory_order_acquire) != 0) {
      continue;
    }
    index = to->next++;
    if (index >= qp.sq_blocks) {
      detail::await(to, index - qp.sq_blocks);
    }
    uint4 *wqe = reinterpret_cast<uint4 *>(qp.sq_ring + (index & (qp.sq_blocks - 1)) * 64);
    wqe[0] = make_uint4(detail::swap(static_cast<uint32_t>(index & 0xffff) << 8 | 0x08u),
                        detail::swap(qp.qpn << 8 | 3u), 0x08000000u, 0);
    wqe[1] = make_uint4(detail::swap(static_cast<uint32_t>(remote >> 32)),
                        detail::swap(static_cast<uint32_t>(remote)), remote_key, 0);
    wqe[2] = make_uint4(detail::swap(bytes), local_key, detail::swap(static_cast<uint32_t>(local >> 32)),
                        detail::swap(static_cast<uint32_t>(local)));
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
    *reinterpret_cast<volatile uint32_t *>(qp.sq_record) =
        detail::swap(static_cast<uint32_t>(index + 1) & 0xffffu);
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
    *reinterpret_cast<volatile uint64_t *>(qp.doorbell) =
        static_cast<uint64_t>(detail::swap(qp.qpn << 8)) << 32 |
        detail::swap(static_cast<uint32_t>(index + 1 & 0xffff) << 8);
    posted = true;
    if (!kExclusive) {
      lock.store(0, cuda::memory_order_release);
    }
  }
  return index;
}

template <bool kExclusive>
__device__ inline uint64_t put_warp(queue *to, uint64_t remote, uint32_t remote_key, uint64_t local,
                                    uint32_t local_key, uint32_t bytes) {
  return put<false>(to, remote, remote_key, local, local_key, bytes);
}

template <bool kExclusive>
__device__ inline void wait(queue *to, uint64_t ticket) {
  detail::await(to, ticket);
}

}  // namespace peer

#endif  // DOORBELL_BENCH_PEERS_STAND_IN_CUH
