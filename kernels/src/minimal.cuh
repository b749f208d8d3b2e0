// What put_minimal, put_minimal_rare and put_dynamic share: a queue pair, and posters that build WQEs, ring and look at CQEs by the
// fewest accesses that an HCA requires. The head of put_minimal.cu says what a job means.
//
//   view      what a post needs of its queue pair: in memory or in registers; rung by the CPU or not; with the
//             address vector of a target, or without
//   queue     builds a WQE, rings, looks at a CQE
//   poster    a thread or a warp: how it shares its queue pair, and how many doorbells are in flight
//   run       launches that measure times or a rate; background; bounce
#ifndef DOORBELL_MINIMAL_CUH
#define DOORBELL_MINIMAL_CUH

#include "protocol.cuh"

namespace doorbell {
namespace minimal {

// What stands between WQE, record and doorbell.
constexpr uint64_t kOrderNone = 0;           // nothing
constexpr uint64_t kOrderFence = 1;          // record; fence.acq_rel.gpu; doorbell
constexpr uint64_t kOrderFenceSc = 2;        // fence.sc.gpu; record; fence.sc.gpu; doorbell
constexpr uint64_t kOrderFencedRecord = 3;   // fence.acq_rel.gpu; record; fence.acq_rel.gpu; doorbell
constexpr uint64_t kOrderRelease = 4;        // st.release.gpu of the record and of the doorbell
constexpr uint64_t kOrderReleaseSystem = 5;  // st.release.sys of the record and of the doorbell
constexpr uint64_t kOrderSystem = 6;         // fence.acq_rel.sys; record; fence.acq_rel.sys; doorbell
constexpr uint64_t kOrderNoRecord = 7;       // fence.acq_rel.sys; doorbell
constexpr uint64_t kOrderTwice = 8;  // fence.acq_rel.gpu; doorbell; record; fence.acq_rel.gpu; doorbell

constexpr uint64_t kOrderReadBack = 9;  // record; loads of WQE and record; doorbell, whose value depends on them
constexpr uint64_t kOrderAgain = 10;  // doorbell; record; fence.acq_rel.gpu; doorbell: after a fence
constexpr uint64_t kOrderOfJob = 11;  // whichever of these the job names, but for kOrderReadBack

// How posters of a queue pair take turns.
constexpr uint64_t kSharingOwn = 0;    // one poster a queue pair: its indices are registers
constexpr uint64_t kSharingLock = 1;   // as turns, and each takes a lock around record and doorbell in its turn
constexpr uint64_t kSharingTurns = 2;  // a ticket by an atomic; WQEs in parallel, doorbells in turn
constexpr uint64_t kSharingMarks = 3;  // likewise, each marked ready in turn; one rings for several, kOrderAgain
constexpr uint64_t kSharingVisits = 4;  // a poster's queue pairs are its own: one after the other

// What stands before the record.
template <uint64_t kOrder>
__device__ __forceinline__ void order_before_record() {
  if constexpr (kOrder == kOrderFencedRecord || kOrder == kOrderTwice) {
    fence(false);
  } else if constexpr (kOrder == kOrderFenceSc) {
    asm volatile("fence.sc.gpu;" ::: "memory");
  } else if constexpr (kOrder == kOrderSystem || kOrder == kOrderNoRecord) {
    fence(true);
  }
}

// What stands between record and doorbell.
template <uint64_t kOrder>
__device__ __forceinline__ void order_before_doorbell() {
  if constexpr (kOrder == kOrderFence || kOrder == kOrderFencedRecord || kOrder == kOrderTwice || kOrder == kOrderAgain) {
    fence(false);
  } else if constexpr (kOrder == kOrderFenceSc) {
    asm volatile("fence.sc.gpu;" ::: "memory");
  } else if constexpr (kOrder == kOrderSystem) {
    fence(true);
  }
}

// What a post needs of its queue pair. Addresses are read from the view in GPU memory by each call, as a
// function does that is given a queue pair.
class view_in_memory {
 public:
  static constexpr bool kKept = false;
  static constexpr bool kThreeUnits = false;
  static constexpr bool kRungByCpu = false;
  static constexpr bool kDynamic = false;
  static constexpr bool kAwaitsLast = false;
  __device__ __forceinline__ explicit view_in_memory(const doorbell_qp &view)
      : view_(&view),
        deadline_ns(view.deadline_ns),
        mask(view.sq_blocks - 1),
        cq_entries(view.cq_entries),
        qpn(view.qpn) {}
  __device__ __forceinline__ uint64_t sq_ring() const { return view_->sq_ring; }
  __device__ __forceinline__ uint64_t sq_record() const { return view_->sq_record; }
  __device__ __forceinline__ uint64_t page() const { return view_->doorbell; }
  __device__ __forceinline__ uint64_t cq_ring() const { return view_->cq_ring; }

 private:
  const doorbell_qp *view_;

 public:
  uint64_t deadline_ns;
  uint32_t mask;
  uint32_t cq_entries;
  uint32_t qpn;
};

// All of it in registers, with the parts of WQEs that are alike in all of a poster's. `three`: no WQE has more
// than three units.
template <bool three>
class view_in_registers {
 public:
  static constexpr bool kKept = true;
  static constexpr bool kThreeUnits = three;
  static constexpr bool kRungByCpu = false;
  static constexpr bool kDynamic = false;
  static constexpr bool kAwaitsLast = false;
  __device__ __forceinline__ explicit view_in_registers(const doorbell_qp &view)
      : deadline_ns(view.deadline_ns),
        mask(view.sq_blocks - 1),
        cq_entries(view.cq_entries),
        qpn(view.qpn),
        ring_(view.sq_ring),
        record_(view.sq_record),
        page_(view.doorbell),
        completions_(view.cq_ring) {}
  __device__ __forceinline__ uint64_t sq_ring() const { return ring_; }
  __device__ __forceinline__ uint64_t sq_record() const { return record_; }
  __device__ __forceinline__ uint64_t page() const { return page_; }
  __device__ __forceinline__ uint64_t cq_ring() const { return completions_; }

