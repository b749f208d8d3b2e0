// Push with credits: the GPU stores payloads into a ring in the HCA's on-chip memory and rings; the HCA
// gives slots back by writing an index to GPU memory. Nothing is read over PCIe, and the HCA rejects nothing:
// a poster without a credit waits here.
//
//   reserve   wait until the ring has room: index + 1 - released <= entries
//   payload   store it into slot index mod slots, or leave it where it is when that slot is taken
//   commit    header and record, then a system fence: all of it is there before
//   doorbell  one store of the committed index; a later one covers earlier ones
//   credit    the HCA stores {released, acknowledged}
//
// Order: the fence orders payload, header and record, which go to on-chip memory, before the doorbell,
// which goes to a register. Credits are acquired at system scope before a slot is filled again.
//
// Concurrency: the HCA reads what lies below the doorbell and writes the credit words. One block is
// the only producer of a push_ring; its threads copy, its first thread does the rest. A
// shared_push_ring has several such blocks, which fill slots at the same time and commit in turn.
#ifndef DOORBELL_PUSH_CUH
#define DOORBELL_PUSH_CUH

#include "doorbell/operations.cuh"
#include "doorbell/push_abi.h"
#include "doorbell/stage.cuh"

namespace doorbell {

struct push_message {
  uint64_t local;
  uint64_t remote;
  uint32_t bytes;
  uint32_t destination;
};

// Writes the header of message `index`, phase and seal last.
__device__ __forceinline__ void write_push_header(const doorbell_push_ring &ring, uint64_t index,
                                                  const push_message &message, uint32_t flags,
                                                  uint32_t checksum) {
  const uint64_t header =
      ring.headers + (index & (ring.entries - 1)) * sizeof(doorbell_push_header);
  const uint32_t phase = static_cast<uint32_t>(index / ring.entries + 1) & 1;
  const uint32_t destination = message.destination;
  const uint32_t seal = low(index) + high(index) + low(message.local) + high(message.local) +
                        low(message.remote) + high(message.remote) + message.bytes + destination +
                        checksum + flags + phase + 1;
  store_unit(header, {low(index), high(index), low(message.local), high(message.local)});
  store_unit(header + 16, {low(message.remote), high(message.remote), message.bytes,
                           destination});
  store_unit(header + 32, {checksum, flags, phase, seal});
}

// The state of a ring, held by the first thread of its block.
class push_ring {
 public:
  __device__ __forceinline__ explicit push_ring(const doorbell_push_ring *ring)
      : shared_(ring),
        counters_(reinterpret_cast<doorbell_push_counters *>(ring->counters)),
        next_(counters_->reserved),
        seen_(counters_->seen),
        rung_(counters_->rung) {}

  // The next message's index.
  __device__ __forceinline__ uint64_t next() const { return next_; }

  // Returns whether a message can be reserved now. Loads the credit only if the cached one is too small.
  __device__ __forceinline__ bool has_room() {
    if (next_ - seen_ < shared_->entries) {
      return true;
    }
    look();
    return next_ - seen_ < shared_->entries;
  }

