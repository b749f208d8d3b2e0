// Posting: how a work request gets into the send ring and the HCA to know of it.
//
//   1. reserve  one atomic add on `reserved`, for all lanes of a warp that post to the queue pair now
//   2. room     wait until the ring has room for the reservation, polling completions meanwhile
//   3. write    the WQEs, in 16-byte stores; posters do this in parallel
//   4. mark     the reservation as written, and go: the holder of the baton rings for it
//   5. ring     the holder: for all that is written without a gap; then it lays the baton down
//
// The baton is the right to ring: it has one holder at a time, who rings with rising indices. So there
// is no lock, no maximum of indices, and neither record nor doorbell ever goes backwards; and nobody
// waits for the baton. It is laid down
//
//   in `reserved`   when everything that is reserved has been rung for: the count there is 0. Whoever
//                   reserves next finds the 0 and has the baton; its blocks are never marked;
//   at a block      that is reserved, but not written yet: by compare-and-swap on the block's mark.
//                   Its poster finds the baton there when it marks the block as written.
//
// Marks. Each block of the ring has a mark, which is used when a reservation starts there:
//
//   2 * end         written; the reservation ends at block `end`
//   2 * block + 1   the baton lies here
//   all ones        nobody will ever write it: the poster found no room
//   anything less   of an earlier lap
//
// Indices do not wrap, so a mark of an earlier lap is less than 2 * block, whatever it said.
//
// Why nobody waits for ever: a poster that holds the baton has room already or waits for completions
// of blocks that are rung for, since a holder rings for what is written before it lays the baton
// down. It may leave that to the next poster, once it has rung for `batch` blocks, when all who have
// reserved have room: then that poster comes by without anybody's doorbell.
//
// Fences, each once per reservation, whatever the number of lanes:
//
//   F1  WQEs and payload before the mark                                  if the baton is not held
//   F2  WQEs and payload of all that is rung for before the record or doorbell; and what others
//       marked before is acquired here: their marks are read relaxed      per doorbell
//   F3  the record before the doorbell                                    per doorbell, if a record
//   F4  doorbell and record before whoever rings next: a release at GPU scope, part of the atomic
//       that lays the baton down                                          per turn of the baton
//   F5  marks that were read, before the baton is laid down: F4 is no fence, and hands on only what
//       was acquired                                                      if ringing is left to others
//
// Only F2 and F3 drain stores to the HCA. With one poster and a record that is two drains a post; with
// many, most posts cost F1 alone.
#ifndef DOORBELL_POST_CUH
#define DOORBELL_POST_CUH

#include "doorbell/completion.cuh"
#include "doorbell/proxy.cuh"
#include "doorbell/wqe.cuh"

