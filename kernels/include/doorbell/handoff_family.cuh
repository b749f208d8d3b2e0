// Ways to hand puts to the CPU with entries longer than those of handoff.cuh, behind the same interface:
// the 64-byte entries of command_queue.cuh, and 128-byte ones.
//
// An entry of 128 bytes is sixteen little-endian 64-bit words in host memory; bit 0 of each is the phase,
// as in command_queue.cuh. It has room for what NCCL's GIN proxy puts into its descriptor (gin_proxy.h,
// ncclGinProxyGfd_t: an operation between offsets of windows, a signal, a counter, inline bytes), and is
// handed over by the same accesses.
//
//        63      56 55              40 39      32 31                                1 0
//       +----------+------------------+----------+-----------------------------------+-+
//  w0   |  opcode  |   queue pair     |    0     | length (bytes)                    |P|
//       +----------+------------------+----------+-----------------------------------+-+
//  w1   | remote offset (bytes)                                                      |P|
//  w2   | remote window                                                              |P|
//  w3   | local offset (bytes)                                                       |P|
//  w4   | local window                                                               |P|
//       +----------------------------------------------------------------------------+-+
//  w5   | to w14: signal offset, window and value, counter, inline bytes; 0 for a put |P|
//       +----------------------------------------------------------------------------+-+
//  w15  | index of the entry                                                         |P|
//       +----------------------------------------------------------------------------+-+
//        63                                                                        1 0
//
// Windows: 0 is the region of the ring at either end; there is no other.
//
// Java side: dev.doorbell.core.queue.WideCommand.
#ifndef DOORBELL_HANDOFF_FAMILY_CUH
#define DOORBELL_HANDOFF_FAMILY_CUH

#include "doorbell/handoff.cuh"

#define DOORBELL_WIDE_COMMAND_BYTES 128u

namespace doorbell {

// Where the regions of a ring lie, for entries that say addresses and keys.
struct handoff_regions {
  uint64_t remote;
  uint64_t local;
  uint32_t remote_key;  // as the WQE holds them
  uint32_t local_key;
};

// The handoff by the 64-byte entries of command_queue.cuh, which hold any operation. Any number of
// producers a ring; a fence of system scope orders the payload; the progress is cached in GPU memory.
class full_handoff {
 public:
  static constexpr bool kOrders = true;

  __device__ __forceinline__ full_handoff(const doorbell_command_queue *queue,
                                          const handoff_regions &regions)
      : queue_(queue), regions_(regions) {}

  __device__ __forceinline__ command_ticket put(const handoff_put &what, uint64_t deadline_ns) {
    command whole;
    whole.opcode = static_cast<uint8_t>(what.opcode);
    whole.queue_pair = static_cast<uint16_t>(what.queue_pair);
    whole.remote_address = regions_.remote + what.remote_offset;
    whole.remote_key = regions_.remote_key;
    whole.length = what.bytes;
    const uint64_t from = regions_.local + what.local_offset;
    if (what.opcode == DOORBELL_OP_PUT_INLINE) {
      const uint64_t *words = reinterpret_cast<const uint64_t *>(from);
      whole.local_address = words[0];
      whole.operand = what.bytes > 8 ? words[1] : 0;
      whole.compare = what.bytes > 16 ? words[2] : 0;
      return command_submit(queue_, whole, deadline_ns, false);
    }
    whole.local_address = from;
    whole.local_key = regions_.local_key;
    return command_submit(queue_, whole, deadline_ns, true);
  }

 private:
  const doorbell_command_queue *queue_;
  handoff_regions regions_;
};

// The handoff by 128-byte entries: an atomic in GPU memory reserves, the CPU's progress is read from host
// memory at every enqueue, a fence of system scope orders the payload, and eight 16-byte stores follow.
// Any number of producers a ring. A deadline that passes poisons the queue, as of shared_handoff.
class wide_handoff {
 public:
  static constexpr bool kOrders = true;

  __device__ __forceinline__ explicit wide_handoff(const doorbell_command_queue *queue)
      : queue_(*queue) {}

  __device__ __forceinline__ command_ticket put(const handoff_put &what, uint64_t deadline_ns) {
    fence(true);
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
    const uint64_t entry =
        queue_.ring + (index & (queue_.entries - 1)) * DOORBELL_WIDE_COMMAND_BYTES;
    detail::store_words(entry,
                        static_cast<uint64_t>(what.opcode) << 56 |
                            static_cast<uint64_t>(what.queue_pair & 0xffffu) << 40 |
                            static_cast<uint64_t>(what.bytes) << 1 | phase,
                        what.remote_offset << 1 | phase);
    detail::store_words(entry + 16, phase, what.local_offset << 1 | phase);
#pragma unroll
    for (uint32_t word = 4; word < 14; word += 2) {
      detail::store_words(entry + word * 8, phase, phase);
    }
    detail::store_words(entry + 112, phase, index << 1 | phase);
    return {index, DOORBELL_OK};
  }

 private:
  doorbell_command_queue queue_;
};

}  // namespace doorbell

#endif  // DOORBELL_HANDOFF_FAMILY_CUH