  uint64_t deadline_ns;
  uint32_t mask;
  uint32_t cq_entries;
  uint32_t qpn;
  unit target;
  unit data;

 private:
  uint64_t ring_;
  uint64_t record_;
  uint64_t page_;
  uint64_t completions_;
};

// Either of them where the CPU rings.
template <typename kBase>
class view_rung_by_cpu : public kBase {
 public:
  static constexpr bool kRungByCpu = true;
  __device__ __forceinline__ explicit view_rung_by_cpu(const doorbell_qp &view)
      : kBase(view),
        request_(kBase::kKept ? view.ring_request : reinterpret_cast<uint64_t>(&view.ring_request)) {}
  __device__ __forceinline__ uint64_t request() const {
    return kBase::kKept ? request_ : *reinterpret_cast<const uint64_t *>(request_);
  }

 private:
  uint64_t request_;  // the word's address, or where that lies
};

// Any of them, where a poster that visits queue pairs and is timed waits for the last one alone.
template <typename kBase>
class view_of_visitor : public kBase {
 public:
  static constexpr bool kAwaitsLast = true;
  __device__ __forceinline__ explicit view_of_visitor(const doorbell_qp &view) : kBase(view) {}
};

constexpr uint32_t kVectorUnits = 3;

// Any of them, of an initiator of dynamic connections: each WQE has the address vector of its target.
template <typename kBase>
class view_of_initiator : public kBase {
 public:
  static constexpr bool kDynamic = true;
  __device__ __forceinline__ explicit view_of_initiator(const doorbell_qp &view) : kBase(view) {}

  unit vector[kVectorUnits];
};

// All words of a unit, folded into one.
__device__ __forceinline__ uint64_t fold(unit value) {
  return (static_cast<uint64_t>(value.y) << 32 | value.x) ^ (static_cast<uint64_t>(value.w) << 32 | value.z);
}

// A unit in memory as two words, by one load that is served where all threads of the GPU see one value.
struct pair {
  uint64_t low, high;
};

__device__ __forceinline__ pair load_unit(uint64_t address) {
  pair value;
  asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
               : "=l"(value.low), "=l"(value.high)
               : "l"(address)
               : "memory");
  return value;
}

// Waits until `ready()`; false when the deadline has passed.
template <typename Condition>
__device__ __forceinline__ bool spin_until(uint64_t nanoseconds, Condition ready) {
  deadline until(nanoseconds);
  while (!ready()) {
    if (until.due() && until.passed()) {
      return false;
    }
  }
  return true;
}

// Addresses to which a queue pair's doorbells are stored.
struct bell {
  uint32_t *record;
  uint64_t page;
};

// One queue pair. Tickets number its doorbells from 0; the indices of blocks and CQEs follow from them.
template <typename kView>
class minimal_queue {
 public:
  __device__ __forceinline__ explicit minimal_queue(const doorbell_qp &view) : view_(view) {}

  __device__ __forceinline__ uint64_t deadline_ns() const { return view_.deadline_ns; }

  // Makes the segments of address and data of all WQEs that are built from now on, where the view keeps them.
  __device__ __forceinline__ void keep(uint64_t local, uint32_t local_key, uint64_t remote,
                                       uint32_t remote_key, uint32_t bytes, bool in_wqe) {
    if constexpr (kView::kKept) {
      view_.target = target_segment(remote, remote_key);
      view_.data = in_wqe ? inline_segment(local, bytes) : pointer_segment(local, local_key, bytes);
    }
  }

  // All WQEs that are built from now on lead to the target of this address vector.
  __device__ __forceinline__ void aim(const unit *vector) {
    if constexpr (kView::kDynamic) {
      for (uint32_t i = 0; i < kVectorUnits; ++i) {
        view_.vector[i] = vector[i];
      }
    }
  }

  // Stores the WQE of a put at block `index`. A WQE of several blocks may run over the ring's end. Returns its units
  // folded.
  __device__ __forceinline__ uint64_t build(uint32_t index, uint64_t local, uint32_t local_key,
                                            uint64_t remote, uint32_t remote_key, uint32_t bytes,
                                            bool in_wqe, bool signaled) const {
    const uint64_t ring = view_.sq_ring();
    const uint32_t units =
        kVector + (kView::kThreeUnits || !in_wqe ? 3 : 2 + (4 + bytes + kUnitBytes - 1) / kUnitBytes);
    const uint64_t first = ring + (index & view_.mask) * static_cast<uint64_t>(kBlockBytes);
    uint64_t folded = 0;
    const auto store = [&](uint64_t address, unit value) {
      store_unit_strong(address, value);
      folded ^= fold(value);
    };
    store(first, {big_endian((index & 0xffffu) << 8 | kOpcodeWrite), big_endian(view_.qpn << 8 | units),
                  signaled ? kSignaled << 24 : 0u, 0});
    uint64_t before = first;
    if constexpr (kView::kDynamic) {
      // The address vector fills the first block.
      for (uint32_t i = 0; i < kVectorUnits; ++i) {
        store(first + (1 + i) * kUnitBytes, view_.vector[i]);
      }
      before = ring + ((index + 1) & view_.mask) * static_cast<uint64_t>(kBlockBytes) - kUnitBytes;
    }
    if constexpr (kView::kKept) {
      store(before + kUnitBytes, view_.target);
      store(before + 2 * kUnitBytes, view_.data);
    } else {
      store(before + kUnitBytes, target_segment(remote, remote_key));
      store(before + 2 * kUnitBytes,
            in_wqe ? inline_segment(local, bytes) : pointer_segment(local, local_key, bytes));
    }
    if constexpr (kView::kThreeUnits) {
      return folded;
    }
    if (units <= kVector + 3) {
      return folded;
    }
    // Whole units of further payload, then what is left of it.
    const uint32_t *payload = reinterpret_cast<const uint32_t *>(local) + 3;
    const uint64_t bytes_of_ring = (static_cast<uint64_t>(view_.mask) + 1) * kBlockBytes;
    uint64_t at = before - ring + 3 * kUnitBytes;
    uint32_t left = (bytes + 3) / 4 - 3;
#pragma unroll 1
    for (; left >= 4; left -= 4) {
      store(ring + (at & (bytes_of_ring - 1)), {payload[0], payload[1], payload[2], payload[3]});
      payload += 4;
      at += kUnitBytes;
    }
    if (left != 0) {
      store(ring + (at & (bytes_of_ring - 1)),
            {payload[0], left > 1 ? payload[1] : 0u, left > 2 ? payload[2] : 0u, 0});
    }
    return folded;
  }

