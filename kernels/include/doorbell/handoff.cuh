// Short commands from GPU threads to the CPU: 16 bytes each, in three ways to hand them over. Each is a
// class with put() and await's index; handoff_family.cuh has those with longer entries.
//
// A short command is a put between two regions that the CPU knows. An entry is two little-endian
// 64-bit words in host memory; bit 0 of each is the phase, as in command_queue.cuh: the inverse
// parity of the lap, so that zeroed memory reads as "not yet". An entry is there when both phases
// match; its words may arrive in any order, and nothing is ever cleared.
//
//        63      56 55              40 39       33  32 31                           1 0
//       +----------+------------------+-----------+---+------------------------------+-+
//  w0   |  opcode  |   queue pair     |     0     | l |  length (bytes)              |P|
//       +----------+------------------+-----------+---+------------------------------+-+
//  w1   | remote offset (bytes)                       | local offset, bits 31:1      |P|
//       +---------------------------------------------+------------------------------+-+
//        63                                         32 31                           1 0
//
//  P phase; l: bit 0 of the local offset. Queue pair: doorbell_qp.number. Opcode: DOORBELL_OP_PUT, or
//  DOORBELL_OP_PUT_INLINE for a payload in host memory that the CPU copies into the WQE.
//
// The queue is described by doorbell_command_queue, whose ring has entries of 16 bytes here. Waits are
// those of command_queue.cuh.
//
// Java side: dev.doorbell.core.queue.ShortCommand.
#ifndef DOORBELL_HANDOFF_CUH
#define DOORBELL_HANDOFF_CUH

#include "doorbell/command_queue.cuh"

#define DOORBELL_SHORT_COMMAND_BYTES 16u

namespace doorbell {

// A put between the two regions of a ring: what every way of handing over is asked for.
struct handoff_put {
  uint64_t remote_offset;
  uint64_t local_offset;
  uint32_t opcode;      // DOORBELL_OP_PUT, or DOORBELL_OP_PUT_INLINE
  uint32_t queue_pair;  // doorbell_qp.number
  uint32_t bytes;
};

// The words of a short command, without their phases.
struct short_command {
  uint64_t low;
  uint64_t high;

  static __device__ __forceinline__ short_command of(const handoff_put &put) {
    return {static_cast<uint64_t>(put.opcode) << 56 |
                static_cast<uint64_t>(put.queue_pair & 0xffffu) << 40 |
                (put.local_offset & 1) << 32 | static_cast<uint64_t>(put.bytes) << 1,
            put.remote_offset << 32 | (put.local_offset & 0xfffffffeull)};
  }
};

namespace detail {

// Waits until entry `index` is free, reading the CPU's progress at least once. Returns a status, and in
// `consumed` what it saw. Acquire at system scope: the CPU has read the entry before it is overwritten.
__device__ __forceinline__ uint32_t await_entry(const doorbell_command_queue &queue, uint64_t index,
                                                uint64_t deadline_ns, uint64_t &consumed) {
  deadline limit(deadline_ns);
  for (;;) {
    consumed = load_acquire_system(reinterpret_cast<const uint64_t *>(queue.consumed));
    if (index - consumed < queue.entries) {
      return DOORBELL_OK;
    }
    if (limit.due() && limit.passed()) {
      return DOORBELL_ERROR_DEADLINE;
    }
  }
}

__device__ __forceinline__ uint64_t entry_address(const doorbell_command_queue &queue,
                                                  uint64_t index) {
  return queue.ring + (index & (queue.entries - 1)) * DOORBELL_SHORT_COMMAND_BYTES;
}

__device__ __forceinline__ uint64_t phase_of(const doorbell_command_queue &queue, uint64_t index) {
  return (index & queue.entries) == 0 ? 1 : 0;
}

}  // namespace detail

// The handoff with many producers a ring. An enqueue is an atomic in GPU memory, which reserves; a load
// of the CPU's progress from host memory; and two stores, of which the second has release semantics at
// system scope.
//
// Memory order: what this thread wrote or observed before is visible to the CPU, and to the HCA that the
// CPU rings, before the command is. A producer that found no free entry before its deadline leaves a
// hole, behind which nothing moves: it poisons the queue, and waits for commands end.
class shared_handoff {
 public:
  // Whether a put is ordered behind what its thread wrote before.
  static constexpr bool kOrders = true;

