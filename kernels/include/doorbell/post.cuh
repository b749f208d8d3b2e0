// Posting: how a work request gets into the send ring and the HCA to know of it.
//
//   1. reserve    one atomic add on `reserved`: the only atomic of a post
//   2. room       wait until the ring has room for the reservation, polling completions meanwhile
//   3. write      the WQE, in 16-byte stores; posters do this in parallel
//   4. baton      wait until `ready` is the reservation's first block: everything before is written
//   5. ring       if nobody stands behind, or enough waits: fence, record, fence, doorbell
//   6. hand on    `ready` = end of the reservation, released
//
// `ready` is a baton: it passes through all posters in the order of their reservations, and only its
// holder rings. So there is no lock, no maximum of indices, and neither the record nor the doorbell
// ever goes backwards. The holder leaves ringing to the next one when there is one: whoever has
// reserved is certain to come, since a poster that fails still takes the baton, rings what is due and
// hands it on. It does not leave it when the ring may be too full for those behind, for they would
// wait for room that only this doorbell can make.
//
// What a drain costs is counted: two a post with a doorbell (WQE and payload; record), one with
// BlueFlame (WQE and payload), none with an inline payload through BlueFlame by an exclusive poster.
#ifndef DOORBELL_POST_CUH
#define DOORBELL_POST_CUH

#include "doorbell/completion.cuh"
#include "doorbell/proxy.cuh"
#include "doorbell/wqe.cuh"

namespace doorbell {

// Consecutive blocks of the send ring that belong to one poster.
struct reservation {
  uint64_t base;
  uint64_t end;
  uint64_t completed;  // the counter as last seen
};

__device__ __forceinline__ reservation reserve(const queue_pair &qp, uint32_t blocks) {
  const uint64_t base = cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(qp.counters->reserved)
                            .fetch_add(blocks, cuda::memory_order_relaxed);
  return {base, base + blocks, load_acquire_device(&qp.counters->completed)};
}

__device__ __forceinline__ uint32_t wait_for_room(const queue_pair &qp, reservation &mine) {
  if (mine.end - mine.completed <= qp.sq_blocks) {
    return DOORBELL_OK;
  }
  const uint32_t status = wait_completed(qp.shared, mine.end - qp.sq_blocks);
  mine.completed = load_acquire_device(&qp.counters->completed);
  return status;
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
    // The CPU reads this, then writes the record and rings: the release covers WQEs and payload.
    store_release_system(reinterpret_cast<uint64_t *>(qp.shared->ring_request), index);
  } else if (qp.is(DOORBELL_QP_RECORD_LAST)) {
    fence(system);  // WQEs and payload before the doorbell
    store_doorbell(qp, index);
    store_record(qp, index);
    fence(system);  // the record before the doorbell that a recovering HCA believes
    store_doorbell(qp, index);
  } else {
    fence(system);  // WQEs and payload before the record
    store_record(qp, index);
    fence(system);  // the record before the doorbell
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
    fence(system);  // the payload before the WQE that names it; the WQE in the ring before the record
  }
  store_record(qp, mine.end);
  const uint64_t count = load_relaxed_device(&qp.counters->blueflame);
  write_blueflame(qp.doorbell + (count & 1) * qp.blueflame_bytes, qp.qpn, request, mine.base);
  store_relaxed_device(&qp.counters->blueflame, count + 1);
  store_relaxed_device(&qp.counters->rung, mine.end);
}

// Waits until everything before `base` is written. Acquires it.
inline __device__ __noinline__ uint32_t wait_for_baton(const doorbell_qp *qp, uint64_t base) {
  deadline limit(qp->deadline_ns);
  for (;;) {
    const uint64_t ready = load_acquire_device(&counters_of(qp)->ready);
    if ((ready & ~DOORBELL_READY_BROKEN) == base) {
      return DOORBELL_OK;
    }
    if (limit.due() && limit.passed()) {
      return fail(qp, DOORBELL_ERROR_DEADLINE, 0, base);
    }
  }
}

// The baton: whether it came, and whether a poster before us broke the chain.
struct baton {
  uint32_t status;
  bool broken;
};

__device__ __forceinline__ baton take_baton(const queue_pair &qp, const reservation &mine) {
  if (qp.is(DOORBELL_QP_EXCLUSIVE)) {
    return {DOORBELL_OK, false};
  }
  uint64_t ready = load_acquire_device(&qp.counters->ready);
  if (ready == mine.base) {
    return {DOORBELL_OK, false};
  }
  const uint32_t status = wait_for_baton(qp.shared, mine.base);
  ready = load_relaxed_device(&qp.counters->ready);
  return {status, (ready & DOORBELL_READY_BROKEN) != 0};
}

__device__ __forceinline__ void hand_on(const queue_pair &qp, const reservation &mine,
                                        bool broken) {
  if (qp.is(DOORBELL_QP_EXCLUSIVE)) {
    store_relaxed_device(&qp.counters->ready, mine.end);
  } else {
    store_release_device(&qp.counters->ready, mine.end | (broken ? DOORBELL_READY_BROKEN : 0));
  }
}