  // Asks the CPU to ring for all blocks below `index`, which does not wrap.
  __device__ __forceinline__ void ask(uint64_t order, uint64_t index) const {
    uint64_t *const word = reinterpret_cast<uint64_t *>(view_.request());
    switch (order) {
      case kOrderNone:
        break;
      case kOrderFence:
      case kOrderFencedRecord:
        fence(false);
        break;
      case kOrderFenceSc:
        asm volatile("fence.sc.gpu;" ::: "memory");
        break;
      case kOrderRelease:
        return store_release_device(word, index);
      case kOrderReleaseSystem:
        return cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*word).store(
            index, cuda::memory_order_release);
      default:
        fence(true);
    }
    store_relaxed_system(word, index);
  }

  // Stores the record, reads `wqes` WQEs of `blocks` each and it back, and stores a doorbell that depends on what was
  // read. `stored`: the WQEs' units, folded.
  __device__ __forceinline__ void ring_behind_loads(uint32_t index, uint32_t wqes, uint32_t blocks,
                                                    uint64_t stored) const {
    static_assert(kView::kThreeUnits, "longer WQEs are not read back");
    uint32_t *const word = reinterpret_cast<uint32_t *>(view_.sq_record());
    const uint32_t record = big_endian(index & 0xffffu);
    store_relaxed_system(word, record);
    // Loads stand before what uses them: so they wait together.
    const uint32_t seen = load_relaxed_system(word);
    uint64_t unlike = stored;
#pragma unroll 4
    for (uint32_t i = wqes; i > 0; --i) {
      const uint64_t first =
          view_.sq_ring() + ((index - i * blocks) & view_.mask) * static_cast<uint64_t>(kBlockBytes);
      const pair control = load_unit(first);
      const pair target = load_unit(first + kUnitBytes);
      const pair data = load_unit(first + 2 * kUnitBytes);
      unlike ^= control.low ^ control.high ^ target.low ^ target.high ^ data.low ^ data.high;
    }
    // What was read is what was stored: so this changes nothing.
    store_register(view_.page(), doorbell_for(index) ^ unlike ^ seen ^ record);
  }

  // Record and doorbell of the queue pair.
  __device__ __forceinline__ bell bell_of() const {
    return {reinterpret_cast<uint32_t *>(view_.sq_record()), view_.page()};
  }

  // Stores record and doorbell for all blocks below `index`.
  template <uint64_t kOrder>
  __device__ __forceinline__ void ring(uint32_t index, bell at) const {
    uint32_t *const word = at.record;
    const uint64_t page = at.page;
    const uint32_t record = big_endian(index & 0xffffu);
    const uint64_t value = doorbell_for(index);
    if constexpr (kOrder == kOrderRelease) {
      cuda::atomic_ref<uint32_t, cuda::thread_scope_device>(*word).store(
          record, cuda::memory_order_release);
      store_release_device(reinterpret_cast<uint64_t *>(page), value);
    } else if constexpr (kOrder == kOrderReleaseSystem) {
      store_release_system(word, record);
      cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(
          *reinterpret_cast<uint64_t *>(page))
          .store(value, cuda::memory_order_release);
    } else {
      order_before_record<kOrder>();
      if constexpr (kOrder == kOrderTwice || kOrder == kOrderAgain) {
        store_register(page, value);
      }
      if constexpr (kOrder != kOrderNoRecord) {
        store_relaxed_system(word, record);
      }
      order_before_doorbell<kOrder>();
      store_register(page, value);
    }
  }

  // As the other, in an order chosen at run time.
  __device__ __forceinline__ void ring(uint64_t order, uint32_t index, bell at) const {
    switch (order) {
      case kOrderNone:
        return ring<kOrderNone>(index, at);
      case kOrderFence:
        return ring<kOrderFence>(index, at);
      case kOrderFenceSc:
        return ring<kOrderFenceSc>(index, at);
      case kOrderFencedRecord:
        return ring<kOrderFencedRecord>(index, at);
      case kOrderRelease:
        return ring<kOrderRelease>(index, at);
      case kOrderReleaseSystem:
        return ring<kOrderReleaseSystem>(index, at);
      case kOrderNoRecord:
        return ring<kOrderNoRecord>(index, at);
      case kOrderTwice:
        return ring<kOrderTwice>(index, at);
      default:
        return ring<kOrderSystem>(index, at);
    }
  }