namespace doorbell {

// Consecutive blocks of the send ring that belong to one poster, or to the lanes of a warp.
struct reservation {
  uint64_t base;
  uint64_t end;
  bool baton;  // it came with the baton
};

constexpr uint32_t kReservationMask = (1u << DOORBELL_RESERVED_SHIFT) - 1;

__device__ __forceinline__ reservation reserve(const queue_pair &qp, uint32_t blocks) {
  const uint64_t before =
      cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(qp.counters->reserved)
          .fetch_add((static_cast<uint64_t>(blocks) << DOORBELL_RESERVED_SHIFT) +
                         (qp.is(DOORBELL_QP_EXCLUSIVE) ? 0 : 1),
                     cuda::memory_order_relaxed);
  const uint64_t base = before >> DOORBELL_RESERVED_SHIFT;
  return {base, base + blocks, (low(before) & kReservationMask) == 0};
}

// Whether there is room: DOORBELL_OK, kWaiting, or DOORBELL_ERROR_POISONED: in a broken queue pair the
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

// Makes everything below `index` known to the HCA. The caller holds the baton. `system`: the fence
// has to cover stores that leave the GPU.
__device__ __forceinline__ void ring(const queue_pair &qp, uint64_t index, bool system) {
  if (qp.is(DOORBELL_QP_CPU_RUNG)) {
    fence(true);  // F2: the CPU reads the request, then writes the record and rings
    store_relaxed_system(reinterpret_cast<uint64_t *>(qp.shared->ring_request), index);
  } else {
    fence(system);  // F2
    if (qp.is(DOORBELL_QP_RECORD_LAST)) {
      store_doorbell(qp, index);
    }
    if (!qp.is(DOORBELL_QP_NO_RECORD)) {
      store_record(qp, index);
      fence(system);  // F3: an HCA that lost a doorbell believes the record when the next one comes
    }
    store_doorbell(qp, index);
  }
  store_relaxed_device(&qp.counters->rung, index);
}

// Rings by storing the WQE itself. An HCA that got it torn, or lost it to the next one, reads the WQE
// in the ring instead, which therefore has to be there first. An exclusive poster of inline payloads
// does without that fence: it relies on an HCA that takes whole blocks, each before the next.
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

// Takes `reservations` off the count of those that wait for the holder. True when none is left: then
// the baton is laid down. F4.
__device__ __forceinline__ bool settle(const queue_pair &qp, uint32_t reservations) {
  const uint64_t before =
      cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(qp.counters->reserved)
          .fetch_sub(reservations, cuda::memory_order_release);
  return (low(before) & kReservationMask) == reservations;
}

// Whether the holder may leave ringing to the poster at `index`: somebody is, and all have room.
__device__ __forceinline__ bool may_leave_ringing(const queue_pair &qp, uint64_t index) {
  const uint64_t reserved = reserved_index(load_relaxed_device(&qp.counters->reserved));
  return reserved != index &&
         reserved - load_relaxed_device(&qp.counters->completed) <= qp.sq_blocks;
}

// Moves `written` past what is written without a gap and counts its reservations; returns the mark of
// the block where it stopped. One reservation's mark says where the next one is, a trip to the
// second-level cache each; so marks are looked at some at a time, where they are if the reservations
// have the size of the last one.
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

// What the holder of the baton does for others: rings for what they have written, and lays the baton
// down. The blocks below `rung` have been rung for, those from there to `written` are to be;
// `unsettled` reservations have been dealt with and not yet been taken off the count.
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
      continue;  // it took a while: look what has been written since
    }
    if (mark == kNeverWritten) {
      return;  // with the baton: nobody rings any more
    }
    if (written != rung) {
      fence(false);  // F5: acquires what was marked and is left for the next poster to ring for
    }
    if (unsettled != 0) {
      if (settle(qp, unsettled)) {
        return;
      }
      unsettled = 0;
    }
    // F4 again: the release stands for the ringing that was done since settling, if any.
    if (cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(*mark_of(qp, written))
            .compare_exchange_strong(mark, baton_mark(written), cuda::memory_order_release,
                                     cuda::memory_order_relaxed)) {
      return;
    }
  }
}

}  // namespace detail

// Steps 4 and 5 for a reservation whose WQEs are written. `alone`: the request is all of it.
// `staged`: its payload is made of stores that leave the GPU.
__device__ __forceinline__ void submit(const queue_pair &qp, const reservation &mine,
                                       const work_request &request, bool alone, bool staged) {
  const bool system = qp.is(DOORBELL_QP_SCOPE_SYSTEM) || staged;
  if (!mine.baton) {
    // F1. WQEs are drained by F2 of whoever rings, who knows of the queue pair's own scope alone.
    fence(staged);
    const uint64_t found = exchange_relaxed_device(detail::mark_of(qp, mine.base),
                                                   detail::written_mark(mine.end));
    if (found == detail::baton_mark(mine.base)) {
      detail::serve(qp.shared, mine.base, mine.end, 1, system);
    }
    return;
  }
  // Whoever reserves the baton finds everything before its own blocks rung for, and nobody behind
  // but those who came just now.
  if (alone && qp.is(DOORBELL_QP_BLUEFLAME) &&
      request.blocks() * kBlockBytes <= qp.blueflame_bytes) {
    ring_blueflame(qp, request, mine, system);
  } else {
    ring(qp, mine.end, system);
  }
  if (!qp.is(DOORBELL_QP_EXCLUSIVE) && !detail::settle(qp, 1)) {
    detail::serve(qp.shared, mine.end, mine.end, 0, system);
  }
}

