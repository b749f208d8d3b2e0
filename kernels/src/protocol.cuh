// What the protocols share: results, and how a job's messages leave.
#ifndef DOORBELL_PROTOCOL_CUH
#define DOORBELL_PROTOCOL_CUH

#include "doorbell/doorbell.cuh"

namespace doorbell {
namespace protocol {

__device__ __forceinline__ void report(const doorbell_job &job, uint32_t status) {
  reinterpret_cast<uint32_t *>(job.status)[thread_index()] = status;
}

// The caller's warp among those of the grid.
__device__ __forceinline__ uint64_t warp_index() {
  const uint64_t block =
      blockIdx.x + gridDim.x * (blockIdx.y + static_cast<uint64_t>(gridDim.y) * blockIdx.z);
  const uint32_t threads = blockDim.x * blockDim.y * blockDim.z;
  const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return block * ((threads + 31) / 32) + thread / 32;
}

// job.stamps: the earliest start and the latest end of all threads. The host zeroes both. Lanes that
// come to the start together leave it together: parted by the exchange, they would go on apart.
__device__ __forceinline__ void stamp_start(const doorbell_job &job, uint64_t time) {
  if (job.stamps == 0) {
    return;
  }
  cuda::atomic_ref<uint64_t, cuda::thread_scope_device> start(
      *reinterpret_cast<uint64_t *>(job.stamps));
  const uint32_t together = __activemask();
  uint64_t seen = 0;
  // Each failed exchange means that another thread brought the stamp closer.
  while ((seen == 0 || time < seen) &&
         !start.compare_exchange_strong(seen, time, cuda::memory_order_relaxed)) {
  }
  __syncwarp(together);
}

__device__ __forceinline__ void stamp_end(const doorbell_job &job, uint64_t time) {
  if (job.stamps != 0) {
    raise_release_device(reinterpret_cast<uint64_t *>(job.stamps) + 1, time);
  }
}

// What an operation is, chosen at run time: the fields of doorbell_operation that do not name a queue.
__device__ __forceinline__ request_list request_of(uint32_t opcode, location remote, location local,
                                                   uint64_t bytes, uint64_t operand,
                                                   uint64_t compare, uint64_t signal,
                                                   uint64_t fetched) {
  switch (opcode) {
    case DOORBELL_OP_PUT:
      return {transfer_request(kOpcodeWrite, source::device, remote, local, bytes), {}, 1};
    case DOORBELL_OP_PUT_IMM: {
      request_list list{
          transfer_request(kOpcodeWriteImm, source::device, remote, local, bytes), {}, 1};
      list.first.immediate = low(operand);
      return list;
    }
    case DOORBELL_OP_GET:
      return {transfer_request(kOpcodeRead, source::device, remote, local, bytes), {}, 1};
    case DOORBELL_OP_PUT_INLINE:
      return {transfer_request(kOpcodeWrite, source::in_wqe, remote, local, bytes), {}, 1};
    case DOORBELL_OP_FETCH_ADD:
      return {atomic_request(kOpcodeFetchAdd, remote, local, operand, 0), {}, 1};
    case DOORBELL_OP_COMPARE_SWAP:
      return {atomic_request(kOpcodeCompareSwap, remote, local, operand, compare), {}, 1};
    case DOORBELL_OP_PUT_SIGNAL:
      return {transfer_request(kOpcodeWrite, source::device, remote, local, bytes),
              atomic_request(kOpcodeFetchAdd, {signal, remote.key}, {fetched, local.key}, operand,
                             0),
              2};
    default:  // refused by the post
      return {transfer_request(kOpcodeWrite, source::device, remote, local, ~0ull), {}, 1};
  }
}

// The operation that the job wants at `offset` from local and remote. A put signal adds to the 8-byte
// word behind the message, at bytes rounded up to 8; the old value lands behind local likewise.
__device__ __forceinline__ request_list request_of(const doorbell_job &job, uint32_t opcode,
                                                   uint64_t offset) {
  const uint64_t behind = offset + ((job.bytes + 7) & ~7ull);
  return request_of(opcode, {job.remote + offset, job.remote_key},
                    {job.local + offset, job.local_key}, job.bytes, job.operand, job.compare,
                    job.remote + behind, job.local + behind);
}

// Keeps at most job.window operations of a poster in flight, in two halves: when one is posted, the
// other must be done. Without a window the room in the ring is the limit.
class window {
 public:
  __device__ __forceinline__ explicit window(const doorbell_job &job)
      : half_(job.window > 1 ? job.window / 2 : job.window), left_(half_), two_(job.window > 1) {}

  // To be called after each post.
  template <by kScope>
  __device__ __forceinline__ uint32_t admit(const queue_pair &qp, const posted &sent) {
    if (sent.status != DOORBELL_OK || half_ == 0 || --left_ != 0) {
      return sent.status;
    }
    const uint64_t other = two_ ? previous_ : sent.ticket;
    previous_ = sent.ticket;
    left_ = half_;
    return wait<kScope>(qp, other);
  }