  // Waits for the CQEs from `number` to below `end`, one after the other.
  template <bool ordered>
  __device__ __forceinline__ uint32_t await_each(uint32_t number, uint32_t end) const {
    const uint64_t ring = view_.cq_ring();
    uint32_t status = DOORBELL_OK;
#pragma unroll 4
    for (; number != end; ++number) {
      status |= await_one<ordered>(ring, number);
    }
    return status;
  }

  // Waits for CQE `number`, counted from 0; `ordered` by loads that acquire, else by plain ones. A good one
  // has opcode 0 and the owner bit of its round: one comparison.
  template <bool ordered>
  __device__ __forceinline__ uint32_t await_one(uint32_t number) const {
    return await_one<ordered>(view_.cq_ring(), number);
  }

  template <bool ordered>
  __device__ __forceinline__ uint32_t await_one(uint64_t ring, uint32_t number) const {
    const uint32_t entries = view_.cq_entries;
    const uint32_t *word = reinterpret_cast<const uint32_t *>(
        ring + (number & (entries - 1)) * static_cast<uint64_t>(kCqeBytes) + 0x3c);
    const uint32_t good = (number & entries) != 0 ? kOwner : 0u;
    uint32_t tail = load<ordered>(word);
    if ((tail & (kOpcode | kOwner)) == good) {
      return DOORBELL_OK;
    }
    deadline until(view_.deadline_ns);
    while ((tail & kOpcode) == kOpcode || (tail & kOwner) != good) {
      if (until.due() && until.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
      tail = load<ordered>(word);
    }
    return cqe_tail{tail}.is_error() ? DOORBELL_ERROR_CQE : DOORBELL_OK;
  }

  // Likewise, for CQE `number` or one behind it, where other posters may have reused its place. `index` is
  // that of its WQE.
  template <bool ordered>
  __device__ __forceinline__ uint32_t await_shared(uint32_t number, uint32_t index) const {
    const uint32_t *word = reinterpret_cast<const uint32_t *>(
        view_.cq_ring() + (number & (view_.cq_entries - 1)) * static_cast<uint64_t>(kCqeBytes) + 0x3c);
    cqe_tail tail{load<ordered>(word)};
    if (!has_come(tail, index)) {
      deadline until(view_.deadline_ns);
      do {
        if (until.due() && until.passed()) {
          return DOORBELL_ERROR_DEADLINE;
        }
        tail.word = load<ordered>(word);
      } while (!has_come(tail, index));
    }
    return tail.is_error() ? DOORBELL_ERROR_CQE : DOORBELL_OK;
  }

 private:
  static constexpr uint32_t kVector = kView::kDynamic ? kVectorUnits : 0;
  static constexpr uint32_t kOpcode = 0xf0000000u;
  static constexpr uint32_t kOwner = 1u << 24;

  template <bool ordered>
  static __device__ __forceinline__ uint32_t load(const uint32_t *word) {
    return ordered ? load_acquire_system(word) : load_relaxed_system(word);
  }

  static __device__ __forceinline__ bool has_come(cqe_tail tail, uint32_t index) {
    return tail.opcode() != kCqeInvalid &&
           static_cast<int16_t>(tail.wqe_counter() - (index & 0xffffu)) >= 0;
  }

  __device__ __forceinline__ uint64_t doorbell_for(uint32_t index) const {
    return static_cast<uint64_t>(big_endian(view_.qpn << 8)) << 32 | big_endian((index & 0xffffu) << 8);
  }

  static __device__ __forceinline__ unit target_segment(uint64_t remote, uint32_t remote_key) {
    return {big_endian(high(remote)), big_endian(low(remote)), remote_key, 0};
  }

  static __device__ __forceinline__ unit pointer_segment(uint64_t local, uint32_t local_key,
                                                         uint32_t bytes) {
    return {big_endian(bytes), local_key, big_endian(high(local)), big_endian(low(local))};
  }

  static __device__ __forceinline__ unit inline_segment(uint64_t local, uint32_t bytes) {
    const uint32_t *payload = reinterpret_cast<const uint32_t *>(local);
    return {big_endian(kInlineFlag | bytes), payload[0], bytes > 4 ? payload[1] : 0u,
            bytes > 8 ? payload[2] : 0u};
  }

  kView view_;
};

template <typename kView>
__device__ __forceinline__ uint32_t blocks_of(uint32_t bytes, bool in_wqe) {
  if constexpr (kView::kDynamic) {
    return ((2 + kVectorUnits) * kUnitBytes + (in_wqe ? 4 + bytes : kUnitBytes) + kBlockBytes - 1) / kBlockBytes;
  }
  return in_wqe ? (2 * kUnitBytes + 4 + bytes + kBlockBytes - 1) / kBlockBytes : 1;
}

// A poster, which is a thread or a warp, and its queue pair. Of the queue pair's counters, `reserved`
// counts tickets, `rung` doorbells and `completed` those whose CQEs were seen; `blueflame` is a lock of
// the send queue, and `poller` counts tickets that are marked ready. They are stored at the end of a
// launch only where the sharing needs none.
constexpr uint64_t kTicket = 1ull << DOORBELL_RESERVED_SHIFT;

using counter = cuda::atomic_ref<uint64_t, cuda::thread_scope_device>;

// Which scope of posters a kernel's code is for: any, which the job says, or one alone.
enum class scope { any, thread, warp };

template <uint64_t kOrder, uint64_t kSharing, typename kView = view_in_memory, scope kScope = scope::any>
class poster {
 public:
  // `views` are the queue pairs of the poster, every `apart`th of `count`; but for visits there is one.
  // `table` is where the address of the keys lies, or null. Of the targets of dynamic connections the poster
  // visits every `step`th from `first` on, one a doorbell.
  __device__ __forceinline__ poster(const doorbell_qp *views, uint32_t apart, uint32_t count,
                                    const doorbell_job &job, const uint64_t *table, bool warps,
                                    uint32_t first, uint32_t step)
      : queue_(*views),
        views_(views),
        apart_(apart),
        count_(count),
        counters_(counters_of(*views)),
        job_(job),
        table_(table),
        any_warps_(warps),
        lane_(threadIdx.x % 32),
        wqes_(static_cast<uint32_t>(job.compare == 0 ? 1 : job.compare)),
        in_wqe_(job.opcode == DOORBELL_OP_PUT_INLINE),
        last_only_((job.operand >> 16 & 1) != 0),
        each_((job.operand >> 17 & 1) != 0),
        blocks_(blocks_of<kView>(static_cast<uint32_t>(job.bytes), in_wqe_)),
        first_(load_relaxed_device(&counters_->completed)),
        seen_(first_),
        next_(first_),
        completed_(first_) {
    queue_.keep(job.local + thread_index() * job.stride, job.local_key,
                job.remote + thread_index() * job.stride, job.remote_key,
                static_cast<uint32_t>(job.bytes), in_wqe_);
    if constexpr (kView::kDynamic) {
      first_target_ = first % job.path;
      target_ = first_target_;
      step_ = step;
      aim();
    }
  }