  // Waits for room. A poster that waits rings first: the messages in the ring may need a doorbell that
  // was postponed for a batch. Returns DOORBELL_OK or DOORBELL_ERROR_DEADLINE.
  __device__ __forceinline__ uint32_t wait_for_room(bool fenced) {
    if (unrung()) {
      ring(fenced);
    }
    deadline limit(shared_->deadline_ns);
    while (!has_room()) {
      if (limit.due() && limit.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    return DOORBELL_OK;
  }

  // Messages below have given their slots back. Reads the credit.
  __device__ __forceinline__ uint64_t released() {
    look();
    return seen_;
  }

  // Takes the next index. The caller has made sure of room.
  __device__ __forceinline__ uint64_t reserve() {
    const uint64_t index = next_++;
    store_relaxed_device(&counters_->reserved, next_);
    return index;
  }

  // Whether the message may lie in the ring: the last one in its slot is released.
  __device__ __forceinline__ bool stages(uint64_t index) {
    if (index - seen_ >= shared_->slots) {
      look();
    }
    const bool free = index - seen_ < shared_->slots;
    if (!free) {
      store_relaxed_device(&counters_->pulled, ++pulled_);
    }
    return free;
  }

  __device__ __forceinline__ static uint64_t slot(const doorbell_push_ring &ring, uint64_t index) {
    return ring.payload + (index & (ring.slots - 1)) * ring.slot_bytes;
  }

  // Writes header and record; the payload is stored. The doorbell makes them count.
  __device__ __forceinline__ void commit(uint64_t index, const push_message &message, uint32_t flags,
                                         uint32_t checksum) {
    write_push_header(*shared_, index, message, flags, checksum);
    *reinterpret_cast<uint64_t *>(shared_->record) = index + 1;
  }

  // Rings for all that is reserved, and so committed.
  __device__ __forceinline__ void ring(bool fenced) {
    if (fenced) {
      fence(true);
    }
    store_register(shared_->doorbell, next_);
    rung_ = next_;
    store_relaxed_device(&counters_->rung, rung_);
  }

  __device__ __forceinline__ bool batch_full() const { return next_ - rung_ >= shared_->batch; }

  __device__ __forceinline__ bool unrung() const { return next_ != rung_; }

  // Waits until all messages have arrived.
  __device__ __forceinline__ uint32_t quiet() {
    deadline limit(shared_->deadline_ns);
    while (load_acquire_system(&credit()->acknowledged) < next_) {
      if (limit.due() && limit.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    look();
    return DOORBELL_OK;
  }

 private:
  __device__ __forceinline__ const doorbell_push_credit *credit() const {
    return reinterpret_cast<const doorbell_push_credit *>(shared_->credit);
  }

  // A credit that was late must not take back what a later one gave.
  __device__ __forceinline__ void look() {
    const uint64_t released = load_acquire_system(&credit()->released);
    if (released > seen_) {
      seen_ = released;
      store_relaxed_device(&counters_->seen, seen_);
    }
  }

  const doorbell_push_ring *shared_;
  doorbell_push_counters *counters_;
  uint64_t next_;
  uint64_t seen_;
  uint64_t rung_;
  uint64_t pulled_ = 0;
};

// A ring to which several blocks push, as the first thread of one of them holds it. Slots are handed
// out by an atomic and filled at the same time. Messages are committed in their order: each producer
// waits for its turn, which is short, as only header, record and doorbell lie in it. So the committed
// index is one number for all of them, and a doorbell never covers a slot that is still being filled.
//
// Order: a producer drains its own payload (system fence) before its turn; the turn is handed on by
// release and acquire; whoever rings fences once more, for records of others that it has acquired.
class shared_push_ring {
 public:
  __device__ __forceinline__ explicit shared_push_ring(const doorbell_push_ring *ring)
      : shared_(ring),
        counters_(reinterpret_cast<doorbell_push_counters *>(ring->counters)),
        seen_(load_relaxed_device(&counters_->seen)) {}

  // Takes the next index if the ring has room now.
  __device__ __forceinline__ bool try_reserve(uint64_t &index) {
    cuda::atomic_ref<uint64_t, cuda::thread_scope_device> reserved(counters_->reserved);
    index = reserved.load(cuda::memory_order_relaxed);
    for (;;) {
      if (index - seen_ >= shared_->entries) {
        look();
        if (index - seen_ >= shared_->entries) {
          return false;
        }
      }
      if (reserved.compare_exchange_weak(index, index + 1, cuda::memory_order_relaxed)) {
        return true;
      }
    }
  }

  // Takes the next index when the ring has room. Who has to wait rings first: what fills the ring may
  // wait for a doorbell that a batch has put off. Returns DOORBELL_OK or DOORBELL_ERROR_DEADLINE.
  __device__ __forceinline__ uint32_t reserve(uint64_t &index) {
    if (try_reserve(index)) {
      return DOORBELL_OK;
    }
    flush();
    deadline limit(shared_->deadline_ns);
    while (!try_reserve(index)) {
      if (limit.due() && limit.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    return DOORBELL_OK;
  }

  // Whether the message may lie in the ring: the last one in its slot is released.
  __device__ __forceinline__ bool stages(uint64_t index) {
    if (index - seen_ >= shared_->slots) {
      look();
    }
    const bool free = index - seen_ < shared_->slots;
    if (!free) {
      cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(counters_->pulled)
          .fetch_add(1, cuda::memory_order_relaxed);
    }
    return free;
  }

  // Commits a message whose payload is stored, in its turn, and rings when a batch is full. Returns
  // DOORBELL_OK, or DOORBELL_ERROR_DEADLINE when one before it never was committed.
  __device__ __forceinline__ uint32_t commit(uint64_t index, const push_message &message,
                                             uint32_t flags, uint32_t checksum) {
    write_push_header(*shared_, index, message, flags, checksum);
    fence(true);
    deadline limit(shared_->deadline_ns);
    while (load_acquire_device(&counters_->committed) != index) {
      if (limit.due() && limit.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    *reinterpret_cast<uint64_t *>(shared_->record) = index + 1;
    if (index + 1 - load_relaxed_device(&counters_->rung) >= shared_->batch) {
      ring(index + 1);
    }
    store_release_device(&counters_->committed, index + 1);
    last_ = index + 1;
    return DOORBELL_OK;
  }

  // Rings for what is committed and was not rung for: the flush rule of a burst, for each producer.
  __device__ __forceinline__ void flush() {
    const uint64_t committed = load_acquire_device(&counters_->committed);
    if (committed > load_relaxed_device(&counters_->rung)) {
      ring(committed);
    }
  }

  // Waits until all messages of this producer have arrived, and what was before them.
  __device__ __forceinline__ uint32_t quiet() {
    deadline limit(shared_->deadline_ns);
    while (load_acquire_system(&credit()->acknowledged) < last_) {
      if (limit.due() && limit.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
    look();
    return DOORBELL_OK;
  }

 private:
  // A doorbell that comes later than one for more does no harm: the HCA takes the larger index.
  __device__ __forceinline__ void ring(uint64_t index) {
    fence(true);
    store_register(shared_->doorbell, index);
    raise_release_device(&counters_->rung, index);
  }

  __device__ __forceinline__ const doorbell_push_credit *credit() const {
    return reinterpret_cast<const doorbell_push_credit *>(shared_->credit);
  }

  __device__ __forceinline__ void look() {
    const uint64_t released = load_acquire_system(&credit()->released);
    if (released > seen_) {
      seen_ = released;
      raise_release_device(&counters_->seen, seen_);
    }
  }

  const doorbell_push_ring *shared_;
  doorbell_push_counters *counters_;
  uint64_t seen_;
  uint64_t last_ = 0;
};

}  // namespace doorbell

#endif  // DOORBELL_PUSH_CUH