// Gives up a reservation for which there was no room, and with it the queue pair: those who reserve
// from now on learn it at once, those behind us who have reserved already when they wait.
inline __device__ __noinline__ void abandon(const doorbell_qp *shared, uint64_t base, bool baton) {
  const queue_pair qp(shared);
  if (qp.is(DOORBELL_QP_EXCLUSIVE)) {
    store_relaxed_device(&qp.counters->reserved, base << DOORBELL_RESERVED_SHIFT);
    return;
  }
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(qp.counters->reserved)
      .fetch_or(DOORBELL_RESERVED_BROKEN, cuda::memory_order_relaxed);
  if (!baton &&
      exchange_relaxed_device(detail::mark_of(qp, base), detail::kNeverWritten) ==
          detail::baton_mark(base) &&
      load_relaxed_device(&qp.counters->rung) != base) {
    ring(qp, base, qp.is(DOORBELL_QP_SCOPE_SYSTEM));  // it was left to us
  }
}

// Whether a work request can be expressed at all on this queue pair.
__device__ __forceinline__ bool is_expressible(const queue_pair &qp, const work_request &request) {
  return request.bytes <= (request.is_inline() ? qp.max_inline : kMaxMessageBytes);
}

// One or two requests that are posted together; only the last one is signaled.
struct request_list {
  work_request first;
  work_request second;
  uint32_t count;

  __device__ __forceinline__ uint32_t blocks() const {
    return first.blocks() + (count == 2 ? second.blocks() : 0);
  }