  __device__ __forceinline__ bool leads() const { return !warps() || lane_ == 0; }

  // Posts one doorbell; at most `window` of the queue pair's are in flight.
  __device__ __forceinline__ uint32_t post(uint32_t window, uint64_t offset) {
    uint32_t status = DOORBELL_OK;
    if constexpr (kSharing == kSharingOwn) {
      ticket_ = next_++;
      while (status == DOORBELL_OK && ticket_ >= completed_ + window) {
        const uint64_t from = completed_;
        completed_ += (window + 1) / 2;
        status = await(from, completed_);
      }
    } else {
      if constexpr (kSharing == kSharingVisits) {
        queue_ = minimal_queue<kView>(views_[visit_ * apart_]);
        ticket_ = next_;
      } else {
        if (leads()) {
          status = reserve();
        }
        if (warps()) {
          ticket_ = __shfl_sync(~0u, ticket_, 0);
          status = __shfl_sync(~0u, status, 0);
        }
      }
      if (status == DOORBELL_OK && ticket_ >= seen_ + window) {
        status = await(ticket_ - window, ticket_ - window + 1);
      }
    }
    if (status != DOORBELL_OK) {
      return status;
    }
    if constexpr (kView::kDynamic) {
      // Where there is one target, registers keep its vector.
      if (!kView::kKept || job_.path > 1) {
        aim();
      }
      target_ += step_;
      if (target_ >= job_.path) {
        target_ = first_target_;
      }
    }
    const uint32_t first = static_cast<uint32_t>(ticket_) * wqes_ * blocks_;
    if (warps()) {
      build(first + lane_ * blocks_, offset, lane_ == wqes_ - 1);
      __syncwarp();
    } else {
      uint64_t folded = 0;
#pragma unroll kUnrolled
      for (uint32_t i = 0; i < wqes_; ++i) {
        folded ^= build(first + i * blocks_, offset, i == wqes_ - 1);
      }
      folded_ = folded;
    }
    if (leads()) {
      status = publish(first + wqes_ * blocks_);
    }
    if constexpr (kSharing == kSharingVisits) {
      if (++visit_ == count_) {
        visit_ = 0;
        ++next_;
      }
    }
    return warps() ? __shfl_sync(~0u, status, 0) : status;
  }

  // Waits until all that this poster has posted is done.
  __device__ __forceinline__ uint32_t drain() {
    if constexpr (kSharing == kSharingOwn) {
      const uint64_t from = completed_;
      completed_ = ticket_ + 1;
      return from < completed_ ? await(from, completed_) : DOORBELL_OK;
    } else if constexpr (kSharing == kSharingVisits) {
      uint32_t status = DOORBELL_OK;
      for (uint32_t visit = 0; visit < count_ && status == DOORBELL_OK; ++visit) {
        const uint64_t posted = next_ + (visit < visit_ ? 1 : 0);
        if (posted != first_) {
          queue_ = minimal_queue<kView>(views_[visit * apart_]);
          status = await(posted - 1, posted);
        }
      }
      seen_ = next_;
      return status;
    } else {
      seen_ = ticket_ + 1;
      const uint32_t status = await(ticket_, ticket_ + 1);
      if constexpr (kSharing == kSharingMarks) {
        fence(true);  // as doca_gpu_dev_verbs_poll_one_cq_at has it behind a CQE
      }
      return status;
    }
  }

  // Waits for what was posted last, where each post is awaited.
  __device__ __forceinline__ uint32_t await_last() {
    if constexpr (kSharing == kSharingVisits && kView::kAwaitsLast) {
      return await(ticket_, ticket_ + 1);
    } else {
      return drain();
    }
  }

  // The next launch goes on from here.
  __device__ __forceinline__ void leave() const {
    if (!leads()) {
      return;
    }
    if constexpr (kSharing == kSharingOwn || kSharing == kSharingVisits) {
      for (uint32_t visit = 0; visit < count_; ++visit) {
        doorbell_counters *const counters = counters_of(views_[visit * apart_]);
        const uint64_t posted =
            kSharing == kSharingOwn ? completed_ : next_ + (visit < visit_ ? 1 : 0);
        store_relaxed_device(&counters->completed, posted);
        store_relaxed_device(&counters->reserved, posted * kTicket);
      }
    } else {
      raise_release_device(&counters_->completed, ticket_ + 1);
    }
  }

