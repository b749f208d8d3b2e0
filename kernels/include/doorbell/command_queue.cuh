// The queue of commands from GPU threads to the CPU: its entries, and the device side of it.
//
// Many threads of one GPU submit, one CPU agent consumes. Entries are 64 bytes in host memory, as
// eight little-endian 64-bit words. Bit 0 of EVERY word is the phase: the inverse parity of the lap,
// ~(index / entries) & 1, which is 1 in the first lap, so that zeroed memory reads as "not yet". An
// entry is there when all eight phases match; its words may arrive in any order, nothing is ever
// cleared, and no fence stands between them. Bits that the phase displaces are kept in word 5.
//
//        63      56 55              40 39      32 31                                1 0
//       +----------+------------------+----------+-----------------------------------+-+
//  w0   |  opcode  |   queue pair     |  flags   | length (bytes)                    |P|
//       +----------+------------------+----------+-----------------------------------+-+
//  w1   | remote address, bits 63:1                                                  |P|
//       +----------------------------------------------------------------------------+-+
//  w2   | local address, bits 63:1         (inline put: bytes 0-7)                   |P|
//       +----------------------------------------------------------------------------+-+
//  w3   | operand, bits 63:1               (inline put: bytes 8-15)                  |P|
//       +----------------------------------------------------------------------------+-+
//  w4   | compare, bits 63:1               (inline put: bytes 16-23)                 |P|
//       +----------------------------------------+----------------------+--+--+--+--+-+
//  w5   | remote key                             | fetched 57:31        |c |o |l |r |P|
//       +----------------------------------------+----------------------+--+--+--+--+-+
//  w6   | local key                              | fetched 30:0                      |P|
//       +----------------------------------------+------------------------+----------+-+
//  w7   | immediate                              | index 24:0             | f 63:58  |P|
//       +----------------------------------------+------------------------+----------+-+
//        63                                    32 31                     7 6        1 0
//
//  P phase; r l o c (bits 1 to 4 of w5): bit 0 of remote address, local address, operand, compare.
//  Queue pair: doorbell_qp.number. Keys: as the WQE holds them, that is byte-swapped; everything
//  else as a plain number. Index: low bits of the entry's own index; the consumer checks it and so
//  notices a producer that overran it.
//
//  What the fields mean (opcode: DOORBELL_OP_* of abi.h, or DOORBELL_COMMAND_* below):
//
//    opcode         remote     local           operand      compare         immediate
//    PUT            target     source
//    PUT_IMM        target     source                                       immediate data
//    GET            source     target
//    PUT_INLINE     target     -- up to 24 bytes of payload in w2, w3, w4 --
//    FETCH_ADD      cell       old value here  addend
//    COMPARE_SWAP   cell       old value here  new value    compare
//    PUT_SIGNAL     target     source          addend       signal address  signal's rkey
//                              and in `fetched` where the signal's old value lands (local key)
//    NOP            a WQE that does nothing
//    FLUSH          no WQE: finishes when everything before it in the queue has finished
//
// Java side: dev.doorbell.core.queue.CommandEntry.
#ifndef DOORBELL_COMMAND_QUEUE_CUH
#define DOORBELL_COMMAND_QUEUE_CUH

#include <cuda/atomic>
#include <stdint.h>

#include "doorbell/memory.cuh"

// Opcodes beyond DOORBELL_OP_*.
#define DOORBELL_COMMAND_NOP 0x40u
#define DOORBELL_COMMAND_FLUSH 0x41u

// Flags of a command.
#define DOORBELL_COMMAND_FENCE 0x01u  // wait for earlier READs and atomics of the queue pair

#define DOORBELL_COMMAND_INLINE_BYTES 24u

// Bit of the `finished` counter: a command failed. The error records of the queue pairs name it; the
// bit is never cleared.
#define DOORBELL_COMMANDS_FAILED (UINT64_C(1) << 63)

// What doorbell_command_queue.head points to. GPU memory, zeroed by the host; kept over launches.
struct doorbell_command_producer {
  uint64_t head;  // the next index to hand out
  uint64_t head_pad[15];
  uint64_t consumed_seen;  // a lower bound of `consumed`, so that few threads read host memory
  uint64_t poisoned;       // not 0: an entry was claimed and never written; nothing after it moves
  uint64_t poisoned_pad[14];
};

