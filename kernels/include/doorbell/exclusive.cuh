// Puts of one thread that holds an exclusive queue pair for a while, by the accesses that its HCA requires.
//
//   doorbell::exclusive::poster<doorbell::exclusive::record::last> poster(&qps[thread]);
//   poster.put({remote, remote_key, local, local_key, bytes});
//   poster.put_batch(count, [&](uint32_t i) { return transfer{...}; });   // one doorbell, one CQE
//   poster.quiet();
//   poster.close();
//
// A poster has all that a put needs of its queue pair in registers, its place in the ring included: nothing is loaded
// behind a fence, and no counter is stored until close(). It calls nothing. What it costs a caller in registers and time
// is in docs/performance.md; one that posts now and then is better served by light.cuh.
//
// The kind of record is known at compile time:
//
//   first  WQE; fence; record; fence; doorbell: two fences a post
//   last   WQE; fence; doorbell; record. The fence behind the record and the second doorbell, by which an HCA that
//          lost the first one finds the record, are those of the next post, of the next wait that finds no CQE, or of
//          close(): one fence a post, and whoever closes owes no doorbell
//   none   WQE; fence; doorbell: for HCAs that lose no doorbell
//
// What it leaves out is what light.cuh leaves out: the queue pair is exclusive, its CQ is collapsed, its doorbell is
// rung by this GPU. Others, and those with another kind of record, are refused with DOORBELL_ERROR_ARGUMENT. There is
// no inline payload, no atomic, no ticket: quiet() waits for all.
//
// One thread makes, uses and closes a poster. Between that it uses the queue pair in no other way; before and after,
// operations.cuh (with a queue_pair that it makes then) and light.cuh may. What was posted before with a payload in the
// WQE is done when the poster is made. The counters that the host sees are those of before until close(), or an error.
//
// Memory order: what the thread wrote before put() or put_batch() is what the HCA sends. Status words, keys, deadlines and
// the error record are those of operations.cuh. An error stays: all later calls return it.
#ifndef DOORBELL_EXCLUSIVE_CUH
#define DOORBELL_EXCLUSIVE_CUH

#include "doorbell/light.cuh"

namespace doorbell {
namespace exclusive {

using light::transfer;

// When the doorbell record is written.
enum class record : uint32_t { first, last, none };

template <record kRecord>
class poster {
 public:
  // Takes over the queue pair. One that is refused or broken says so at the first call.
  __device__ __forceinline__ explicit poster(const doorbell_qp *qp)
      : qp_(qp),
        ring_(qp->sq_ring),
        record_(qp->sq_record),
        doorbell_(qp->doorbell),
        cqe_(qp->cq_ring),
        blocks_(qp->sq_blocks),
        number_(qp->qpn << 8),
        system_((qp->flags & DOORBELL_QP_SCOPE_SYSTEM) != 0) {
    if ((qp->flags & (kNeeded | kRefused)) != kNeeded) {
      status_ = DOORBELL_ERROR_ARGUMENT;
      return;
    }
    // All three before one is looked at: so the loads wait together.
    const uint64_t reserved = load_relaxed_device(&counters_of(qp)->reserved);
    const uint64_t completed = load_relaxed_device(&counters_of(qp)->completed);
    const uint64_t poison = load_relaxed_device(&counters_of(qp)->poison);
    if (poison != 0) {
      status_ = DOORBELL_ERROR_POISONED;
      return;
    }
    next_ = reserved_index(reserved);
    free_ = blocks_ - low(next_ - completed);
  }

  poster(const poster &) = delete;
  poster &operator=(const poster &) = delete;

  // Writes bytes() bytes, 1 to 2^31 - 1, from local() to remote(). `payload`: whether local() lies in memory of this
  // GPU (source::device), or in host or on-chip memory (source::system). In a full ring it waits for room.
  template <class Transfer = transfer>
  __device__ __forceinline__ uint32_t put(const Transfer &what, source payload = source::device) {
    // One test on the way of most: after an error nothing is free.
    if (__builtin_expect(free_ == 0 || bad_length(what.bytes()), 0)) {
      if (status_ == DOORBELL_OK && bad_length(what.bytes())) {
        return DOORBELL_ERROR_ARGUMENT;
      }
      if (await(1) != DOORBELL_OK) {
        return status_;
      }
    }
    write(next_, what, kSignaled);
    announce(1, payload);
    return DOORBELL_OK;
  }

  // Puts at(0), at(1), ... at(count - 1) and rings once; where they do not fit the ring, once for each part that does.
  // Of a part with a message that put() refuses nothing is posted.
  template <class At>
  __device__ __forceinline__ uint32_t put_batch(uint32_t count, At at, source payload = source::device) {
    uint32_t posted = 0;
    while (posted < count) {
      if (free_ == 0 && await(1) != DOORBELL_OK) {
        return status_;
      }
      const uint32_t part = count - posted < free_ ? count - posted : free_;
      bool refused = false;
      for (uint32_t i = 0; i < part; ++i) {
        const auto what = at(posted + i);
        refused = refused || bad_length(what.bytes());
        write(next_ + i, what, i + 1 == part ? kSignaled : 0);  // the last of a doorbell has a CQE
      }
      if (refused) {
        return DOORBELL_ERROR_ARGUMENT;
      }
      announce(part, payload);
      posted += part;
    }
    return status_;
  }

  // Waits until everything is done; then payload may be written again.
  __device__ __forceinline__ uint32_t quiet() {
    return free_ == blocks_ ? uint32_t{DOORBELL_OK} : await(blocks_);
  }

  // Rings for what is left, and gives the queue pair back. Does not wait: what is in flight may be awaited by other
  // means, or by another poster.
  __device__ __forceinline__ uint32_t close() {
    if (status_ == DOORBELL_OK) {
      settle();
      store_counters();
    }
    return status_;
  }