 private:
  __device__ __forceinline__ bool warps() const {
    return kScope == scope::any ? any_warps_ : kScope == scope::warp;
  }

  // WQEs in a row without a jump, where they are short.
  static constexpr int kUnrolled = kView::kThreeUnits ? 4 : 1;
  static constexpr bool kShared = kSharing != kSharingOwn && kSharing != kSharingVisits;

  static __device__ __forceinline__ doorbell_counters *counters_of(const doorbell_qp &view) {
    return reinterpret_cast<doorbell_counters *>(view.counters);
  }

  __device__ __forceinline__ void aim() {
    queue_.aim(reinterpret_cast<const unit *>(job_.peers) + static_cast<uint64_t>(target_) * kVectorUnits);
  }

  __device__ __forceinline__ uint64_t build(uint32_t index, uint64_t offset, bool last) const {
    uint32_t local_key = job_.local_key;
    uint32_t remote_key = job_.remote_key;
    if (table_ != nullptr) {
      const uint32_t *keys = reinterpret_cast<const uint32_t *>(*table_);
      local_key = keys[0];
      remote_key = keys[1];
    }
    return queue_.build(index, job_.local + offset, local_key, job_.remote + offset, remote_key,
                        static_cast<uint32_t>(job_.bytes), in_wqe_, !last_only_ || last);
  }

  __device__ __forceinline__ bool lock() const {
    return spin_until(queue_.deadline_ns(), [&] {
      return counter(counters_->blueflame).exchange(1, cuda::memory_order_acquire) == 0;
    });
  }

  __device__ __forceinline__ uint32_t reserve() {
    ticket_ = counter(counters_->reserved).fetch_add(kTicket, cuda::memory_order_relaxed) >>
              DOORBELL_RESERVED_SHIFT;
    return DOORBELL_OK;
  }

  __device__ __forceinline__ void ring(uint32_t index, bell at) const {
    if constexpr (kView::kRungByCpu) {
      queue_.ask(job_.operand & 0xff, (ticket_ + 1) * wqes_ * blocks_);
    } else if constexpr (kOrder == kOrderOfJob) {
      queue_.ring(job_.operand & 0xff, index, at);
    } else if constexpr (kOrder == kOrderReadBack) {
      queue_.ring_behind_loads(index, wqes_, blocks_, folded_);
    } else {
      queue_.template ring<kOrder>(index, at);
    }
  }

  // Rings for all blocks below `index`, in turn. Addresses are read before the turn, which others wait for.
  __device__ __forceinline__ uint32_t publish(uint32_t index) {
    if constexpr (kSharing == kSharingMarks) {
      return mark_and_ring(index);
    }
    const bell at = queue_.bell_of();
    if constexpr (kShared) {
      if (!spin_until(queue_.deadline_ns(),
                      [&] { return load_acquire_device(&counters_->rung) == ticket_; })) {
        return DOORBELL_ERROR_DEADLINE;
      }
      if (kSharing == kSharingLock && !lock()) {
        return DOORBELL_ERROR_DEADLINE;
      }
      ring(index, at);
      if constexpr (kSharing == kSharingLock) {
        store_relaxed_device(&counters_->blueflame, 0);
      }
      store_release_device(&counters_->rung, ticket_ + 1);
    } else {
      ring(index, at);
    }
    return DOORBELL_OK;
  }

  // Marks the ticket ready when all before it are, and rings unless somebody has rung beyond it.
  __device__ __forceinline__ uint32_t mark_and_ring(uint32_t index) {
    const bell at = queue_.bell_of();
    fence(false);
    if (!spin_until(queue_.deadline_ns(), [&] {
          uint64_t expected = ticket_;
          return counter(counters_->poller)
              .compare_exchange_strong(expected, ticket_ + 1, cuda::memory_order_acquire);
        })) {
      return DOORBELL_ERROR_DEADLINE;
    }
    if (!lock()) {
      return DOORBELL_ERROR_DEADLINE;
    }
    if (counter(counters_->rung).fetch_max(ticket_ + 1, cuda::memory_order_acquire) <= ticket_) {
      if constexpr (kView::kRungByCpu) {
        ring(index, at);
      } else {
        queue_.template ring<kOrderAgain>(index, at);
      }
    }
    store_release_device(&counters_->blueflame, 0);
    return DOORBELL_OK;
  }

  // Waits for the CQEs of the doorbells `from` to below `to`. CQEs come in order, and nothing good comes
  // after an error: the last of them stands for all, unless each is to be looked at.
  __device__ __forceinline__ uint32_t await(uint64_t from, uint64_t to) const {
    const uint32_t count = last_only_ ? 1 : wqes_;
    const uint32_t end = static_cast<uint32_t>(to) * count;
    if (!each_) {
      const uint32_t status = leads() ? look(end - 1, count) : DOORBELL_OK;
      return warps() ? agree(status, 0) : status;
    }
    uint32_t number = static_cast<uint32_t>(from) * count + (warps() ? lane_ : 0);
    if constexpr (!kShared) {
      if (!warps()) {
        return queue_.template await_each<kOrder != kOrderNone>(number, end);
      }
    }
    uint32_t status = DOORBELL_OK;
#pragma unroll 1
    while (number < end && status == DOORBELL_OK) {
      status = look(number, count);
      number += warps() ? 32 : 1;
    }
    if (warps()) {
      const uint32_t failed = __ballot_sync(~0u, status != DOORBELL_OK);
      status = agree(status, failed == 0 ? 0 : __ffs(failed) - 1);
    }
    return status;
  }