// Whether the holder may leave ringing to the next poster.
__device__ __forceinline__ bool may_leave_ringing(const queue_pair &qp, const reservation &mine,
                                                  uint64_t rung) {
  if (qp.is(DOORBELL_QP_EXCLUSIVE) || mine.end - rung >= qp.batch) {
    return false;
  }
  const uint64_t reserved = load_relaxed_device(&qp.counters->reserved);
  return reserved != mine.end && reserved - mine.completed <= qp.sq_blocks;
}

// Steps 4 to 6 for a reservation whose WQEs are written. `alone`: the request is all of it.
__device__ __forceinline__ uint32_t submit(const queue_pair &qp, const reservation &mine,
                                           const work_request &request, bool alone, bool system) {
  const baton held = take_baton(qp, mine);
  if (held.status != DOORBELL_OK) {
    return held.status;
  }
  if (held.broken) {
    hand_on(qp, mine, true);
    return DOORBELL_ERROR_POISONED;
  }
  const uint64_t rung = load_relaxed_device(&qp.counters->rung);
  if (!may_leave_ringing(qp, mine, rung)) {
    if (alone && qp.is(DOORBELL_QP_BLUEFLAME) && rung == mine.base &&
        request.blocks() * kBlockBytes <= qp.blueflame_bytes) {
      ring_blueflame(qp, request, mine, system);
    } else {
      ring(qp, mine.end, system);
    }
  }
  hand_on(qp, mine, false);
  return DOORBELL_OK;
}

// Gives up a reservation for which there was no room. Those before us may have left ringing to us;
// those behind us learn that the chain ends here.
inline __device__ __noinline__ void abandon(const doorbell_qp *shared, uint64_t base, uint64_t end,
                                            bool system) {
  const queue_pair qp(shared);
  const reservation mine{base, end, 0};
  if (qp.is(DOORBELL_QP_EXCLUSIVE)) {
    store_relaxed_device(&qp.counters->reserved, base);
    return;
  }
  const baton held = take_baton(qp, mine);
  if (held.status != DOORBELL_OK) {
    return;
  }
  if (!held.broken && load_relaxed_device(&qp.counters->rung) != base) {
    ring(qp, base, system);
  }
  hand_on(qp, mine, true);
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

  // Whether the fence before the doorbell has to cover stores that leave the GPU.
  __device__ __forceinline__ bool needs_system(const queue_pair &qp) const {
    return qp.is(DOORBELL_QP_SCOPE_SYSTEM) || first.payload == source::system;
  }

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

// The first half of a post: checks the requests, reserves, and waits for room. With
// DOORBELL_QP_PROXY there is nothing to reserve.
__device__ __forceinline__ uint32_t begin_post(const queue_pair &qp, const request_list &list,
                                               reservation &mine) {
  if (!list.is_expressible(qp)) {
    return DOORBELL_ERROR_ARGUMENT;
  }
  if (qp.is(DOORBELL_QP_PROXY)) {
    return DOORBELL_OK;
  }
  mine = reserve(qp, list.blocks());
  const uint32_t room = wait_for_room(qp, mine);
  if (room != DOORBELL_OK) {
    abandon(qp.shared, mine.base, mine.end, list.needs_system(qp));
  }
  return room;
}

// The second half: writes the WQEs and submits them. The payload is written by then.
__device__ __forceinline__ posted finish_post(const queue_pair &qp, const request_list &list,
                                              const reservation &mine) {
  if (qp.is(DOORBELL_QP_PROXY)) {
    return submit_to_cpu(qp.shared, list.first, list.second, list.count);
  }
  list.write(qp, mine.base, true);
  return {submit(qp, mine, list.first, list.count == 1, list.needs_system(qp)), mine.end};
}

// Posts the requests of one thread.
__device__ __forceinline__ posted post_thread(const queue_pair &qp, const request_list &list) {
  reservation mine{0, 0, 0};
  const uint32_t status = begin_post(qp, list, mine);
  return status == DOORBELL_OK ? finish_post(qp, list, mine) : posted{status, 0};
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
    const bool system = __any_sync(warp.mask, goes && list.needs_system(qp)) != 0;
    reservation group{0, 0, 0};
    uint32_t status = DOORBELL_OK;
    if (warp.lane == 0) {
      group = reserve(qp, total);
      status = wait_for_room(qp, group);
      if (status != DOORBELL_OK) {
        abandon(qp.shared, group.base, group.end, system);
      }
    }
    status = __shfl_sync(warp.mask, status, 0);
    const uint64_t base = __shfl_sync(warp.mask, group.base, 0);
    if (status == DOORBELL_OK) {
      if (goes) {
        list.write(qp, base + sum - blocks, warp.lane == last);
      }
      __syncwarp(warp.mask);  // the lanes' WQEs and payloads before lane 0's fence
      if (warp.lane == 0) {
        status = submit(qp, group, list.first, false, system);
      }
      status = __shfl_sync(warp.mask, status, 0);
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
