// The operations of the library, at thread, warp and block scope.
//
//   doorbell::put(qp, {remote, remote_key}, {local, local_key}, bytes)
//   doorbell::put<doorbell::by::warp>(...)
//
// by::thread  the calling thread alone. Lanes of a warp that call together are posted under one
//             reservation with one doorbell all the same.
// by::warp    every lane of the warp brings an operation of its own; all of them are posted under one
//             reservation with one doorbell. All threads that the block has in the warp must call.
// by::block   one operation, the same for all threads of the block, which all must call. What any of
//             them wrote before the call is part of the payload; all get the same result.
//
// Memory order: what the calling threads wrote before the call is what the HCA sends. A ticket is
// done when wait() on it returns; then the payload may be written again, and fetched data read.
// That does not imply remote visibility; later operations of the same queue pair arrive later.
//
// Keys are in the byte order of abi.h. A put or get without bytes is a no-op that completes in order; a
// message above 2^31 - 1 bytes is DOORBELL_ERROR_ARGUMENT.
#ifndef DOORBELL_OPERATIONS_CUH
#define DOORBELL_OPERATIONS_CUH

#include "doorbell/post.cuh"

namespace doorbell {

// The threads that call together.
enum class by : uint32_t { thread, warp, block };

// An address in a work request, with the key that grants access to it.
struct location {
  uint64_t address;
  uint32_t key;
};

// Requests, for callers that choose the operation at run time; post() accepts them.

__device__ __forceinline__ work_request transfer_request(uint32_t opcode, source payload,
                                                         location remote, location local,
                                                         uint64_t bytes) {
  work_request request{};
  request.opcode = opcode;
  request.payload = payload;
  // Saturates: too many bytes stay too many.
  request.bytes = static_cast<uint32_t>(bytes > kMaxMessageBytes ? kMaxMessageBytes + 1 : bytes);
  request.remote = remote.address;
  request.remote_key = remote.key;
  request.local = local.address;
  request.local_key = local.key;
  if (bytes == 0 && opcode != kOpcodeWriteImm) {
    request.opcode = kOpcodeNop;
    request.payload = source::device;
  }
  return request;
}

__device__ __forceinline__ work_request atomic_request(uint32_t opcode, location remote,
                                                       location fetched, uint64_t operand,
                                                       uint64_t compare) {
  work_request request{};
  request.opcode = opcode;
  request.payload = source::device;
  request.bytes = 8;
  request.remote = remote.address;
  request.remote_key = remote.key;
  request.local = fetched.address;
  request.local_key = fetched.key;
  request.operand = operand;
  request.compare = compare;
  return request;
}

namespace detail {

__device__ __forceinline__ bool leads_block() {
  return threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
}

inline __device__ __noinline__ uint32_t wait_for_word(const doorbell_qp *qp, const uint64_t *word,
                                                      uint64_t value, bool at_least) {
  deadline limit(qp->deadline_ns);
  for (;;) {
    const uint64_t now = load_acquire_system(word);
    if (now == value || (at_least && now > value)) {
      return DOORBELL_OK;
    }
    if (limit.due()) {
      const uint32_t status = check(qp, value);
      if (status != DOORBELL_OK) {
        return status;
      }
      if (limit.passed()) {
        return fail(qp, DOORBELL_ERROR_DEADLINE, 0, value);
      }
    }
  }
}

}  // namespace detail

// Posts a request, or two under one reservation.
template <by kScope = by::thread, class List = request_list>
__device__ __forceinline__ posted post(const queue_pair &qp, const List &list) {
  if constexpr (kScope == by::thread) {
    return post_thread(qp, list);
  } else if constexpr (kScope == by::warp) {
    return post_warp(qp, list);
  } else {
    __shared__ posted result;
    __syncthreads();  // what the block wrote before thread 0's fence; result free again
    if (detail::leads_block()) {
      result = post_thread(qp, list);
    }
    __syncthreads();
    return result;
  }
}

// Posts for a block whose threads write the payload, or copy it to where the request says, as soon as
// there is room in the ring: `fill` is called by all of them between reservation and WQE. So a staging
// slot may belong to a reservation, and copying overlaps with that of other posters.
template <class Fill>
__device__ __forceinline__ posted post_filled(const queue_pair &qp, const request_list &list,
                                              Fill fill) {
  __shared__ posted result;
  reservation mine{0, 0, 0};
  __syncthreads();  // result is free again
  if (detail::leads_block()) {
    result = {begin_post(qp, list, mine), 0};
  }
  __syncthreads();
  if (result.status == DOORBELL_OK) {
    fill();
    __syncthreads();  // what all have filled before thread 0's fence
    if (detail::leads_block()) {
      result = finish_post(qp, list, mine);
    }
    __syncthreads();
  }
  return result;
}

// Writes `bytes` from local to remote memory. `payload` says where local lies: memory of this GPU
// (source::device) or host memory or on-chip memory of the HCA (source::system).
template <by kScope = by::thread>
__device__ __forceinline__ posted put(const queue_pair &qp, location remote, location local,
                                      uint64_t bytes, source payload = source::device) {
  return post<kScope>(
      qp, {transfer_request(kOpcodeWrite, payload, remote, local, bytes), {}, 1});
}

// A put that consumes a receive request of the peer and hands it 32 bits, in host byte order.
template <by kScope = by::thread>
__device__ __forceinline__ posted put_imm(const queue_pair &qp, location remote, location local,
                                          uint64_t bytes, uint32_t immediate,
                                          source payload = source::device) {
  work_request request = transfer_request(kOpcodeWriteImm, payload, remote, local, bytes);
  request.immediate = immediate;
  return post<kScope>(qp, {request, {}, 1});
}

// Reads `bytes` from remote into local memory; they are there when the ticket is done.
template <by kScope = by::thread>
__device__ __forceinline__ posted get(const queue_pair &qp, location remote, location local,
                                      uint64_t bytes) {
  return post<kScope>(
      qp, {transfer_request(kOpcodeRead, source::device, remote, local, bytes), {}, 1});
}

// Writes at most max_inline bytes, which travel in the WQE: `payload` needs no key, any alignment
// will do, and it may be written again at once.
template <by kScope = by::thread>
__device__ __forceinline__ posted put_inline(const queue_pair &qp, location remote,
                                             const void *payload, uint64_t bytes) {
  const location local{reinterpret_cast<uint64_t>(payload), 0};
  return post<kScope>(
      qp, {transfer_request(kOpcodeWrite, source::in_wqe, remote, local, bytes), {}, 1});
}

// Writes a value of 1 to 16 bytes out of registers.
template <by kScope = by::thread, class Value>
__device__ __forceinline__ posted put_value(const queue_pair &qp, location remote, Value value) {
  static_assert(sizeof(Value) <= 16, "a value of at most 16 bytes");
  uint64_t words[2] = {0, 0};
  memcpy(words, &value, sizeof(Value));
  work_request request =
      transfer_request(kOpcodeWrite, source::in_operand, remote, {0, 0}, sizeof(Value));
  request.operand = words[0];
  request.compare = words[1];
  return post<kScope>(qp, {request, {}, 1});
}

// Adds to a remote 8-byte word; its old value lands in `fetched`, little-endian like the word.
template <by kScope = by::thread>
__device__ __forceinline__ posted fetch_add(const queue_pair &qp, location remote,
                                            location fetched, uint64_t operand) {
  return post<kScope>(qp, {atomic_request(kOpcodeFetchAdd, remote, fetched, operand, 0), {}, 1});
}

// Replaces a remote 8-byte word by `swap` when it is `compare`; its old value lands in `fetched`.
template <by kScope = by::thread>
__device__ __forceinline__ posted compare_swap(const queue_pair &qp, location remote,
                                               location fetched, uint64_t compare, uint64_t swap) {
  return post<kScope>(
      qp, {atomic_request(kOpcodeCompareSwap, remote, fetched, swap, compare), {}, 1});
}

// A put, and behind it an add to a remote 8-byte word that notifies the receiver: two WQEs, one
// reservation, one doorbell. The word's old value lands in `fetched`.
template <by kScope = by::thread>
__device__ __forceinline__ posted put_signal(const queue_pair &qp, location remote, location local,
                                             uint64_t bytes, location signal, location fetched,
                                             uint64_t operand, source payload = source::device) {
  return post<kScope>(qp, {transfer_request(kOpcodeWrite, payload, remote, local, bytes),
                           atomic_request(kOpcodeFetchAdd, signal, fetched, operand, 0), 2});
}

namespace detail {

__device__ __forceinline__ uint32_t wait_for_ticket(const queue_pair &qp, uint64_t ticket) {
  return qp.is(kBackEnds) ? wait_elsewhere(qp.shared, ticket)
                          : wait_completed(qp, ticket);
}

__device__ __forceinline__ uint32_t quiet(const queue_pair &qp) {
  return qp.is(kBackEnds) ? quiet_elsewhere(qp.shared) : wait_completed(qp, kEverything);
}

// One thread of the scope executes `action` for all of them; what the others did before the call
// happens before it, and what it acquires is acquired by all.
template <by kScope, class Action>
__device__ __forceinline__ uint32_t once(Action action) {
  if constexpr (kScope == by::block) {
    __shared__ uint32_t status;
    __syncthreads();
    if (leads_block()) {
      status = action();
    }
    __syncthreads();
    return status;
  } else if constexpr (kScope == by::warp) {
    const warp_group warp = warp_group::mine();
    __syncwarp(warp.mask);
    const uint32_t status = warp.lane == 0 ? action() : DOORBELL_OK;
    __syncwarp(warp.mask);
    return __shfl_sync(warp.mask, status, 0);
  } else {
    return action();
  }
}

}  // namespace detail

// Waits until what a ticket stands for is done. At warp and block scope one thread waits for all,
// with its ticket, and all return the same status.
template <by kScope = by::thread>
__device__ __forceinline__ uint32_t wait(const queue_pair &qp, uint64_t ticket) {
  return detail::once<kScope>([&] { return detail::wait_for_ticket(qp, ticket); });
}

// Waits until an 8-byte word that a peer writes holds `value` (or, with at_least, no less). An error
// completion on the queue pair ends the wait, too, since the peer then waits in vain. Acquires at
// system scope: what arrived before the word may be read.
__device__ __forceinline__ uint32_t wait_for_word(const queue_pair &qp, const uint64_t *word,
                                                  uint64_t value, bool at_least = false) {
  return detail::wait_for_word(qp.shared, word, value, at_least);
}

// Waits until everything is done that was posted to this queue pair before the call, by the caller
// or by another thread whose post happened before the call.
template <by kScope = by::thread>
__device__ __forceinline__ uint32_t quiet(const queue_pair &qp) {
  return detail::once<kScope>([&] { return detail::quiet(qp); });
}

// As quiet(), for the `count` queue pairs qps[chosen[0]], qps[chosen[1]], ...: the cost does not depend on
// how many others there are. At thread scope one is awaited after the other; at warp scope, where all lanes
// pass the same arguments, by a lane each. All are awaited, even if one fails; returns DOORBELL_OK or a status
// that one of them ended with.
template <by kScope = by::thread>
__device__ __forceinline__ uint32_t quiet_of(const doorbell_qp *qps, const uint32_t *chosen,
                                             uint32_t count) {
  static_assert(kScope != by::block, "a thread or a warp waits");
  uint32_t first = 0;
  uint32_t step = 1;
  if constexpr (kScope == by::warp) {
    const warp_group warp = warp_group::mine();
    __syncwarp(warp.mask);
    first = warp.lane;
    step = warp.lanes;
  }
  uint32_t worst = DOORBELL_OK;
#pragma unroll 1
  for (uint32_t i = first; i < count; i += step) {
    const queue_pair qp(&qps[chosen[i]]);
    const uint32_t status = detail::quiet(qp);
    worst = status != DOORBELL_OK ? status : worst;
  }
  if constexpr (kScope == by::warp) {
    const warp_group warp = warp_group::mine();
    __syncwarp(warp.mask);
    worst = static_cast<uint32_t>(warp.maximum(worst));
  }
  return worst;
}

}  // namespace doorbell

#endif  // DOORBELL_OPERATIONS_CUH
