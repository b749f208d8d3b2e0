// Posting: how a work request gets into the send ring, and how the HCA is notified of it.
//
//   1. reserve  one atomic add on `reserved`, for all lanes of a warp that post to the queue pair now
//   2. room     wait until the ring has room for the reservation, polling completions meanwhile
//   3. write    the WQEs, in 16-byte stores; posters do this in parallel
//   4. mark     the reservation as written; the poster does not wait, the holder of the baton rings for it
//   5. ring     by the holder: for all that is written without a gap; then it releases the baton
//
// The baton is the right to ring. It has one holder at a time, who rings with rising indices: neither
// record nor doorbell ever goes backwards, without a lock or a maximum of indices. No thread waits for
// the baton. The holder releases it
//
//   in `reserved`   when it has rung for everything that is reserved: the count there is 0 then. The
//                   next poster that reserves finds the 0 and holds the baton; its blocks are not marked;
//   at a block      that is reserved, but not written yet: by compare-and-swap on the block's mark.
//                   Its poster finds the baton there when it marks the block as written.
//
// Marks. Each block of the ring has a mark, which is used when a reservation starts there:
//
//   2 * end         written; the reservation ends at block `end`
//   2 * block + 1   the baton was released here
//   all ones        never written: the poster found no room
//   anything less   a mark of an earlier lap
//
// Indices do not wrap, so every mark of an earlier lap is less than 2 * block.
//
// Why no wait is endless: a poster that holds the baton has room already, or waits for completions of
// blocks that were rung for, since a holder rings for what is written before it releases the baton.
// Once it has rung for `batch` blocks, it may leave ringing to the next poster if every reservation has
// room: then that poster reaches its mark without a further doorbell.
//
// Fences, each once per reservation, whatever the number of lanes:
//
//   F1  WQEs and payload before the mark                                  if the baton is not held
//   F2  WQEs and payload of all that is rung for before the record or doorbell; it also acquires what
//       others marked, because their marks are read relaxed               per doorbell
//   F3  the record before the doorbell                                    per doorbell, if a record
//   F4  doorbell and record before those of the next holder: a release at GPU scope, part of the atomic
//       that releases the baton                                           per turn of the baton
//   F5  marks that were read, before the baton is released: F4 is no fence, and releases only what
//       was acquired                                                      if ringing is left to others
//
// Only F2 and F3 drain stores to the HCA. A single poster with a record drains twice per post; with
// many posters, most posts cost F1 alone.
#ifndef DOORBELL_POST_CUH
#define DOORBELL_POST_CUH

#include "doorbell/completion.cuh"
#include "doorbell/elsewhere.cuh"
#include "doorbell/wqe.cuh"