 private:
  static constexpr uint32_t kNeeded = DOORBELL_QP_EXCLUSIVE | DOORBELL_QP_CQ_COLLAPSED |
                                      (kRecord == record::last   ? DOORBELL_QP_RECORD_LAST
                                       : kRecord == record::none ? DOORBELL_QP_NO_RECORD
                                                                 : 0);
  static constexpr uint32_t kRefused =
      (DOORBELL_QP_PROXY | DOORBELL_QP_EFA | DOORBELL_QP_CPU_RUNG |
       DOORBELL_QP_BLUEFLAME | DOORBELL_QP_CQ_RECORD | DOORBELL_QP_RECORD_LAST |
       DOORBELL_QP_NO_RECORD) &
      ~kNeeded;

  __device__ __forceinline__ static bool bad_length(uint32_t bytes) { return bytes - 1 >= kMaxMessageBytes; }

  // Stores the WQE of block `index`.
  template <class Transfer>
  __device__ __forceinline__ void write(uint64_t index, const Transfer &what, uint32_t signaled) const {
    const uint64_t at = ring_ + (low(index) & (blocks_ - 1)) * static_cast<uint64_t>(kBlockBytes);
    store_unit_strong(at + kUnitBytes, {big_endian(high(what.remote())), big_endian(low(what.remote())),
                                        what.remote_key(), 0});
    store_unit_strong(at + 2 * kUnitBytes,
                      {big_endian(what.bytes()), what.local_key(), big_endian(high(what.local())),
                       big_endian(low(what.local()))});
    store_unit_strong(at, {big_endian((low(index) & 0xffffu) << 8 | kOpcodeWrite),
                           big_endian(number_ | light::detail::kUnits), signaled << 24, 0});
  }

  __device__ __forceinline__ void store_record() const {
    store_relaxed_system(reinterpret_cast<uint32_t *>(record_), big_endian(low(next_) & 0xffffu));
  }

  __device__ __forceinline__ void store_doorbell() const {
    store_register(doorbell_, static_cast<uint64_t>(big_endian(number_)) << 32 |
                                  big_endian((low(next_) & 0xffffu) << 8));
  }

  // Rings for so many WQEs that are written.
  __device__ __forceinline__ void announce(uint32_t count, source payload) {
    next_ += count;
    free_ -= count;
    fence(system_ || payload == source::system);  // WQEs and payload; of record::last the record before, too
    if constexpr (kRecord == record::first) {
      store_record();
      fence(system_);
    }
    store_doorbell();
    if constexpr (kRecord == record::last) {
      store_record();
      owes_ = true;
    }
  }

  // Rings for the record of the last post, unless that is known to be done.
  __device__ __forceinline__ void settle() {
    if (owes_) {
      fence(system_);
      store_doorbell();
      owes_ = false;
    }
  }

  // Waits until so many blocks of the ring are free.
  __device__ __forceinline__ uint32_t await(uint32_t blocks) {
    if (status_ != DOORBELL_OK) {
      return status_;
    }
    deadline limit(qp_->deadline_ns);
    // A look at host memory takes longer than the fence and misses what has just been rung for; one at GPU memory
    // takes no longer and may save it.
    bool settles = system_;
    uint32_t cause = DOORBELL_OK;
#pragma unroll 1
    do {
      if (settles) {
        settle();
      }
      settles = true;
      const cqe_tail tail = read_cqe_tail(cqe_);
      if (tail.is_error()) {
        cause = DOORBELL_ERROR_CQE;
        break;
      }
      take(tail);
      if (free_ >= blocks) {
        return DOORBELL_OK;
      }
      if (limit.due()) {
        cause = load_relaxed_device(&counters_of(qp_)->poison) != 0 ? DOORBELL_ERROR_POISONED
                : limit.passed()                                   ? DOORBELL_ERROR_DEADLINE
                                                                   : DOORBELL_OK;
      }
    } while (cause == DOORBELL_OK);
    store_counters();
    free_ = 0;
    status_ = cause == DOORBELL_ERROR_POISONED
                  ? cause
                  : light::detail::fail(qp_, cause, cause == DOORBELL_ERROR_CQE ? cqe_ : 0);
    return status_;
  }

  // Frees what a CQE that is not of an error says is done.
  __device__ __forceinline__ void take(cqe_tail tail) {
    // An older CQE than what is known names a WQE further behind, by at most a ring, and a ring has at most 2^15 blocks.
    const uint32_t behind = (low(next_) - 1 - tail.wqe_counter()) & 0xffffu;
    if (tail.opcode() != kCqeInvalid && behind < blocks_ - free_) {
      free_ = blocks_ - behind;
      owes_ = owes_ && behind != 0;  // the HCA has executed all that the record is for
    }
  }

  __device__ __forceinline__ void store_counters() const {
    doorbell_counters *const counters = counters_of(qp_);
    store_relaxed_device(&counters->reserved, next_ << DOORBELL_RESERVED_SHIFT);
    store_relaxed_device(&counters->rung, next_);
    store_relaxed_device(&counters->completed, next_ - (blocks_ - free_));
  }

  const doorbell_qp *const qp_;
  const uint64_t ring_;
  const uint64_t record_;
  const uint64_t doorbell_;
  const uint64_t cqe_;
  const uint32_t blocks_;
  const uint32_t number_;
  const bool system_;
  uint64_t next_ = 0;    // the block of the next WQE
  uint32_t free_ = 0;    // blocks of the ring; after an error none
  bool owes_ = false;    // record::last: a fence and a doorbell for the record
  uint32_t status_ = DOORBELL_OK;
};

}  // namespace exclusive
}  // namespace doorbell

#endif  // DOORBELL_EXCLUSIVE_CUH
