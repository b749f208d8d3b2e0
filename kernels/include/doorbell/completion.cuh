// Completions: which thread polls the completion queue, what a CQE frees, how waits end.
//
// Any number of waiting threads may poll at once. `completed` only rises; the thread that raises it
// has acquired the CQE at system scope and releases at gpu scope, so that a thread that finds its
// index there sees the data of a get or an atomic although another thread polled.
//
// A 16-bit wqe_counter is widened without the producer index: when `completed` is k both before
// and after the CQE was read, the WQE that it names starts about at k or later, and below
// k + 3/2 ring size: posters wait for room, and `completed` is at most half a ring late (below). A ring
// has at most 2^15 blocks, so (counter - k) mod 2^16 below 3/2 ring size means a new CQE.
//
// A poster that was alone waits for its own last post by looks at the CQE alone: no election, no
// fence, no other counter. It raises `seen`, which orders nothing, and `completed` only where it
// leaves a half of the ring, which keeps `completed` less than half a ring behind.
//
// What a wait needs of the descriptor is read once, before the first acquire: an acquire empties the L1
// cache, and the descriptor does not change.
#ifndef DOORBELL_COMPLETION_CUH
#define DOORBELL_COMPLETION_CUH

#include "doorbell/queue_pair.cuh"

namespace doorbell {

constexpr uint32_t kCqeBytes = 64;
constexpr uint32_t kCqeRequesterError = 13;
constexpr uint32_t kCqeResponderError = 14;
constexpr uint32_t kCqeInvalid = 15;
constexpr uint32_t kSyndromeFlushed = 0x05;
constexpr uint32_t kProbes = 10;    // entries of a completion ring that one look reads ahead
constexpr uint32_t kWaiting = ~0u;  // no status yet

// Linear index of the calling thread over the grid.
__device__ __forceinline__ uint64_t thread_index() {
  const uint64_t block =
      blockIdx.x + gridDim.x * (blockIdx.y + static_cast<uint64_t>(gridDim.y) * blockIdx.z);
  const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return block * (blockDim.x * blockDim.y * blockDim.z) + thread;
}

// The last four bytes of a CQE, which the HCA stores last.
struct cqe_tail {
  uint32_t word;

  __device__ __forceinline__ uint32_t opcode() const { return word >> 28; }
  __device__ __forceinline__ bool owner() const { return (word >> 24 & 1) != 0; }
  __device__ __forceinline__ uint32_t wqe_counter() const {
    return __byte_perm(word, 0, 0x4401);
  }
  __device__ __forceinline__ bool is_error() const {
    return opcode() == kCqeRequesterError || opcode() == kCqeResponderError;
  }
};

// What looking for completions needs of a descriptor.
struct completion_view {
  const doorbell_qp *shared;
  doorbell_counters *counters;
  uint64_t sq_ring;
  uint64_t cq_ring;
  uint64_t cq_record;
  uint32_t sq_blocks;
  uint32_t cq_entries;
  uint32_t qpn;
  uint32_t flags;
  uint32_t max_inline;

  __device__ __forceinline__ explicit completion_view(const doorbell_qp *qp)
      : shared(qp),
        counters(counters_of(qp)),
        sq_ring(qp->sq_ring),
        cq_ring(qp->cq_ring),
        cq_record(qp->cq_record),
        sq_blocks(qp->sq_blocks),
        cq_entries(qp->cq_entries),
        qpn(qp->qpn),
        flags(qp->flags),
        max_inline(qp->max_inline) {}

  // The same from what the caller holds in registers already, so that the loads of the rest do not wait for
  // each other.
  __device__ __forceinline__ completion_view(const doorbell_qp *qp, doorbell_counters *counters,
                                             uint64_t cq_ring, uint32_t cq_entries,
                                             uint32_t sq_blocks, uint32_t flags)
      : shared(qp),
        counters(counters),
        sq_ring(qp->sq_ring),
        cq_ring(cq_ring),
        cq_record(qp->cq_record),
        sq_blocks(sq_blocks),
        cq_entries(cq_entries),
        qpn(qp->qpn),
        flags(flags),
        max_inline(qp->max_inline) {}