namespace doorbell {

// Consecutive blocks of the send ring that belong to one poster, or to the lanes of a warp.
struct reservation {
  uint64_t base;
  uint64_t end;
  bool baton;  // the reservation came with the baton
};

constexpr uint32_t kReservationMask = (1u << DOORBELL_RESERVED_SHIFT) - 1;

__device__ __forceinline__ reservation reserve(const queue_pair &qp, uint32_t blocks) {
  if (qp.is(DOORBELL_QP_EXCLUSIVE)) {
    const uint64_t base =
        qp.last_end != ~0ull ? qp.last_end
                             : reserved_index(load_relaxed_device(&qp.counters->reserved));
    qp.last_end = base + blocks;
    store_relaxed_device(&qp.counters->reserved, qp.last_end << DOORBELL_RESERVED_SHIFT);
    return {base, base + blocks, true};
  }
  const uint64_t before = add_relaxed_device(
      &qp.counters->reserved, (static_cast<uint64_t>(blocks) << DOORBELL_RESERVED_SHIFT) + 1);
  const uint64_t base = before >> DOORBELL_RESERVED_SHIFT;
  return {base, base + blocks, (low(before) & kReservationMask) == 0};
}

// Returns DOORBELL_OK, kWaiting, or DOORBELL_ERROR_POISONED: in a broken queue pair the
// top bit of `reserved` makes the index too large for any room.
__device__ __forceinline__ uint32_t room_now(const queue_pair &qp, const reservation &mine) {
  if (mine.end - qp.completed <= qp.sq_blocks) {
    return DOORBELL_OK;
  }
  qp.completed = load_acquire_device(&qp.counters->completed);
  if (mine.end - qp.completed <= qp.sq_blocks) {
    return DOORBELL_OK;
  }
  return mine.base >= DOORBELL_RESERVED_BROKEN >> DOORBELL_RESERVED_SHIFT ? DOORBELL_ERROR_POISONED
                                                                          : kWaiting;
}

__device__ __forceinline__ void store_record(const queue_pair &qp, uint64_t index) {
  store_relaxed_system(reinterpret_cast<uint32_t *>(qp.sq_record),
                       big_endian(low(index) & 0xffffu));
}

__device__ __forceinline__ void store_doorbell(const queue_pair &qp, uint64_t index) {
  const uint64_t first = big_endian((low(index) & 0xffffu) << 8);
  const uint64_t second = big_endian(qp.qpn << 8);
  store_register(qp.doorbell, second << 32 | first);
}

// Rings for everything below `index` of a queue pair that has a record. `kSystem`: the fences cover stores
// that leave the GPU.
template <bool kSystem>
__device__ __forceinline__ void ring_by_record(const queue_pair &qp, uint64_t index) {
  fence(kSystem);  // F2
  if (qp.is(DOORBELL_QP_RECORD_LAST)) {
    store_doorbell(qp, index);
  }
  store_record(qp, index);
  store_relaxed_device(&qp.counters->rung, index);  // here its drain costs nothing
  fence(kSystem);  // F3: an HCA that lost a doorbell reads the record at the next one
  store_doorbell(qp, index);
}

// Rings for everything below `index`. The caller holds the baton. `system`: the fence must cover stores
// that leave the GPU.
__device__ __forceinline__ void ring(const queue_pair &qp, uint64_t index, bool system) {
  if (!qp.is(DOORBELL_QP_CPU_RUNG | DOORBELL_QP_NO_RECORD)) {
    if (system) {
      ring_by_record<true>(qp, index);
    } else {
      ring_by_record<false>(qp, index);
    }
    return;
  }
  if (qp.is(DOORBELL_QP_CPU_RUNG)) {
    fence(true);  // F2: the CPU reads the request, then writes the record and rings
    store_relaxed_system(reinterpret_cast<uint64_t *>(qp.shared->ring_request), index);
  } else {
    fence(system);  // F2
    store_doorbell(qp, index);
  }
  store_relaxed_device(&qp.counters->rung, index);
}

// Rings by storing the WQE itself. An HCA that received it torn, or lost it to the next one, reads the
// WQE in the ring instead, which must therefore be visible first. An exclusive poster of inline payloads
// omits that fence: it relies on an HCA that receives whole blocks, in order.
__device__ __forceinline__ void ring_blueflame(const queue_pair &qp, const work_request &request,
                                               const reservation &mine, bool system) {
  if (!request.is_inline() || !qp.is(DOORBELL_QP_EXCLUSIVE)) {
    fence(system);  // F2: the payload before the WQE that names it; the WQE in the ring before the record
  }
  if (!qp.is(DOORBELL_QP_NO_RECORD)) {
    store_record(qp, mine.end);
  }
  const uint64_t count = load_relaxed_device(&qp.counters->blueflame);
  write_blueflame(qp.doorbell + (count & 1) * qp.blueflame_bytes, qp.qpn, request, mine.base);
  store_relaxed_device(&qp.counters->blueflame, count + 1);
  store_relaxed_device(&qp.counters->rung, mine.end);
}

namespace detail {

constexpr uint64_t kNeverWritten = ~0ull;
constexpr uint32_t kMarksAtOnce = 16;

__device__ __forceinline__ uint64_t *mark_of(const queue_pair &qp, uint64_t index) {
  return reinterpret_cast<uint64_t *>(qp.counters + 1) + (index & (qp.sq_blocks - 1));
}

__device__ __forceinline__ uint64_t written_mark(uint64_t end) { return end << 1; }

__device__ __forceinline__ uint64_t baton_mark(uint64_t index) { return index << 1 | 1; }

__device__ __forceinline__ bool is_written(uint64_t mark, uint64_t index) {
  return mark > baton_mark(index);
}

// Subtracts `reservations` from the count of those that the holder must ring for. Returns true if none
// is left: then the baton is released. F4.
__device__ __forceinline__ bool settle(const queue_pair &qp, uint32_t reservations) {
  const uint64_t before =
      add_release_device(&qp.counters->reserved, -static_cast<uint64_t>(reservations));
  return (low(before) & kReservationMask) == reservations;
}

// Whether ringing may be left to the poster at `index`: one exists, and all have room. `reserved` may be old.
__device__ __forceinline__ bool may_leave_ringing(const queue_pair &qp, uint64_t index) {
  const uint64_t reserved = reserved_index(load_relaxed_device(&qp.counters->reserved));
  return reserved > index &&
         reserved - load_relaxed_device(&qp.counters->completed) <= qp.sq_blocks;
}

// Moves `written` past what is written without a gap and counts its reservations; returns the mark of
// the block where it stopped. A reservation's mark gives the place of the next one, at the cost of an
// access to the L2 cache each; so several marks are loaded at once, at the places where they are if all
// reservations have the size of the last one.
__device__ __forceinline__ uint64_t skip_written(const queue_pair &qp, uint64_t &written,
                                                 uint32_t &unsettled) {
  const uint64_t mark = load_relaxed_device(mark_of(qp, written));
  if (!is_written(mark, written) || mark == kNeverWritten) {
    return mark;
  }
  uint64_t size = (mark >> 1) - written;
  written = mark >> 1;
  ++unsettled;
  for (;;) {
    uint64_t marks[kMarksAtOnce];
#pragma unroll
    for (uint32_t i = 0; i < kMarksAtOnce; ++i) {
      marks[i] = load_relaxed_device(mark_of(qp, written + i * size));
    }
#pragma unroll
    for (uint32_t i = 0; i < kMarksAtOnce; ++i) {
      if (!is_written(marks[i], written) || marks[i] == kNeverWritten) {
        return marks[i];
      }
      const uint64_t found = (marks[i] >> 1) - written;
      written = marks[i] >> 1;
      ++unsettled;
      if (found != size) {
        size = found;
        break;
      }
    }
  }
}

// Rings for what other posters have written, and releases the baton. The blocks below `rung` have been
// rung for, those from there to `written` have not; `unsettled` reservations are handled but not yet
// subtracted from the count.
inline __device__ __noinline__ void serve(const doorbell_qp *shared, uint64_t rung,
                                          uint64_t written, uint32_t unsettled, bool system) {
  const queue_pair qp(shared);
  uint64_t first = rung;
  for (;;) {
    uint64_t mark = skip_written(qp, written, unsettled);
    if (written != rung &&
        (rung - first < qp.batch || mark == kNeverWritten || !may_leave_ringing(qp, written))) {
      ring(qp, written, system);
      rung = written;
      continue;  // more may have been written meanwhile
    }
    if (mark == kNeverWritten) {
      return;  // keeps the baton: nothing is rung for any more
    }
    if (written != rung) {
      fence(false);  // F5: acquires marked reservations for which the next poster will ring
    }
    if (unsettled != 0) {
      if (settle(qp, unsettled)) {
        return;
      }
      unsettled = 0;
    }
    // F4 again: releases the ringing since settle(), if any.
    if (swap_release_device(mark_of(qp, written), mark, baton_mark(written)) == mark) {
      return;
    }
  }
}

}  // namespace detail

// Queue pairs on which a single post may ring in another way than by record and doorbell.
constexpr uint32_t kOtherDoorbells =
    DOORBELL_QP_CPU_RUNG | DOORBELL_QP_NO_RECORD | DOORBELL_QP_BLUEFLAME;

// Step 5 for a reservation that came with the baton: it finds everything before its own blocks rung for,
// and only new reservations behind them. `kOwn`: the queue pair is exclusive, where nothing is to be released.
template <bool kOwn>
__device__ __forceinline__ void submit_first(const queue_pair &qp, const reservation &mine,
                                             const work_request &request, uint32_t last,
                                             bool alone, bool staged) {
  const bool system = qp.is(DOORBELL_QP_SCOPE_SYSTEM) || staged;
  // One test on the way of most.
  if (__builtin_expect(!qp.is(kOtherDoorbells), 1)) {
    if (system) {
      ring_by_record<true>(qp, mine.end);
    } else {
      ring_by_record<false>(qp, mine.end);
    }
  } else if (alone && qp.is(DOORBELL_QP_BLUEFLAME) &&
             request.blocks() * kBlockBytes <= qp.blueflame_bytes) {
    ring_blueflame(qp, request, mine, system);
  } else {
    ring(qp, mine.end, system);
  }
  qp.last_start = mine.end - last;
  if (!kOwn) {
    qp.last_end = mine.end;
    if (__builtin_expect(!detail::settle(qp, 1), 0)) {
      qp.last_end = ~0ull;
      detail::serve(qp.shared, mine.end, mine.end, 0, system);
    }
  }
}

// Step 4 for a reservation that came without the baton; and 5, if it is found at the mark.
__device__ __forceinline__ void submit_behind(const queue_pair &qp, const reservation &mine,
                                              bool staged) {
  qp.last_end = ~0ull;
  // F1. F2 of the holder drains the WQEs, at the queue pair's own scope only.
  fence(staged);
  const uint64_t found = exchange_relaxed_device(detail::mark_of(qp, mine.base),
                                                 detail::written_mark(mine.end));
  if (found == detail::baton_mark(mine.base)) {
    detail::serve(qp.shared, mine.base, mine.end, 1, qp.is(DOORBELL_QP_SCOPE_SYSTEM) || staged);
  }
}

// Steps 4 and 5 for a reservation whose WQEs are written, the last of them with `last` blocks. `alone`:
// the reservation is this request only. `staged`: its payload is stored outside of the GPU.
__device__ __forceinline__ void submit(const queue_pair &qp, const reservation &mine,
                                       const work_request &request, uint32_t last, bool alone,
                                       bool staged) {
  if (!mine.baton) {
    submit_behind(qp, mine, staged);
  } else if (qp.is(DOORBELL_QP_EXCLUSIVE)) {
    submit_first<true>(qp, mine, request, last, alone, staged);
  } else {
    submit_first<false>(qp, mine, request, last, alone, staged);
  }
}

// Abandons a reservation for which there was no room, and with it the queue pair: later reservations
// fail at once, existing ones behind this fail when they wait.
inline __device__ __noinline__ void abandon(const doorbell_qp *shared, uint64_t base, bool baton) {
  const queue_pair qp(shared);
  if (qp.is(DOORBELL_QP_EXCLUSIVE)) {
    store_relaxed_device(&qp.counters->reserved, base << DOORBELL_RESERVED_SHIFT);
    return;
  }
  set_bits_relaxed_device(&qp.counters->reserved, DOORBELL_RESERVED_BROKEN);
  if (!baton &&
      exchange_relaxed_device(detail::mark_of(qp, base), detail::kNeverWritten) ==
          detail::baton_mark(base) &&
      load_relaxed_device(&qp.counters->rung) != base) {
    ring(qp, base, qp.is(DOORBELL_QP_SCOPE_SYSTEM));  // ringing was left to this poster
  }
}

// Returns whether this queue pair can express the work request.
__device__ __forceinline__ bool is_expressible(const queue_pair &qp, const work_request &request) {
  return request.bytes <= (request.is_inline() ? qp.max_inline : kMaxMessageBytes);
}

// One or two requests that are posted together; only the last one is signaled, which is to say that it has
// a CQE. Whether it is a signal to the peer is another matter.
struct request_list {
  work_request first;
  work_request second;
  uint32_t count;