namespace doorbell {

// A command before it is an entry. Fields that the opcode has no use for are 0.
struct command {
  uint64_t remote_address = 0;
  uint64_t local_address = 0;
  uint64_t operand = 0;
  uint64_t compare = 0;
  uint64_t fetched = 0;
  uint32_t length = 0;      // bytes, below 2^31; 0 is a message of no bytes
  uint32_t remote_key = 0;  // as the WQE holds it
  uint32_t local_key = 0;   // as the WQE holds it
  uint32_t immediate = 0;
  uint16_t queue_pair = 0;  // doorbell_qp.number
  uint8_t opcode = DOORBELL_COMMAND_NOP;
  uint8_t flags = 0;
};

// A submitted command: wait for it with command_wait.
struct command_ticket {
  uint64_t index;
  uint32_t status;  // DOORBELL_OK, or why it was not submitted; then the index is undefined
};

namespace detail {

using device_counter = cuda::atomic_ref<uint64_t, cuda::thread_scope_device>;
using system_counter = cuda::atomic_ref<uint64_t, cuda::thread_scope_system>;
using system_word = cuda::atomic_ref<uint32_t, cuda::thread_scope_system>;

__device__ inline uint64_t command_clock() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Two words in one 16-byte store, each strong at system scope. C++ cannot express it.
__device__ inline void store_words(uint64_t address, uint64_t low, uint64_t high) {
  asm volatile("st.relaxed.sys.v2.u64 [%0], {%1, %2};"
               :
               : "l"(address), "l"(low), "l"(high)
               : "memory");
}

__device__ inline uint64_t with_phase(uint64_t value, uint64_t phase) {
  return (value & ~UINT64_C(1)) | phase;
}

// Waits until entry `index` is free. Returns a status, and in `consumed` what it saw.
__device__ inline uint32_t await_credit(const doorbell_command_queue *queue,
                                        doorbell_command_producer *producer, uint64_t index,
                                        uint64_t deadline_ns, uint64_t *consumed) {
  system_counter counter(*reinterpret_cast<uint64_t *>(queue->consumed));
  device_counter poisoned(producer->poisoned);
  const uint64_t start = command_clock();
  while (true) {
    *consumed = counter.load(cuda::memory_order_relaxed);
    if (index - *consumed < queue->entries) {
      return DOORBELL_OK;
    }
    if (poisoned.load(cuda::memory_order_relaxed) != 0) {
      return DOORBELL_ERROR_POISONED;
    }
    if (command_clock() - start >= deadline_ns) {
      // The entry is claimed, but the one that occupies it was never read: the consumer will stop
      // here for good, which is recorded for all producers.
      poisoned.store(1, cuda::memory_order_relaxed);
      return DOORBELL_ERROR_DEADLINE;
    }
  }
}

}  // namespace detail

// Writes one command into the queue, waiting at most `deadline_ns` nanoseconds for a free entry.
//
// Memory order: what this thread wrote or observed before is visible to the CPU, and to the HCA that
// the CPU rings, before the command is; one release fence at system scope does it. Pass
// `payload_written` = false when the command sends nothing that was written since this thread's last
// system-scope fence (inline puts, atomics, gets): then there is no fence, but for one a lap when
// credits are refreshed.
//
// Status: DOORBELL_ERROR_ARGUMENT for a length of 2^31 and more, or an inline put longer than
// DOORBELL_COMMAND_INLINE_BYTES; DOORBELL_ERROR_DEADLINE when no entry became free in time, which
// poisons the queue; DOORBELL_ERROR_POISONED when that had happened before. Any number of threads.
__device__ inline command_ticket command_submit(const doorbell_command_queue *queue,
                                                const command &c, uint64_t deadline_ns,
                                                bool payload_written = true) {
  if ((c.length >> 31) != 0 ||
      (c.opcode == DOORBELL_OP_PUT_INLINE && c.length > DOORBELL_COMMAND_INLINE_BYTES)) {
    return {0, DOORBELL_ERROR_ARGUMENT};
  }
  auto *producer = reinterpret_cast<doorbell_command_producer *>(queue->head);
  detail::device_counter seen(producer->consumed_seen);
  const uint64_t index =
      detail::device_counter(producer->head).fetch_add(1, cuda::memory_order_relaxed);
  const uint32_t entries = queue->entries;

  // The first lap needs no credits. After it, a bound in GPU memory nearly always suffices; host
  // memory is read when it does not, about once a lap.
  uint64_t consumed = 0;
  bool refreshed = false;
  if (index >= entries) {
    consumed = seen.load(payload_written ? cuda::memory_order_relaxed : cuda::memory_order_acquire);
    if (index - consumed >= entries) {
      const uint32_t status = detail::await_credit(queue, producer, index, deadline_ns, &consumed);
      if (status != DOORBELL_OK) {
        return {index, status};
      }
      refreshed = true;
    }
  }

  // Orders the payload before the entry, and the consumer's last reads of the entry, which the
  // credit stands for, before it is overwritten.
  if (payload_written || refreshed) {
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
  }
  if (refreshed) {
    seen.fetch_max(consumed, cuda::memory_order_relaxed);
  }

  const uint64_t phase = (index & entries) == 0 ? 1 : 0;
  const uint64_t displaced = (c.remote_address & 1) << 1 | (c.local_address & 1) << 2 |
                             (c.operand & 1) << 3 | (c.compare & 1) << 4;
  const uint64_t entry = queue->ring + (index & (entries - 1)) * 64;
  detail::store_words(entry,
                      static_cast<uint64_t>(c.opcode) << 56 |
                          static_cast<uint64_t>(c.queue_pair) << 40 |
                          static_cast<uint64_t>(c.flags) << 32 |
                          static_cast<uint64_t>(c.length) << 1 | phase,
                      detail::with_phase(c.remote_address, phase));
  detail::store_words(entry + 16, detail::with_phase(c.local_address, phase),
                      detail::with_phase(c.operand, phase));
  detail::store_words(entry + 32, detail::with_phase(c.compare, phase),
                      static_cast<uint64_t>(c.remote_key) << 32 |
                          (c.fetched >> 31 & UINT64_C(0x7ffffff)) << 5 | displaced | phase);
  detail::store_words(entry + 48,
                      static_cast<uint64_t>(c.local_key) << 32 |
                          (c.fetched & UINT64_C(0x7fffffff)) << 1 | phase,
                      static_cast<uint64_t>(c.immediate) << 32 |
                          (index & UINT64_C(0x1ffffff)) << 7 | (c.fetched >> 58) << 1 | phase);
  return {index, DOORBELL_OK};
}

// Waits until the command `index` and every one before it in the queue has finished.
//
// Memory order: acquire at system scope; results of gets and atomics are there. `qp` is the queue
// pair whose error record ends the wait. Status: the error record's when it is set, whichever
// command set it; DOORBELL_ERROR_POISONED when an entry before was claimed and never written;
// DOORBELL_ERROR_DEADLINE after `deadline_ns` nanoseconds.
__device__ inline uint32_t command_wait(const doorbell_qp *qp, const doorbell_command_queue *queue,
                                        uint64_t index, uint64_t deadline_ns) {
  detail::system_counter finished(*reinterpret_cast<uint64_t *>(queue->finished));
  detail::device_counter poisoned(
      reinterpret_cast<doorbell_command_producer *>(queue->head)->poisoned);
  deadline limit(deadline_ns);
  while (true) {
    const uint64_t seen = finished.load(cuda::memory_order_acquire);
    if ((seen & DOORBELL_COMMANDS_FAILED) != 0) {
      auto *error = reinterpret_cast<doorbell_error *>(qp->error);
      const uint32_t status = detail::system_word(error->status).load(cuda::memory_order_acquire);
      if (status != DOORBELL_OK) {
        return status;
      }
    }
    if ((seen & ~DOORBELL_COMMANDS_FAILED) > index) {
      return DOORBELL_OK;
    }
    if (limit.due()) {
      if (poisoned.load(cuda::memory_order_relaxed) != 0) {
        return DOORBELL_ERROR_POISONED;
      }
      if (limit.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
    }
  }
}

// Waits for every command that any thread had submitted when this was called; see command_wait.
__device__ inline uint32_t command_quiet(const doorbell_qp *qp, const doorbell_command_queue *queue,
                                         uint64_t deadline_ns) {
  auto *producer = reinterpret_cast<doorbell_command_producer *>(queue->head);
  const uint64_t head = detail::device_counter(producer->head).load(cuda::memory_order_relaxed);
  return head == 0 ? DOORBELL_OK : command_wait(qp, queue, head - 1, deadline_ns);
}

}  // namespace doorbell

#endif  // DOORBELL_COMMAND_QUEUE_CUH