  __device__ __forceinline__ bool is(uint32_t flag) const { return (flags & flag) != 0; }

  __device__ __forceinline__ uint64_t cqe_address(uint64_t index) const {
    return cq_ring + (index & (cq_entries - 1)) * kCqeBytes;
  }
};

__device__ __forceinline__ cqe_tail read_cqe_tail(uint64_t cqe) {
  return {load_acquire_system(reinterpret_cast<const uint32_t *>(cqe + 0x3c))};
}

// Records the first error of a queue pair and makes every later wait on it end. Returns what the
// caller's operation returns. `cqe` is the error CQE's address, or 0.
inline __device__ __noinline__ uint32_t fail(const doorbell_qp *qp, uint32_t status, uint64_t cqe,
                                             uint64_t awaited) {
  if ((qp->flags & DOORBELL_QP_PROXY) != 0) {
    return status;  // the CPU writes the record
  }
  doorbell_counters *counters = counters_of(qp);
  if (swap_acq_rel_device(&counters->poison, 0, status) != 0) {
    return status == DOORBELL_ERROR_CQE ? DOORBELL_ERROR_POISONED : status;
  }
  doorbell_error *error = reinterpret_cast<doorbell_error *>(qp->error);
  error->qpn = qp->qpn;
  if (cqe != 0) {
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(cqe);
    error->vendor_syndrome = bytes[0x36];
    error->syndrome = bytes[0x37];
    error->opcode = bytes[0x38];
    error->wqe_index = bytes[0x3c] << 8 | bytes[0x3d];
  }
  error->thread = thread_index();
  error->awaited = awaited;
  const uint64_t completed = load_relaxed_device(&counters->completed);
  const uint64_t seen = load_relaxed_device(&counters->seen);
  error->completed = completed > seen ? completed : seen;
  error->time_ns = global_time();
  store_release_system(&error->status, status);
  return status;
}

// The result of one poll of the completion queue.
enum class look : uint32_t {
  nothing,   // no CQE, or the counters moved meanwhile: poll again
  progress,  // completed or the consumer index moved on
  error      // an error CQE
};

struct finding {
  look what;
  uint64_t done;  // with progress: everything below is done, acquired; or 0, not known
  uint64_t cqe;   // with error: the address of the CQE
};

// The index below which everything is done according to a good CQE, or 0 if the CQE is old.
// `completed` is the counter as it was before the CQE was read.
__device__ __forceinline__ uint64_t completed_by(const completion_view &queue, cqe_tail tail,
                                                 uint64_t completed) {
  const uint32_t ahead = (tail.wqe_counter() - low(completed)) & 0xffffu;
  if (ahead >= queue.sq_blocks + queue.sq_blocks / 2) {
    return 0;
  }
  const uint64_t index = completed + ahead;
  uint64_t blocks = 1;
  if (queue.max_inline > 28) {
    // WQEs may have several blocks. Whoever has room already may be writing the slot again: the WQE's
    // own index and queue pair, in the same 8 bytes, say whether it is still the one. Were it one of
    // 2^16 blocks later, `completed` would long have passed the index.
    const uint64_t slot = index & (queue.sq_blocks - 1);
    const uint64_t head = load_relaxed_device(
        reinterpret_cast<const uint64_t *>(queue.sq_ring + slot * kBlockBytes));
    const uint32_t said = big_endian(low(head)) >> 8 & 0xffffu;
    if (said != (low(index) & 0xffffu) || big_endian(high(head)) >> 8 != queue.qpn) {
      return 0;
    }
    const uint32_t units = big_endian(high(head)) & 0x3fu;
    blocks = (units + kUnitsOfBlock - 1) / kUnitsOfBlock;
  }
  return index + blocks;
}

// After an error CQE, WQEs before the failed one are done; a flushed one carries no information.
__device__ __forceinline__ void complete_before_error(const completion_view &queue, cqe_tail tail,
                                                      uint64_t cqe, uint64_t completed) {
  const uint32_t ahead = (tail.wqe_counter() - low(completed)) & 0xffffu;
  const uint8_t syndrome = reinterpret_cast<const volatile uint8_t *>(cqe)[0x37];
  if (ahead < queue.sq_blocks + queue.sq_blocks / 2 && syndrome != kSyndromeFlushed &&
      load_acquire_device(&queue.counters->completed) == completed) {
    raise_release_device(&queue.counters->completed, completed + ahead);
  }
}

// Polls a collapsed queue: entry 0 holds the newest CQE.
__device__ __forceinline__ finding look_collapsed(const completion_view &queue,
                                                  uint64_t completed) {
  const uint64_t cqe = queue.cq_ring;
  const cqe_tail tail = read_cqe_tail(cqe);
  if (tail.opcode() == kCqeInvalid) {
    return {look::nothing, 0, cqe};
  }
  if (tail.is_error()) {
    complete_before_error(queue, tail, cqe, completed);
    return {look::error, 0, cqe};
  }
  const uint64_t done = completed_by(queue, tail, completed);
  if (done <= completed || load_relaxed_device(&queue.counters->completed) != completed) {
    return {look::nothing, 0, cqe};
  }
  raise_release_device(&queue.counters->completed, done);
  return {look::progress, done, cqe};
}

// Stores the consumer index for an HCA that checks for overrun. The thread that moved the index stores
// it; if another one moved it meanwhile, the newer value is stored again, so that the last store to the
// record is the newest value.
__device__ __forceinline__ void write_cq_record(const completion_view &queue, uint64_t consumed) {
  uint64_t written;
  do {
    written = consumed;
    store_relaxed_system(reinterpret_cast<uint32_t *>(queue.cq_record),
                         big_endian(low(written) & 0xffffffu));
    consumed = load_acquire_device(&queue.counters->cq_index);
  } while (consumed != written);
}

__device__ __forceinline__ bool is_new(const completion_view &queue, cqe_tail tail,
                                       uint64_t index) {
  return tail.opcode() != kCqeInvalid && tail.owner() == ((index & queue.cq_entries) != 0);
}

// Polls a ring, for as many entries as are valid. The HCA stores CQEs in order, and no good one follows
// an error: so a good CQE implies all before it, and a few are probed at the same time, the farther the
// sparser. A second load acquires the entry that was found.
__device__ __forceinline__ finding look_ring(const completion_view &queue, uint64_t completed) {
  doorbell_counters *counters = queue.counters;
  const uint64_t first = load_acquire_device(&counters->cq_index);
  uint64_t next = first;
  cqe_tail newest{0};
  const uint64_t cqe = queue.cqe_address(first);
  cqe_tail tail = read_cqe_tail(cqe);
  const bool error = is_new(queue, tail, first) && tail.is_error();
  if (is_new(queue, tail, first) && !error) {
    newest = tail;
    next = first + 1;
    uint32_t words[kProbes];
#pragma unroll
    for (uint32_t i = 0; i < kProbes; ++i) {
      words[i] = load_relaxed_system(
          reinterpret_cast<const uint32_t *>(queue.cqe_address(first + (1u << i)) + 0x3c));
    }
    uint32_t farthest = 0;
#pragma unroll
    for (uint32_t i = 0; i < kProbes; ++i) {
      const uint32_t ahead = 1u << i;
      if (ahead < queue.cq_entries && is_new(queue, {words[i]}, first + ahead) &&
          !cqe_tail{words[i]}.is_error()) {
        farthest = ahead;
      }
    }
    if (farthest != 0) {
      const cqe_tail far = read_cqe_tail(queue.cqe_address(first + farthest));
      if (is_new(queue, far, first + farthest) && !far.is_error()) {
        newest = far;
        next = first + farthest + 1;
      }
    }
  }
  if (next != first) {
    uint64_t done = completed_by(queue, newest, completed);
    if (load_acquire_device(&counters->completed) != completed) {
      return {look::nothing, 0, cqe};
    }
    // Entries are consumed before their blocks are free: once blocks are free, the HCA may overwrite
    // the entries, and no thread may find them half consumed.
    if (swap_acq_rel_device(&counters->cq_index, first, next) == first) {
      if (queue.is(DOORBELL_QP_CQ_RECORD)) {
        write_cq_record(queue, next);  // for an HCA that checks for overrun
      }
      if (done != 0) {
        raise_release_device(&counters->completed, done);
      }
    } else {
      done = 0;
    }
    return {look::progress, done, cqe};
  }
  if (error) {
    complete_before_error(queue, tail, cqe, completed);
    return {look::error, 0, cqe};
  }
  return {look::nothing, 0, cqe};
}

inline __device__ __noinline__ finding look_at(completion_view queue, uint64_t completed) {
  return queue.is(DOORBELL_QP_CQ_COLLAPSED) ? look_collapsed(queue, completed)
                                            : look_ring(queue, completed);
}

// One turn of a wait for blocks below `index`: DOORBELL_OK, an error, or kWaiting. For callers that do
// something else in between. `due`: the rarer causes to end a wait are checked as well.
inline __device__ __noinline__ uint32_t glance(const doorbell_qp *qp, uint64_t index, bool due) {
  const completion_view queue(qp);
  doorbell_counters *counters = queue.counters;
  const uint64_t completed = load_acquire_device(&counters->completed);
  if (completed >= index) {
    return DOORBELL_OK;
  }
  finding found{look::nothing, 0, 0};
  if (load_relaxed_device(&counters->poller) == 0 &&
      exchange_relaxed_device(&counters->poller, 1) == 0) {
    found = look_at(queue, completed);
    store_relaxed_device(&counters->poller, 0);
  } else {
    __nanosleep(64);
  }
  if (found.what == look::nothing && !due) {
    return kWaiting;
  }
  if (found.done >= index) {
    return DOORBELL_OK;
  }
  const uint64_t poison = load_acquire_device(&counters->poison);
  if (load_acquire_device(&counters->completed) >= index) {
    return DOORBELL_OK;
  }
  return found.what == look::error ? fail(qp, DOORBELL_ERROR_CQE, found.cqe, index)
         : poison != 0             ? DOORBELL_ERROR_POISONED
                                   : kWaiting;
}

// Checks once whether the queue pair is in error; for waits on something else.
inline __device__ __noinline__ uint32_t check(const doorbell_qp *qp, uint64_t awaited) {
  if ((qp->flags & kBackEnds) != 0) {
    return check_elsewhere(qp);
  }
  const completion_view queue(qp);
  const finding found = look_at(queue, load_acquire_device(&queue.counters->completed));
  if (found.what == look::error) {
    return fail(qp, DOORBELL_ERROR_CQE, found.cqe, awaited);
  }
  return load_acquire_device(&queue.counters->poison) != 0 ? DOORBELL_ERROR_POISONED : DOORBELL_OK;
}

// Stands for the index of everything that is reserved now.
constexpr uint64_t kEverything = ~0ull;

// How far ahead of `completed` a lone poster's last post may end: see has_passed().
constexpr uint64_t kLoneSpan = (1u << 15) - 64;

// Looks of a lone poster before it stands for election as everybody does.
constexpr uint32_t kLoneLooks = 16;

// Whether the CQE of the WQE at block `start`, or a later one, is there. `completed` was acquired before
// the CQE was read; start - completed is below 2^15 - 64, and a CQE that is older than `completed` names a
// WQE of at most 16 blocks that ends there: so without the WQE's own the difference is negative, and
// with it at least 0. After 2^15 blocks more, which others posted, it looks negative again: no error.
__device__ __forceinline__ bool has_passed(cqe_tail tail, uint64_t start) {
  return tail.opcode() != kCqeInvalid && !tail.is_error() &&
         ((tail.wqe_counter() - low(start)) & 0x8000u) == 0;
}

// A poster's last WQE, of blocks from `start` to `end`; and where its CQE is: entry `entry` of a
// completion ring. kEverything where the poster was not alone.
struct lone_post {
  uint64_t start;
  uint64_t end;
  uint64_t entry;
};

// What a wait returns: the entry of the next CQE as far as a lone poster can tell, or kEverything.
struct waited {
  uint32_t status;
  uint64_t entry;
};

// The counters that a lone poster raises: see doorbell_counters.
__device__ __forceinline__ void raise_alone(doorbell_counters *counters, uint32_t flags,
                                            uint32_t sq_blocks, uint64_t completed,
                                            const lone_post &last) {
  const bool collapsed = (flags & DOORBELL_QP_CQ_COLLAPSED) != 0;
  if ((flags & DOORBELL_QP_EXCLUSIVE) != 0) {
    store_relaxed_device(&counters->completed, last.end);
    if (!collapsed) {
      store_relaxed_device(&counters->cq_index, last.entry + 1);
    }
    return;
  }
  if (collapsed) {
    raise_relaxed_device(&counters->seen, last.end);
    const uint64_t half = sq_blocks > 1 ? sq_blocks / 2 : 1;
    if ((completed & ~(half - 1)) == (last.end & ~(half - 1))) {
      return;
    }
  } else {
    // Nobody else finds what is consumed: so `completed` is raised at once.
    raise_relaxed_device(&counters->cq_index, last.entry + 1);
  }
  raise_release_device(&counters->completed, last.end);
}

// The wait of a poster whose last post was the last of the queue pair. DOORBELL_OK; or kWaiting when
// somebody else posts, other CQEs come before, time passes, or there is an error.
__device__ __forceinline__ uint32_t wait_alone(doorbell_counters *counters, uint64_t cq_ring,
                                               uint32_t cq_entries, uint32_t sq_blocks,
                                               uint32_t flags, uint64_t completed,
                                               const lone_post &last, bool everything) {
  const bool collapsed = (flags & DOORBELL_QP_CQ_COLLAPSED) != 0;
  const bool own = (flags & DOORBELL_QP_EXCLUSIVE) != 0;
  const uint64_t cqe =
      collapsed ? cq_ring : cq_ring + (last.entry & (cq_entries - 1)) * kCqeBytes;
#pragma unroll 1
  for (uint32_t looks = 0; looks < kLoneLooks; ++looks) {
    // Both loads are under way at the same time.
    const uint64_t reserved =
        own ? last.end << DOORBELL_RESERVED_SHIFT : load_relaxed_device(&counters->reserved);
    const cqe_tail tail = read_cqe_tail(cqe);
    const bool alone = reserved >> DOORBELL_RESERVED_SHIFT == last.end;
    const bool there = tail.opcode() != kCqeInvalid &&
                       (collapsed || tail.owner() == ((last.entry & cq_entries) != 0));
    if (there && has_passed(tail, last.start) && (alone || !everything)) {
      raise_alone(counters, flags, sq_blocks, completed, last);
      return DOORBELL_OK;
    }
    if (!alone || (there && (tail.is_error() || !collapsed))) {
      break;
    }
  }
  return kWaiting;
}

// Waits until every block below `index` is completed. Ends with DOORBELL_ERROR_CQE for the thread
// that met the error, DOORBELL_ERROR_POISONED for those after it, DOORBELL_ERROR_DEADLINE when time
// is up. Acquires: fetched data may be read afterwards.
//
// One waiting thread polls for all; the others read `completed`. Loads of one line of host memory are
// served one after the other, a bus round trip each, and fences wait for those in flight: with as many
// pollers as waiters an H200 posts a tenth. The choice of the poller is a hint without any order; in
// case it is stuck, the others poll at long intervals.
__device__ __forceinline__ uint32_t wait_together(const completion_view &queue, uint64_t index) {
  doorbell_counters *counters = queue.counters;
  deadline limit(queue.shared->deadline_ns);
  if (index == kEverything) {
    index = reserved_index(load_relaxed_device(&counters->reserved));
  }
  uint32_t status = DOORBELL_OK;
  // Whoever waits is probably not done: the election and the load of `completed` are under way together.
  bool polls = queue.is(DOORBELL_QP_EXCLUSIVE) ||
               exchange_relaxed_device(&counters->poller, 1) == 0;
  for (;;) {
    const uint64_t completed = load_acquire_device(&counters->completed);
    if (completed >= index) {
      break;
    }
    if (!polls && load_relaxed_device(&counters->poller) == 0) {
      polls = exchange_relaxed_device(&counters->poller, 1) == 0;
    }
    const bool due = limit.due();
    finding found{look::nothing, 0, 0};
    if (polls || limit.rarely()) {
      found = look_at(queue, completed);
    } else {
      __nanosleep(64);
    }
    if (found.what == look::error) {
      if (load_acquire_device(&counters->completed) < index) {
        status = fail(queue.shared, DOORBELL_ERROR_CQE, found.cqe, index);
      }
      break;
    }
    if (found.what == look::progress) {
      if (found.done >= index) {
        break;
      }
      continue;
    }
    if (due) {
      if (load_acquire_device(&counters->poison) != 0) {
        status = load_acquire_device(&counters->completed) >= index ? DOORBELL_OK
                                                                    : DOORBELL_ERROR_POISONED;
        break;
      }
      if (limit.passed()) {
        status = fail(queue.shared, DOORBELL_ERROR_DEADLINE, 0, index);
        break;
      }
    }
  }
  if (polls) {
    store_relaxed_device(&counters->poller, 0);
  }
  return status;
}

// Out of line, with what a lone poster needs in registers. `completed` is a lower bound that the caller
// has acquired.
inline __device__ __noinline__ waited await_completed(const doorbell_qp *qp,
                                                      doorbell_counters *counters,
                                                      uint64_t cq_ring, uint32_t cq_entries,
                                                      uint32_t sq_blocks, uint32_t flags,
                                                      uint64_t completed, lone_post last,
                                                      uint64_t index) {
  if (last.end != kEverything && (index == last.end || index == kEverything) &&
      (flags & DOORBELL_QP_CQ_RECORD) == 0 &&
      (flags & (DOORBELL_QP_CQ_COLLAPSED | DOORBELL_QP_EXCLUSIVE)) != 0) {
    if (last.end - completed >= kLoneSpan) {
      completed = load_acquire_device(&counters->completed);
    }
    if (last.entry == kEverything && (flags & DOORBELL_QP_CQ_COLLAPSED) == 0) {
      // The wait before polled for all: it may have consumed the CQE of this post, too.
      completed = load_acquire_device(&counters->completed);
      last.entry = load_relaxed_device(&counters->cq_index);
      if (completed >= last.end) {
        return {DOORBELL_OK, last.entry};
      }
    }
    // Where nothing is left, no CQE is to come: a look would wait for one in vain.
    if (last.end - completed - 1 < kLoneSpan - 1 &&
        wait_alone(counters, cq_ring, cq_entries, sq_blocks, flags, completed, last,
                   index == kEverything) == DOORBELL_OK) {
      return {DOORBELL_OK, last.entry + 1};
    }
  }
  const completion_view queue(qp, counters, cq_ring, cq_entries, sq_blocks, flags);
  return {wait_together(queue, index), kEverything};
}

// Waits until every block below `index` is completed, or with kEverything every one that is reserved now.
__device__ __forceinline__ uint32_t wait_completed(const queue_pair &qp, uint64_t index) {
  if (index <= qp.completed) {
    return DOORBELL_OK;
  }
  const waited result = await_completed(qp.shared, qp.counters, qp.cq_ring, qp.cq_entries,
                                        qp.sq_blocks, qp.flags, qp.completed,
                                        {qp.last_start, qp.last_end, qp.next_entry}, index);
  qp.next_entry = result.entry;
  const uint64_t done = index == kEverything ? qp.last_end : index;
  if (result.status == DOORBELL_OK && done != kEverything && done > qp.completed) {
    qp.completed = done;
  }
  return result.status;
}

}  // namespace doorbell

#endif  // DOORBELL_COMPLETION_CUH