  __device__ __forceinline__ uint32_t blocks() const {
    return first.blocks() + (count == 2 ? second.blocks() : 0);
  }

  // Keeps the compiler from computing parts of WQEs ahead, which would take registers until then.
  __device__ __forceinline__ void keep_here() {
    asm volatile("" : "+l"(first.remote), "+l"(first.local), "+r"(first.bytes), "+r"(first.remote_key));
    asm volatile("" : "+l"(second.remote), "+l"(second.local), "+r"(second.remote_key));
  }

  // Blocks of the WQE that is signaled.
  __device__ __forceinline__ uint32_t last_blocks() const {
    return count == 2 ? second.blocks() : first.blocks();
  }

  // Returns whether the payload is stored outside of the GPU.
  __device__ __forceinline__ bool is_staged() const { return first.payload == source::system; }

  __device__ __forceinline__ bool is_expressible(const queue_pair &qp) const {
    return doorbell::is_expressible(qp, first) && blocks() <= qp.sq_blocks;
  }

  __device__ __forceinline__ void write(const queue_pair &qp, uint64_t index,
                                        bool signaled) const {
    if (count == 2) {
      write_wqe(qp, first, index, false);
      write_wqe(qp, second, index + first.blocks(), signaled);
    } else {
      write_wqe(qp, first, index, signaled);
    }
  }
};

// Requests of which the last may be a signal, which comes behind all before it: order.cuh. Other lists stay as
// they are, so that what posts data alone pays nothing for it.
struct signal_list : request_list {
  uint32_t signals;  // not 0: it is
};

// Reserves and waits for room; abandons the reservation on failure.
__device__ __forceinline__ uint32_t begin_reservation(const queue_pair &qp, uint32_t blocks,
                                                      reservation &mine) {
  mine = reserve(qp, blocks);
  uint32_t room = room_now(qp, mine);
  if (room == kWaiting) {
    room = wait_completed(qp, mine.end - qp.sq_blocks);
  }
  if (room != DOORBELL_OK) {
    abandon(qp.shared, mine.base, mine.baton);
    qp.last_end = ~0ull;
  }
  return room;
}

// The queue pairs on which a list does not go straight into the ring. One test finds all of them, so that
// those on which it does pay nothing for the rest.
template <class List>
constexpr uint32_t kElsewhere = kBackEnds;
template <>
constexpr uint32_t kElsewhere<signal_list> = kBackEnds | kOrderFlags;

__device__ __forceinline__ posted post_elsewhere(const queue_pair &qp, const request_list &list) {
  return submit_elsewhere(qp.shared, list.first, list.second, list.count);
}

// order.cuh
__device__ posted post_elsewhere(const queue_pair &qp, const signal_list &list);

// The first half of a post: checks the requests, reserves, and waits for room. Elsewhere there is nothing
// to reserve yet.
template <class List>
__device__ __forceinline__ uint32_t begin_post(const queue_pair &qp, const List &list,
                                               reservation &mine) {
  if (!list.is_expressible(qp)) {
    return DOORBELL_ERROR_ARGUMENT;
  }
  return qp.is(kElsewhere<List>) ? DOORBELL_OK : begin_reservation(qp, list.blocks(), mine);
}

// The second half: writes the WQEs and submits them. The payload is written by then.
template <class List>
__device__ __forceinline__ posted finish_post(const queue_pair &qp, const List &list,
                                              const reservation &mine) {
  if (qp.is(kElsewhere<List>)) {
    return post_elsewhere(qp, list);
  }
  list.write(qp, mine.base, true);
  submit(qp, mine, list.first, list.last_blocks(), list.count == 1, list.is_staged());
  return {DOORBELL_OK, mine.end};
}

// Lanes of a warp that post together.
struct lane_group {
  uint32_t here;  // all lanes that post now
  uint32_t mask;  // those of them in the group
  uint32_t lane;

