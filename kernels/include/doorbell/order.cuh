// Signals: words at a peer that say that what was posted before them has arrived. Right on every adapter.
//
//   doorbell::put(qp, message, local, bytes);
//   doorbell::signal(qp, {word, value, step, fetched});
//
//   doorbell::put_and_signal(qp, message, local, bytes, {word, value, step, fetched});   one doorbell
//   doorbell::wait_for_word(qp, word, value, true);                                      the receiver
//   doorbell::quiet(qp, word, fetched);      done, and seen by whoever learns of it on another path
//
// An HCA that places writes in order needs no more than a WRITE of the word behind the data. Others do, and
// the host says in the flags of the queue pair what their promises ask for (dev.doorbell.core.queue
// .SignalOrder, docs/adapters.md):
//
//   flag            what a signal is                                  requests  round trips before it
//   none            a WRITE of the word, inline                           1       0
//   ORDER_ATOMIC    a fetch-and-add of `step`                             1       0, or 1 where atomics wait
//   ORDER_FLUSH     a READ of the word, and a WRITE that waits for it     2       1
//   ORDER_FENCE     a WRITE with the strong-ordering fence bit            1       1
//   ORDER_WAIT      a WRITE, posted when all before it is complete        1       1, and the thread polls
//   ORDER_PACK      the last word of a message that fits into a packet    0       0
//
// Memory registered for strict ordering needs no flag: its key orders the WRITE. price_of_signal() says the
// third and fourth column to a kernel.
//
// Any other WRITE can be a signal too, as the last request of a signal_list: ORDER_FENCE and
// ORDER_WAIT know it as one.
//
// The word has one writer, which raises it from value - step to value; step 0 says that the writer does not
// know, and rules out ORDER_ATOMIC. `fetched` is 8 bytes of the caller's own memory, which an atomic's old
// value or a READ lands in; address 0 says that there are none, and rules out ORDER_ATOMIC and
// ORDER_FLUSH. A signal that no flag of the queue pair can be is DOORBELL_ERROR_ARGUMENT.
//
// Nothing here costs a queue pair without such flags anything: the test that finds a queue pair whose
// commands the CPU posts finds these, too, and the rest is out of line.
#ifndef DOORBELL_ORDER_CUH
#define DOORBELL_ORDER_CUH

#include "doorbell/operations.cuh"