  // What one lane has found for all of a warp. The barrier orders what it acquired before what the others store next; a
  // shuffle orders nothing.
  __device__ __forceinline__ static uint32_t agree(uint32_t status, int lane) {
    __syncwarp();
    return __shfl_sync(~0u, status, lane);
  }

  // Waits for one CQE, where a doorbell has `count`.
  __device__ __forceinline__ uint32_t look(uint32_t number, uint32_t count) const {
    if constexpr (kShared) {
      const uint32_t index = (count == 1 ? (number + 1) * wqes_ - 1 : number) * blocks_;
      return queue_.template await_shared<kOrder != kOrderNone>(number, index);
    } else {
      return queue_.template await_one<kOrder != kOrderNone>(number);
    }
  }

  minimal_queue<kView> queue_;
  const doorbell_qp *views_;
  uint32_t apart_;
  uint32_t count_;
  doorbell_counters *counters_;
  const doorbell_job &job_;
  const uint64_t *table_;
  bool any_warps_;
  uint32_t lane_;
  uint32_t wqes_;
  bool in_wqe_;
  bool last_only_;
  bool each_;
  uint32_t blocks_;
  uint64_t first_;
  uint64_t seen_;  // tickets below are done, as this poster knows
  uint64_t ticket_ = 0;
  uint64_t next_;
  uint64_t completed_;
  uint64_t folded_ = 0;  // all units of a doorbell's WQEs
  uint32_t visit_ = 0;
  uint32_t first_target_;
  uint32_t target_;
  uint32_t step_;
};

// Waits until nothing is in flight on any of `count` queue pairs. Their posters have stored what they
// reserved; it is a weak load, so that it is under way together with that of what is completed.
__device__ __forceinline__ uint32_t drain_all(const doorbell_qp *views, uint32_t count) {
#pragma unroll 1
  for (uint32_t i = 0; i < count; ++i) {
    doorbell_counters *const counters = reinterpret_cast<doorbell_counters *>(views[i].counters);
    const uint64_t reserved = counters->reserved >> DOORBELL_RESERVED_SHIFT;
    if (!spin_until(views[i].deadline_ns, [&] {
          return load_acquire_device(&counters->completed) >= reserved;
        })) {
      return DOORBELL_ERROR_DEADLINE;
    }
  }
  return DOORBELL_OK;
}

// A thread of the background ends after so many doorbells, whatever the probe does.
constexpr uint64_t kMostOfBackground = 1u << 24;

// Puts bulk messages until the probe has ended.
template <uint64_t kSharing, uint64_t kOrder = kOrderOfJob, typename kView = view_in_memory>
__device__ __forceinline__ uint32_t background(const doorbell_qp *qps, uint64_t number,
                                               const doorbell_job &job) {
  doorbell_job bulk = job;
  bulk.bytes = job.staging_bytes;
  bulk.opcode = DOORBELL_OP_PUT;
  const uint32_t queues = job.qp_count == 0 ? 1 : job.qp_count;
  const uint64_t queue =
      (job.operand >> 21 & 1) != 0 || queues == 1 ? number % queues : 1 + number % (queues - 1);
  const uint32_t threads = (gridDim.x - 1) * blockDim.x;
  poster<kOrder, kSharing, kView> self(qps + queue, 1, 1, bulk, nullptr, false,
                                       static_cast<uint32_t>(number) + 1, threads + 1);
  uint64_t *words = reinterpret_cast<uint64_t *>(job.staging_wire);
  uint32_t status = DOORBELL_OK;
  for (uint64_t n = 0; n < kMostOfBackground && load_relaxed_device(words) == 0 && status == DOORBELL_OK;
       ++n) {
    status = self.post(job.staging_key, (number + 1) * job.stride);
    if (n == 0) {
      counter(words[1]).fetch_add(1, cuda::memory_order_relaxed);
    }
  }
  if (status == DOORBELL_OK) {
    status = self.drain();
  }
  self.leave();
  return status;
}

template <uint64_t kOrder, uint64_t kSharing, typename kView, scope kScope>
__device__ __forceinline__ uint32_t run(const doorbell_qp *qps, uint64_t number, uint64_t posters,
                                        const doorbell_job &job, const uint64_t *table,
                                        bool warps, bool timed) {
  const uint32_t queues = job.qp_count == 0 ? 1 : job.qp_count;
  const uint32_t mine = static_cast<uint32_t>(number % queues);
  const uint32_t apart = static_cast<uint32_t>(posters);
  poster<kOrder, kSharing, kView, kScope> self(
      qps + mine, apart, kSharing == kSharingVisits ? (queues - mine + apart - 1) / apart : 1, job,
      table, warps, static_cast<uint32_t>(number), apart);
  const bool beside = job.staging_bytes != 0;
  const uint32_t window = beside && (job.operand >> 21 & 1) != 0 ? job.staging_key
                          : job.window == 0                      ? 1
                                                                 : job.window;
  const uint64_t offset = thread_index() * job.stride;
  const uint64_t total = job.warmup + job.iterations;
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  uint32_t status = DOORBELL_OK;
  if (job.iterations == 0) {
    return status;
  }
  uint64_t turn = 0;
  uint64_t until = job.warmup;
  while (status == DOORBELL_OK) {
    if (turn == until) {
      if (turn == total) {
        break;
      }
      if (self.leads() && !timed) {
        protocol::stamp_start(job, global_time());
      }
      until = total;
    }
    const uint64_t start = global_time();
    status = self.post(window, offset);
    const uint64_t rung = global_time();
    ++turn;
    if (!timed) {
      continue;
    }
    if (job.chunk_bytes != 0) {
      protocol::rest(job.chunk_bytes);
    }
    const uint64_t look = global_time();
    if (status == DOORBELL_OK) {
      status = self.await_last();
    }
    if (status == DOORBELL_OK && (job.operand >> 19 & 1) != 0) {
      self.leave();
      status = drain_all(qps, queues);
    }
    if (status == DOORBELL_OK && (job.operand >> 22 & 1) != 0) {
      self.leave();
      status = drain_all(qps + mine, 1);
    }
    const uint64_t seen = global_time();
    if (turn > job.warmup && self.leads()) {
      uint64_t *const sample = samples + (turn - 1 - job.warmup);
      sample[0] = rung - start;
      sample[job.iterations] = seen - start;
      sample[2 * job.iterations] = seen - look;
    }
  }
  if (!timed) {
    if (status == DOORBELL_OK) {
      status = self.drain();
    }
    if (self.leads()) {
      protocol::stamp_end(job, global_time());
    }
  }
  self.leave();
  if (beside) {
    store_relaxed_device(reinterpret_cast<uint64_t *>(job.staging_wire), 1);
  }
  return status;
}

// Round trips of one word with a peer that runs the same; the word is the message's last.
template <typename kView>
__device__ __forceinline__ uint32_t bounce(const doorbell_qp &view, const doorbell_job &job,
                                           const uint64_t *table) {
  poster<kOrderOfJob, kSharingOwn, kView> self(&view, 1, 1, job, table, false, 0, 1);
  const uint64_t last_word = job.bytes - 8;
  const uint64_t *inbox = reinterpret_cast<const uint64_t *>(job.inbox + last_word);
  uint64_t *outgoing = reinterpret_cast<uint64_t *>(job.local + last_word);
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  const uint64_t total = job.warmup + job.iterations;
  const queue_pair waiting(&view);
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < total && status == DOORBELL_OK; ++turn) {
    const uint64_t start = global_time();
    if (job.role == 1) {
      status = wait_for_word(waiting, inbox, turn + 1);
    }
    if (status == DOORBELL_OK) {
      *outgoing = turn + 1;
      status = self.post(1, 0);
    }
    if (job.role == 0 && status == DOORBELL_OK) {
      status = wait_for_word(waiting, inbox, turn + 1);
      if (turn >= job.warmup && samples != nullptr) {
        samples[turn - job.warmup] = global_time() - start;
      }
    }
    if (status == DOORBELL_OK) {
      status = self.drain();
    }
  }
  return status;
}