  __device__ __forceinline__ uint32_t size() const { return __popc(mask); }
  __device__ __forceinline__ uint32_t rank() const { return __popc(mask & ((1u << lane) - 1)); }
  __device__ __forceinline__ uint32_t leader() const { return __ffs(mask) - 1; }
};

// Of the active lanes `here`, of which there are several, those that post the same number of blocks of the same
// kind to the same queue pair. The hardware chooses which lanes are active together; every choice is correct.
__device__ __forceinline__ lane_group lanes_with(const queue_pair &qp, uint32_t here,
                                                 uint32_t blocks, bool staged) {
  uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  // Descriptors are 128 bytes apart, a list has at most 32 blocks.
  const uint64_t key = reinterpret_cast<uint64_t>(qp.shared) + blocks + (staged ? 64 : 0);
  const uint32_t mask = __match_any_sync(here, key);
  return {here, __popc(mask) * blocks <= qp.sq_blocks ? mask : 1u << lane, lane};
}

// One turn of a wait for room, of a reservation whose warp also posts to other queue pairs.
inline __device__ __noinline__ uint32_t await_room(const doorbell_qp *qp, uint64_t base,
                                                   uint64_t index, bool baton, bool due,
                                                   bool late) {
  uint32_t status = glance(qp, index, due);
  if (status == kWaiting && late) {
    status = fail(qp, DOORBELL_ERROR_DEADLINE, 0, index);
  }
  if (status != DOORBELL_OK && status != kWaiting) {
    abandon(qp, base, baton);
  }
  return status;
}

// Posts for lanes of different queue pairs, interleaved. No lane waits for room while another one has
// it: a lane that held a reservation while its neighbour waits would delay the other warps of its queue
// pair, and these in turn those that the neighbour waits for.
//
// A kernel pays for the registers of this function whether its lanes ever part or not: so the descriptor is
// read where it is used, and nothing is computed ahead of that.
inline __device__ __noinline__ posted post_apart(const doorbell_qp *shared, request_list list,
                                                 lane_group group) {
  constexpr uint64_t kNoRoom = 1ull << 63;
  const uint32_t blocks = list.blocks();
  const uint32_t size = group.size();
  const uint32_t rank = group.rank();
  reservation mine{0, 0, false};
  uint32_t status = DOORBELL_OK;
  if (rank == 0) {
    const queue_pair qp(shared);
    mine = reserve(qp, size * blocks);
    status = room_now(qp, mine);
    if (status == DOORBELL_ERROR_POISONED) {
      abandon(shared, mine.base, mine.baton);
    }
  }
  deadline limit(shared->deadline_ns);
  posted result{DOORBELL_OK, 0};
  bool pending = true;
  for (;;) {
    if (pending) {
      const uint64_t said =
          __shfl_sync(group.mask, status == DOORBELL_OK ? mine.base : kNoRoom | status,
                      group.leader());
      if (said < kNoRoom) {
        const queue_pair qp(shared);
        request_list now = list;
        now.keep_here();
        __syncwarp(group.mask);  // the leader found room before the lanes write
        now.write(qp, said + rank * blocks, rank == size - 1);
        __syncwarp(group.mask);  // the lanes' WQEs and payloads before the leader's fence
        if (rank == 0) {
          submit(qp, mine, now.first, now.last_blocks(), size == 1 && now.count == 1,
                 now.is_staged());
        }
        result.ticket = said + size * blocks;
        pending = false;
      } else if (low(said) != kWaiting) {
        result.status = low(said);
        pending = false;
      }
    }
    if (!__any_sync(group.here, pending)) {
      return result;
    }
    if (pending && rank == 0) {
      const bool due = limit.due();
      status = await_room(shared, mine.base, mine.end - shared->sq_blocks, mine.baton, due,
                          due && limit.passed());
    }
  }
}

// Posts the requests of the only thread that may post to its queue pair: what it needs to know is in registers.
template <class List>
__device__ __forceinline__ posted post_own(const queue_pair &qp, const List &list) {
  const uint32_t blocks = list.blocks();
  // Without the index, last_end is far above every index.
  if (__builtin_expect(qp.last_end - qp.completed > qp.sq_blocks - blocks, 0)) {
    reservation late{0, 0, true};
    const uint32_t status = begin_reservation(qp, blocks, late);
    if (status != DOORBELL_OK) {
      return {status, 0};
    }
    qp.last_end = late.base;
  }
  const reservation mine{qp.last_end, qp.last_end + blocks, true};
  qp.last_end = mine.end;
  store_relaxed_device(&qp.counters->reserved, mine.end << DOORBELL_RESERVED_SHIFT);
  list.write(qp, mine.base, true);
  submit_first<true>(qp, mine, list.first, list.last_blocks(), list.count == 1, list.is_staged());
  return {DOORBELL_OK, mine.end};
}

// Posts the requests of one thread, together with those of other active lanes: one
// reservation, one doorbell, one completion. The ticket stands for the requests of all of them.
template <class List>
__device__ __forceinline__ posted post_thread(const queue_pair &qp, const List &list) {
  if (!list.is_expressible(qp)) {
    return {DOORBELL_ERROR_ARGUMENT, 0};
  }
  if (qp.is(kElsewhere<List> | DOORBELL_QP_EXCLUSIVE)) {
    return qp.is(kElsewhere<List>) ? post_elsewhere(qp, list) : post_own(qp, list);
  }
  const uint32_t blocks = list.blocks();
  lane_group group{__activemask(), 0, 0};
  const bool single = (group.here & (group.here - 1)) == 0;
  uint32_t size = 1;
  uint32_t rank = 0;
  uint32_t leader = 0;
  if (!single) {
    group = lanes_with(qp, group.here, blocks, list.is_staged());
    if (group.mask != group.here) {
      return post_apart(qp.shared, list, group);
    }
    size = group.size();
    rank = group.rank();
    leader = group.leader();
  }
  reservation mine{~0ull, 0, false};
  uint32_t status = DOORBELL_OK;
  if (rank == 0) {
    status = begin_reservation(qp, size * blocks, mine);
    mine.base = status == DOORBELL_OK ? mine.base : ~0ull;
  }
  const uint64_t base = single ? mine.base : __shfl_sync(group.mask, mine.base, leader);
  if (base == ~0ull) {
    return {single ? status : __shfl_sync(group.mask, status, leader), 0};
  }
  if (!single) {
    __syncwarp(group.mask);  // the leader found room before the lanes write; a shuffle orders nothing
  }
  list.write(qp, base + rank * blocks, rank == size - 1);
  if (!single) {
    __syncwarp(group.mask);  // the lanes' WQEs and payloads before the leader's fence
  }
  if (rank == 0) {
    submit(qp, mine, list.first, list.last_blocks(), single && list.count == 1, list.is_staged());
  }
  if (!single) {
    qp.last_end = ~0ull;  // what the leader found out the other lanes cannot know
    __syncwarp(group.mask);  // lanes that stay together post together the next time, too
  }
  return {DOORBELL_OK, base + size * blocks};
}

// Posts `count` requests of the calling thread, request_at(0), request_at(1), ...: one reservation, one
// doorbell and one completion for as many as the ring holds, which is one round in most cases. Each must
// be a WQE of one block; otherwise, or if the queue pair cannot express one of them, nothing is posted and
// the status is DOORBELL_ERROR_ARGUMENT. The ticket stands for all of them. request_at() is called more
// than once for an index. Lanes of a warp may call together, but each rings for itself.
template <class RequestAt>
__device__ __forceinline__ posted post_batch(const queue_pair &qp, uint32_t count,
                                             RequestAt request_at) {
  bool staged = false;
#pragma unroll 1
  for (uint32_t i = 0; i < count; ++i) {
    const work_request request = request_at(i);
    if (!is_expressible(qp, request) || request.blocks() != 1) {
      return {DOORBELL_ERROR_ARGUMENT, 0};
    }
    staged = staged || request.payload == source::system;
  }
  posted result{DOORBELL_OK, 0};
  uint32_t next = 0;
#pragma unroll 1
  while (next < count && result.status == DOORBELL_OK) {
    if (qp.is(kBackEnds)) {
      const work_request request = request_at(next++);
      result = submit_elsewhere(qp.shared, request, request, 1);
      continue;
    }
    const uint32_t round = count - next < qp.sq_blocks ? count - next : qp.sq_blocks;
    reservation mine{0, 0, false};
    result.status = begin_reservation(qp, round, mine);
    if (result.status == DOORBELL_OK) {
#pragma unroll 1
      for (uint32_t i = 0; i < round; ++i) {
        write_wqe(qp, request_at(next + i), mine.base + i, i == round - 1);
      }
      submit(qp, mine, request_at(next), 1, round == 1, staged);
      result.ticket = mine.end;
    }
    next += round;
  }
  return result;
}

// The threads that the caller's block has in the caller's warp; what is done at warp scope needs all
// of them.
struct warp_group {
  uint32_t lane;
  uint32_t lanes;
  uint32_t mask;