  __device__ __forceinline__ explicit shared_handoff(const doorbell_command_queue *queue)
      : queue_(*queue) {}

  __device__ __forceinline__ command_ticket put(const handoff_put &what, uint64_t deadline_ns) {
    const short_command command = short_command::of(what);
    auto *producer = reinterpret_cast<doorbell_command_producer *>(queue_.head);
    const uint64_t index =
        detail::device_counter(producer->head).fetch_add(1, cuda::memory_order_relaxed);
    uint64_t consumed;
    const uint32_t status = detail::await_entry(queue_, index, deadline_ns, consumed);
    if (status != DOORBELL_OK) {
      store_relaxed_device(&producer->poisoned, 1);
      return {index, status};
    }
    const uint64_t phase = detail::phase_of(queue_, index);
    auto *entry = reinterpret_cast<uint64_t *>(detail::entry_address(queue_, index));
    store_relaxed_system(entry + 1, command.high | phase);
    cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*entry).store(
        command.low | phase, cuda::memory_order_release);
    return {index, DOORBELL_OK};
  }

 private:
  doorbell_command_queue queue_;
};

// The handoff with one producer a ring, whose index and last progress that it saw are the producer's own. It is a
// function that is called, as that of a library: they lie in local memory. An enqueue is one 16-byte store to host
// memory; once a lap it reads the progress.
//
// Memory order: none for the payload. What the thread wrote before is visible to the CPU and the HCA
// only if a fence of system scope stands between.
class private_handoff {
 public:
  static constexpr bool kOrders = false;

  // `first`: commands that were enqueued on this ring before.
  __device__ __forceinline__ explicit private_handoff(const doorbell_command_queue *queue,
                                                      uint64_t first = 0)
      : queue_(*queue), next_(first), consumed_(first) {}

  __device__ __noinline__ command_ticket put(const handoff_put &what, uint64_t deadline_ns) {
    const short_command command = short_command::of(what);
    const uint64_t index = next_;
    if (index - consumed_ >= queue_.entries) {
      const uint32_t status = detail::await_entry(queue_, index, deadline_ns, consumed_);
      if (status != DOORBELL_OK) {
        return {index, status};
      }
    }
    const uint64_t phase = detail::phase_of(queue_, index);
    detail::store_words(detail::entry_address(queue_, index), command.low | phase,
                        command.high | phase);
    next_ = index + 1;
    return {index, DOORBELL_OK};
  }

 private:
  doorbell_command_queue queue_;
  uint64_t next_;
  uint64_t consumed_;
};

// The handoff with many producers a ring and a bound of the CPU's progress in GPU memory, which one of
// them renews from host memory about once a lap: a FIFO. An enqueue is an atomic and one 16-byte store.
//
// Memory order: none for the payload, as of private_handoff. A deadline that passes poisons the queue,
// as of shared_handoff.
class fifo_handoff {
 public:
  static constexpr bool kOrders = false;

  __device__ __forceinline__ explicit fifo_handoff(const doorbell_command_queue *queue)
      : queue_(*queue) {}

  __device__ __forceinline__ command_ticket put(const handoff_put &what, uint64_t deadline_ns) {
    const short_command command = short_command::of(what);
    auto *producer = reinterpret_cast<doorbell_command_producer *>(queue_.head);
    const uint64_t index =
        detail::device_counter(producer->head).fetch_add(1, cuda::memory_order_relaxed);
    if (index >= queue_.entries) {
      // Acquire: whoever renewed the bound had acquired the CPU's reads of the entry.
      const uint64_t seen = load_acquire_device(&producer->consumed_seen);
      if (index - seen >= queue_.entries) {
        uint64_t consumed;
        const uint32_t status = detail::await_entry(queue_, index, deadline_ns, consumed);
        if (status != DOORBELL_OK) {
          store_relaxed_device(&producer->poisoned, 1);
          return {index, status};
        }
        raise_release_device(&producer->consumed_seen, consumed);
      }
    }
    const uint64_t phase = detail::phase_of(queue_, index);
    detail::store_words(detail::entry_address(queue_, index), command.low | phase,
                        command.high | phase);
    return {index, DOORBELL_OK};
  }

 private:
  doorbell_command_queue queue_;
};

}  // namespace doorbell

#endif  // DOORBELL_HANDOFF_CUH