namespace doorbell {

// What a signal does: see above.
struct notice {
  location word;     // at the peer
  uint64_t value;    // what it becomes
  uint64_t step;     // less what it was, or 0
  location fetched;  // own memory, or address 0
};

// What a signal costs beyond the message: work requests, and round trips until it leaves.
struct order_price {
  uint32_t requests;
  uint32_t round_trips;
  bool polls;  // the posting thread waits meanwhile
};

// A message that carries its signal has at most as many bytes as a packet of the smallest path MTU.
constexpr uint64_t kPackedBytes = 256;

// An atomic and a READ need `fetched`, and an atomic `step`, which travel in fields that an inline WRITE of
// 8 bytes has no use for.
__device__ __forceinline__ work_request signal_request(const notice &news) {
  work_request request = transfer_request(kOpcodeWrite, source::in_operand, news.word,
                                          news.fetched, sizeof(uint64_t));
  request.operand = news.value;
  request.compare = news.step;
  return request;
}

__device__ __forceinline__ order_price price_of_signal(const queue_pair &qp, const notice &news) {
  const bool place = news.fetched.address != 0;
  return qp.is(DOORBELL_QP_PROXY)                                          ? order_price{1, 1, true}
         : qp.is(DOORBELL_QP_ORDER_ATOMIC) && place && news.step != 0      ? order_price{1, 0, false}
         : qp.is(DOORBELL_QP_ORDER_FLUSH) && place                         ? order_price{2, 1, false}
         : qp.is(DOORBELL_QP_ORDER_FENCE)                                  ? order_price{1, 1, false}
         : qp.is(DOORBELL_QP_ORDER_WAIT)                                   ? order_price{1, 1, true}
                                                                           : order_price{1, 0, false};
}

namespace detail {

constexpr uint32_t kStrongOrdering = 0x60;  // fm_ce_se: MLX5_WQE_CTRL_STRONG_ORDERING

// What a queue_pair has learned from its posts and waits, which has to outlive a call.
struct learned {
  posted result;
  uint64_t last_start;
  uint64_t last_end;
  uint64_t next_entry;
  uint64_t completed;
};

// Writes a request that leaves when those before it are acknowledged. Nobody has rung for
// the block yet, so the control unit may be stored again.
__device__ __forceinline__ void write_fenced(const queue_pair &qp, const work_request &request,
                                             uint64_t index) {
  write_wqe(qp, request, index, true);
  unit control = request.encode(0, index, qp.qpn, true);
  control.z |= kStrongOrdering << 24;
  store_unit_strong(qp.sq_ring + (index & (qp.sq_blocks - 1)) * kBlockBytes, control);
}

// Posts `data`, where there is some, what stands between, and the signal: one reservation, one doorbell.
__device__ __forceinline__ posted post_behind(const queue_pair &qp, const work_request &data,
                                              bool has_data, const work_request &signal,
                                              bool reads, bool fenced) {
  work_request read{};
  read.opcode = kOpcodeRead;
  read.payload = source::device;
  read.bytes = sizeof(uint64_t);
  read.remote = signal.remote;
  read.remote_key = signal.remote_key;
  read.local = signal.local;
  read.local_key = signal.local_key;
  const uint32_t data_blocks = has_data ? data.blocks() : 0;
  const uint32_t blocks = data_blocks + (reads ? 1 : 0) + signal.blocks();
  reservation mine{0, 0, false};
  const uint32_t status =
      blocks <= qp.sq_blocks ? begin_reservation(qp, blocks, mine) : uint32_t{DOORBELL_ERROR_ARGUMENT};
  if (status != DOORBELL_OK) {
    return {status, 0};
  }
  if (has_data) {
    write_wqe(qp, data, mine.base, false);
  }
  if (reads) {
    write_wqe(qp, read, mine.base + data_blocks, false);
  }
  if (fenced) {
    write_fenced(qp, signal, mine.end - signal.blocks());
  } else {
    write_wqe(qp, signal, mine.end - signal.blocks(), true);
  }
  // Not alone: a WQE that goes through the BlueFlame register would go without its fence bit.
  submit(qp, mine, signal, signal.blocks(), false,
         (has_data ? data.payload : signal.payload) == source::system);
  return {DOORBELL_OK, mine.end};
}

// Posts a list whose last request is a signal, as what it has to be on this queue pair; or data alone.
__device__ __forceinline__ posted post_as_ordered(const queue_pair &qp, const signal_list &list) {
  const bool has_data = list.count == 2;
  work_request last = has_data ? list.second : list.first;
  const bool place = last.payload == source::in_operand && last.local != 0;
  bool reads = false;
  bool fenced = false;
  bool apart = false;
  if (list.signals == 0) {
    // Nothing comes behind anything.
  } else if (qp.is(DOORBELL_QP_ORDER_ATOMIC) && place && last.compare != 0) {
    last.opcode = kOpcodeFetchAdd;
    last.payload = source::device;
    last.operand = last.compare;
  } else if (qp.is(DOORBELL_QP_ORDER_FLUSH) && place) {
    reads = true;
    fenced = true;
  } else if (qp.is(DOORBELL_QP_ORDER_FENCE)) {
    fenced = true;
  } else if (qp.is(DOORBELL_QP_ORDER_WAIT)) {
    apart = true;
  } else {
    return {DOORBELL_ERROR_ARGUMENT, 0};
  }
  // Apart: the data, a wait, the signal.
#pragma unroll 1
  for (bool data_first = apart && has_data;; data_first = false) {
    if (apart && !data_first) {
      const uint32_t status = wait_completed(qp, kEverything);
      if (status != DOORBELL_OK) {
        return {status, 0};
      }
    }
    const posted sent = post_behind(qp, list.first, has_data && !apart,
                                    data_first ? list.first : last, reads, fenced);
    if (sent.status != DOORBELL_OK || !data_first) {
      return sent;
    }
  }
}

// What goes elsewhere carries no fence bit: all before a signal is awaited.
__device__ __forceinline__ posted post_by_back_end(const doorbell_qp *qp,
                                                   const signal_list &list) {
  const bool orders = list.signals != 0 && (qp->flags & kOrderFlags) != 0;
  posted sent{DOORBELL_OK, 0};
#pragma unroll 1
  for (uint32_t i = 0; i < list.count && sent.status == DOORBELL_OK; ++i) {
    const work_request request = i == 0 ? list.first : list.second;
    if (orders && i == list.count - 1) {
      sent.status = quiet_elsewhere(qp);
    }
    if (sent.status == DOORBELL_OK) {
      sent = submit_elsewhere(qp, request, request, 1);
    }
  }
  return sent;
}

inline __device__ __noinline__ learned post_ordered(const doorbell_qp *shared, learned before,
                                                    signal_list list) {
  if ((shared->flags & kBackEnds) != 0) {
    before.result = post_by_back_end(shared, list);
    return before;
  }
  const queue_pair qp(shared);
  qp.last_start = before.last_start;
  qp.last_end = before.last_end;
  qp.next_entry = before.next_entry;
  qp.completed = before.completed;
  const posted result = post_as_ordered(qp, list);
  return {result, qp.last_start, qp.last_end, qp.next_entry, qp.completed};
}

}  // namespace detail

__device__ __forceinline__ posted post_elsewhere(const queue_pair &qp, const signal_list &list) {
  const detail::learned after = detail::post_ordered(
      qp.shared, {{DOORBELL_OK, 0}, qp.last_start, qp.last_end, qp.next_entry, qp.completed}, list);
  qp.last_start = after.last_start;
  qp.last_end = after.last_end;
  qp.next_entry = after.next_entry;
  qp.completed = after.completed;
  return after.result;
}

// Sets a word at the peer behind everything that the caller posted to this queue pair before.
template <by kScope = by::thread>
__device__ __forceinline__ posted signal(const queue_pair &qp, const notice &news) {
  return post<kScope>(qp, signal_list{{signal_request(news), {}, 1}, 1});
}

// A put, and a signal behind it: one reservation and one doorbell where the adapter allows it.
template <by kScope = by::thread>
__device__ __forceinline__ posted put_and_signal(const queue_pair &qp, location remote,
                                                 location local, uint64_t bytes, const notice &news,
                                                 source payload = source::device) {
  return post<kScope>(
      qp, signal_list{{transfer_request(kOpcodeWrite, payload, remote, local, bytes),
                       signal_request(news), 2},
                      1});
}

// Whether a message carries its signal itself, in its last word, as far as the queue pair's flags say: its
// bytes arrive in ascending order within one packet, on every adapter.
__device__ __forceinline__ bool packs(const queue_pair &qp, uint64_t bytes) {
  return qp.is(DOORBELL_QP_ORDER_PACK) && bytes <= kPackedBytes;
}

// As quiet(), and what is done is seen by whoever learns of it on another path: the CPU, or a word that
// another queue pair writes. `word` is any 8 bytes at the peer that may be read, `fetched` 8 of the
// caller's own.
__device__ __forceinline__ uint32_t quiet(const queue_pair &qp, location word, location fetched) {
  if (qp.is(DOORBELL_QP_QUIET_READ)) {
    const posted read = get(qp, word, fetched, sizeof(uint64_t));
    if (read.status != DOORBELL_OK) {
      return read.status;
    }
  }
  return quiet(qp);
}

}  // namespace doorbell

#endif  // DOORBELL_ORDER_CUH