  // Whether the payload is made of stores that leave the GPU.
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

// Reserves and waits for room; what fails is given up.
__device__ __forceinline__ uint32_t begin_reservation(const queue_pair &qp, uint32_t blocks,
                                                      reservation &mine) {
  mine = reserve(qp, blocks);
  uint32_t room = room_now(qp, mine);
  if (room == kWaiting) {
    room = wait_completed(qp.shared, mine.end - qp.sq_blocks);
  }
  if (room != DOORBELL_OK) {
    abandon(qp.shared, mine.base, mine.baton);
  }
  return room;
}

// The first half of a post: checks the requests, reserves, and waits for room. With
// DOORBELL_QP_PROXY there is nothing to reserve.
__device__ __forceinline__ uint32_t begin_post(const queue_pair &qp, const request_list &list,
                                               reservation &mine) {
  if (!list.is_expressible(qp)) {
    return DOORBELL_ERROR_ARGUMENT;
  }
  return qp.is(DOORBELL_QP_PROXY) ? DOORBELL_OK : begin_reservation(qp, list.blocks(), mine);
}

// The second half: writes the WQEs and submits them. The payload is written by then.
__device__ __forceinline__ posted finish_post(const queue_pair &qp, const request_list &list,
                                              const reservation &mine) {
  if (qp.is(DOORBELL_QP_PROXY)) {
    return submit_to_cpu(qp.shared, list.first, list.second, list.count);
  }
  list.write(qp, mine.base, true);
  submit(qp, mine, list.first, list.count == 1, list.is_staged());
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

// The lanes that are here with us to post as many blocks of the same kind to the same queue pair.
// Which lanes are here together is the hardware's choice, and any choice will do.
__device__ __forceinline__ lane_group lanes_with(const queue_pair &qp, uint32_t blocks,
                                                 bool staged) {
  uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const uint32_t own = 1u << lane;
  const uint32_t here = __activemask();
  uint32_t mask = own;
  if (here != own) {
    // Descriptors are 128 bytes apart, a list has at most 32 blocks.
    const uint64_t key = reinterpret_cast<uint64_t>(qp.shared) + blocks + (staged ? 64 : 0);
    mask = __match_any_sync(here, key);
    mask = __popc(mask) * blocks <= qp.sq_blocks ? mask : own;
  }
  return {here, mask, lane};
}

// Waits a little for room of a reservation whose warp posts to other queue pairs, too.
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

// Posts for lanes that are here for different queue pairs, all at the same time. None waits for room
// while another one has it: a lane that held a reservation while its neighbour waits would hold up the
// other warps of its queue pair, and they in turn those that the neighbour waits for.
inline __device__ __noinline__ posted post_apart(const doorbell_qp *shared, request_list list,
                                                 lane_group group) {
  constexpr uint64_t kNoRoom = 1ull << 63;
  const queue_pair qp(shared);
  const uint32_t blocks = list.blocks();
  const uint32_t size = group.size();
  const uint32_t rank = group.rank();
  reservation mine{0, 0, false};
  uint32_t status = DOORBELL_OK;
  if (rank == 0) {
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
        __syncwarp(group.mask);  // the leader found room before the lanes write
        list.write(qp, said + rank * blocks, rank == size - 1);
        __syncwarp(group.mask);  // the lanes' WQEs and payloads before the leader's fence
        if (rank == 0) {
          submit(qp, mine, list.first, size == 1 && list.count == 1, list.is_staged());
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
      status = await_room(shared, mine.base, mine.end - qp.sq_blocks, mine.baton, due,
                          due && limit.passed());
    }
  }
}

// Posts the requests of one thread, together with those of other lanes that happen to be here: one
// reservation, one doorbell, one completion. The ticket stands for the requests of all of them.
__device__ __forceinline__ posted post_thread(const queue_pair &qp, const request_list &list) {
  if (qp.is(DOORBELL_QP_PROXY | DOORBELL_QP_EXCLUSIVE)) {
    reservation mine{0, 0, false};
    const uint32_t status = begin_post(qp, list, mine);
    return status == DOORBELL_OK ? finish_post(qp, list, mine) : posted{status, 0};
  }
  if (!list.is_expressible(qp)) {
    return {DOORBELL_ERROR_ARGUMENT, 0};
  }
  const uint32_t blocks = list.blocks();
  const lane_group group = lanes_with(qp, blocks, list.is_staged());
  if (group.mask != group.here) {
    return post_apart(qp.shared, list, group);
  }
  const uint32_t size = group.size();
  const uint32_t rank = group.rank();
  const uint32_t leader = group.leader();
  reservation mine{~0ull, 0, false};
  uint32_t status = DOORBELL_OK;
  if (rank == 0) {
    status = begin_reservation(qp, size * blocks, mine);
    mine.base = status == DOORBELL_OK ? mine.base : ~0ull;
  }
  const uint64_t base = __shfl_sync(group.mask, mine.base, leader);
  if (base == ~0ull) {
    return {__shfl_sync(group.mask, status, leader), 0};
  }
  __syncwarp(group.mask);  // the leader found room before the lanes write; a shuffle orders nothing
  list.write(qp, base + rank * blocks, rank == size - 1);
  __syncwarp(group.mask);  // the lanes' WQEs and payloads before the leader's fence
  if (rank == 0) {
    submit(qp, mine, list.first, size == 1 && list.count == 1, list.is_staged());
  }
  __syncwarp(group.mask);  // lanes that stay together post together the next time, too
  return {DOORBELL_OK, base + size * blocks};
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
__device__ __forceinline__ posted post_warp(const queue_pair &qp, const request_list &list) {
  const warp_group warp = warp_group::mine();
  if (qp.is(DOORBELL_QP_PROXY)) {
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
        submit(qp, group, list.first, false, staged);
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