// Waits until every thread of the background has posted something.
__device__ __forceinline__ bool await_background(uint64_t nanoseconds, const doorbell_job &job,
                                                 uint64_t threads) {
  const uint64_t *words = reinterpret_cast<const uint64_t *>(job.staging_wire);
  return spin_until(nanoseconds, [&] { return load_relaxed_device(words + 1) >= threads; });
}

template <uint64_t kOrder, uint64_t kSharing, typename kView = view_in_memory, scope kScope = scope::any>
__device__ __forceinline__ uint32_t share(const doorbell_qp *qps, const doorbell_job &job,
                                          const uint64_t *table) {
  const bool warps = job.scope == DOORBELL_SCOPE_WARP;
  const uint64_t number = warps ? protocol::warp_index() : thread_index();
  const uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  return run<kOrder, kSharing, kView, kScope>(qps, number, warps ? threads / 32 : threads, job, table,
                                              warps, number == 0 && job.window == 1 && job.samples != 0);
}

// As the job says, in code that decides as it goes.
template <typename kView>
__device__ __forceinline__ uint32_t share_of_job(const doorbell_qp *qps, const doorbell_job &job,
                                                 const uint64_t *table) {
  switch (job.operand >> 8 & 0xff) {
    case kSharingLock:
      return share<kOrderOfJob, kSharingLock, kView>(qps, job, table);
    case kSharingTurns:
      return share<kOrderOfJob, kSharingTurns, kView>(qps, job, table);
    case kSharingMarks:
      return share<kOrderAgain, kSharingMarks, kView>(qps, job, table);
    case kSharingVisits:
      // Registers hold one queue pair, and an initiator is one.
      if constexpr (!kView::kKept && !kView::kDynamic) {
        return share<kOrderOfJob, kSharingVisits, kView>(qps, job, table);
      }
    default:
      return share<kOrderOfJob, kSharingOwn, kView>(qps, job, table);
  }
}

// Threads of blocks 1 and up, beside the probe.
template <typename kView>
__device__ __forceinline__ uint32_t background_of_job(const doorbell_qp *qps, const doorbell_job &job) {
  const uint64_t number = thread_index() - blockDim.x;
  switch (job.operand >> 8 & 0xff) {
    case kSharingLock:
      return background<kSharingLock, kOrderOfJob, kView>(qps, number, job);
    case kSharingTurns:
      return background<kSharingTurns, kOrderOfJob, kView>(qps, number, job);
    case kSharingMarks:
      return background<kSharingMarks, kOrderAgain, kView>(qps, number, job);
    default:
      return background<kSharingOwn, kOrderOfJob, kView>(qps, number, job);
  }
}

// The job's operand.
__device__ __forceinline__ bool in_registers(const doorbell_job &job) { return (job.operand >> 18 & 1) != 0; }
__device__ __forceinline__ bool rung_by_cpu(const doorbell_job &job) { return (job.operand >> 20 & 1) != 0; }

// Where the address of the keys lies: through memory only where a table is given, else the keys are registers.
__device__ __forceinline__ const uint64_t *table_of(const doorbell_job &job, const doorbell_job *source) {
  return job.staging != 0 && job.opcode == DOORBELL_OP_PUT ? &source->staging : nullptr;
}

}  // namespace minimal
}  // namespace doorbell

#endif  // DOORBELL_MINIMAL_CUH