  __device__ __forceinline__ static warp_group mine() {
    const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const uint32_t left = blockDim.x * blockDim.y * blockDim.z - (thread & ~31u);
    return {thread & 31u, left < 32 ? left : 32, left < 32 ? (1u << left) - 1 : 0xffffffffu};
  }

  // The sum of a value over the lanes up to the caller's.
  __device__ __forceinline__ uint32_t sum_to_here(uint32_t value) const {
    uint32_t sum = value;
    for (uint32_t step = 1; step < 32; step *= 2) {
      const uint32_t before = __shfl_up_sync(mask, sum, step);
      sum += lane >= step ? before : 0;
    }
    return sum;
  }

  // The largest value of all lanes.
  __device__ __forceinline__ uint64_t maximum(uint64_t value) const {
    for (uint32_t step = 16; step > 0; step /= 2) {
      const uint64_t other = __shfl_down_sync(mask, value, step);
      value = lane + step < lanes && other > value ? other : value;
    }
    return __shfl_sync(mask, value, 0);
  }
};

// Every lane of the warp posts requests of its own. Lane 0 reserves for all, waits and rings; the
// lanes write their WQEs in parallel. Only the last WQE of the warp is signaled. Requests that do not
// fit into the ring at once go in several rounds. All lanes get the same ticket, which stands for the
// requests of all of them; each gets its own status.
template <class List>
__device__ __forceinline__ posted post_warp(const queue_pair &qp, const List &list) {
  const warp_group warp = warp_group::mine();
  if (qp.is(kElsewhere<List>)) {
    const posted mine = post_thread(qp, list);
    return {mine.status, warp.maximum(mine.status == DOORBELL_OK ? mine.ticket : 0)};
  }
  posted result{DOORBELL_ERROR_ARGUMENT, 0};
  bool pending = list.is_expressible(qp);
  const uint32_t blocks = list.blocks();
  while (__any_sync(warp.mask, pending)) {
    // The first lanes whose blocks fit go in this round.
    const uint32_t sum = warp.sum_to_here(pending ? blocks : 0);
    const bool goes = pending && sum <= qp.sq_blocks;
    const uint32_t last = 31 - __clz(__ballot_sync(warp.mask, goes));
    const uint32_t total = __shfl_sync(warp.mask, sum, last);
    const bool staged = __any_sync(warp.mask, goes && list.is_staged()) != 0;
    const uint32_t last_blocks = __shfl_sync(warp.mask, list.last_blocks(), last);
    reservation group{0, 0, false};
    uint32_t status = DOORBELL_OK;
    if (warp.lane == 0) {
      status = begin_reservation(qp, total, group);
    }
    status = __shfl_sync(warp.mask, status, 0);
    const uint64_t base = __shfl_sync(warp.mask, group.base, 0);
    if (status == DOORBELL_OK) {
      __syncwarp(warp.mask);  // lane 0 found room before the lanes write
      if (goes) {
        list.write(qp, base + sum - blocks, warp.lane == last);
      }
      __syncwarp(warp.mask);  // the lanes' WQEs and payloads before lane 0's fence
      if (warp.lane == 0) {
        submit(qp, group, list.first, last_blocks, false, staged);
      }
    }
    result.ticket = base + total;
    if (goes) {
      result.status = status;
      pending = false;
    }
  }
  return result;
}

}  // namespace doorbell

#endif  // DOORBELL_POST_CUH