 private:
  uint32_t half_;
  uint32_t left_;
  bool two_;
  uint64_t previous_ = 0;
};

// Posts a message in a piece a lane, all under one reservation with one doorbell. Pieces are multiples
// of 8 bytes and lie in the order of the lanes, so that the message's last word is the last to arrive.
// As post<by::warp>, for what is known here: all lanes post as many bytes, and the ring holds them. With
// a proxy the order of the pieces would be chance: refused. The block is one warp, or less; all its
// threads must call, and get the same result.
__device__ __forceinline__ posted send_by_lanes(const queue_pair &qp,
                                                const work_request &message) {
  const warp_group warp = warp_group::mine();
  const uint32_t piece = (message.bytes / 8 + warp.lanes - 1) / warp.lanes * 8;
  const uint32_t at = warp.lane * piece;
  const uint32_t left = at < message.bytes ? message.bytes - at : 0;
  work_request mine = message;
  mine.remote += at;
  mine.local += at;
  mine.bytes = left < piece ? left : piece;
  const uint32_t blocks = mine.blocks();
  const bool fits = __all_sync(warp.mask, mine.bytes == piece && is_expressible(qp, mine)) != 0;
  if (!fits || blockDim.x * blockDim.y * blockDim.z > 32 || warp.lanes * blocks > qp.sq_blocks ||
      qp.is(kBackEnds)) {
    return {DOORBELL_ERROR_ARGUMENT, 0};
  }
  reservation all{0, 0, false};
  uint32_t status = DOORBELL_OK;
  if (warp.lane == 0) {
    status = begin_reservation(qp, warp.lanes * blocks, all);
  }
  status = __shfl_sync(warp.mask, status, 0);
  const uint64_t base = __shfl_sync(warp.mask, all.base, 0);
  if (status == DOORBELL_OK) {
    __syncwarp(warp.mask);  // lane 0 found room before the lanes write
    write_wqe(qp, mine, base + warp.lane * blocks, warp.lane == warp.lanes - 1);
    __syncwarp(warp.mask);  // the lanes' WQEs before lane 0's fence
    if (warp.lane == 0) {
      submit(qp, all, mine, blocks, false, false);
    }
  }
  return {status, base + warp.lanes * blocks};
}

// How the messages of a job leave a block: from where they lie, in the WQE, or through the block's
// share of the staging area. That share is slots of chunk_bytes, each with the ticket of the put that
// reads it; a slot is free again when its ticket is done: completions are the credits. Messages longer
// than a slot go in chunks.
//
// All threads of the block must call, and get the same results; thread 0 posts, or in scope WARP the
// lanes of the only warp, a piece of each message each. What is staged is not posted by lanes.
class sender {
 public:
  static constexpr uint32_t kMaxSlots = 256;

  __device__ __forceinline__ explicit sender(const doorbell_job &job)
      : chunk_(0), slots_(0), first_(0), used_(0) {
    if (job.path == DOORBELL_PATH_STAGE) {
      chunk_ = job.chunk_bytes & ~(kUnitBytes - 1);
      const uint64_t of_block = chunk_ == 0 ? 0 : job.staging_bytes / chunk_ / gridDim.x;
      slots_ = of_block < kMaxSlots ? static_cast<uint32_t>(of_block) : kMaxSlots;
      first_ = blockIdx.x * of_block;
    }
  }

  // Posts what request_of() made, a plain put the way job.path says. Returns the ticket of a message's
  // last chunk. A job that stages without room for one chunk is refused.
  __device__ __forceinline__ posted send(const queue_pair &qp, const doorbell_job &job,
                                         request_list list) {
    __shared__ uint64_t tickets[kMaxSlots];
    const bool put = list.first.opcode == kOpcodeWrite && list.count == 1;
    const bool staged = put && job.path == DOORBELL_PATH_STAGE;
    const bool by_lanes = put && job.scope == DOORBELL_SCOPE_WARP;
    if (staged && (slots_ == 0 || by_lanes)) {
      return {DOORBELL_ERROR_ARGUMENT, 0};
    }
    if (put && job.path == DOORBELL_PATH_INLINE) {
      list.first.payload = source::in_wqe;
    }
    if (by_lanes) {
      return send_by_lanes(qp, list.first);
    }
    const uint64_t from = list.first.local;
    const uint64_t to = list.first.remote;
    posted last{DOORBELL_OK, 0};
    uint64_t at = 0;
    do {
      uint32_t slot = 0;
      uint64_t slot_address = 0;
      uint64_t length = 0;
      if (staged) {
        slot = static_cast<uint32_t>(used_ % slots_);
        if (used_ >= slots_) {
          const uint32_t status = wait<by::block>(qp, tickets[slot]);
          if (status != DOORBELL_OK) {
            return {status, 0};
          }
        }
        const uint64_t offset = (first_ + slot) * chunk_;
        const uint64_t left = job.bytes - at;
        length = left < chunk_ ? left : chunk_;
        slot_address = job.staging + offset;
        list.first.payload = source::system;
        list.first.local = job.staging_wire + offset;
        list.first.local_key = job.staging_key;
        list.first.remote = to + at;
        list.first.bytes = static_cast<uint32_t>(length);
      }
      last = post_filled(qp, list,
                         [&] { stage<by::block>(slot_address, from + at, length); });
      if (staged && detail::leads_block()) {
        tickets[slot] = last.ticket;
      }
      ++used_;
      at += staged ? chunk_ : job.bytes;
    } while (last.status == DOORBELL_OK && at < job.bytes);
    return last;
  }

 private:
  uint64_t chunk_;
  uint32_t slots_;
  uint64_t first_;
  uint64_t used_;
};

// The same status for all threads of the block: thread 0's.
__device__ __forceinline__ uint32_t agree(uint32_t status) {
  __shared__ uint32_t agreed;
  __syncthreads();
  if (detail::leads_block()) {
    agreed = status;
  }
  __syncthreads();
  return agreed;
}

// Lets time pass without an access to memory.
__device__ __forceinline__ void rest(uint64_t nanoseconds) {
  const uint64_t start = global_time();
  while (global_time() - start < nanoseconds) {
  }
}

}  // namespace protocol
}  // namespace doorbell

#endif  // DOORBELL_PROTOCOL_CUH
