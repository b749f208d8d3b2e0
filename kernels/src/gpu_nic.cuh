// What the kernels that are a NIC share. A NIC here is a grid of engines, one block each, on a GPU of its
// own: they poll doorbells in this GPU's memory, read work from the sender's, move payload with their
// own loads and stores, and report what is done in the sender's memory again.
//
//   claim     an engine takes the next few pieces of work that a doorbell covers
//   move      its warps copy, each a short message, or all of them one message after the other
//   turn      engines report in the order in which they have claimed
//
// Order: the doorbell is acquired at system scope, and a barrier hands it to the block. What the block
// has stored is behind a fence of system scope before its turn; turns are handed on by release and
// acquire, so that who reports has everything before it delivered.
#ifndef DOORBELL_GPU_NIC_CUH
#define DOORBELL_GPU_NIC_CUH

#include "doorbell/stage.cuh"
#include "protocol.cuh"

namespace doorbell {
namespace nic {

// What the engines of one queue share, in this GPU's memory, zeroed by the host: GPU_NIC_STATE_BYTES.
struct shared_state {
  uint64_t claimed;  // pieces of work below belong to an engine
  uint64_t claimed_pad[15];
  uint64_t reported;  // pieces of work below are delivered and reported
  uint64_t entries;   // CQEs written; belongs to whose turn it is
  uint64_t stopped;   // DOORBELL_ERROR_*: what ended the queue
  uint64_t reported_pad[13];
};

constexpr uint32_t kMostClaimed = 32;   // pieces of work of an engine at a time
constexpr uint64_t kAlone = 2048;       // bytes up to which a message is one warp's
constexpr uint32_t kInFlight = 8;       // loads of a thread at a time

// Sixteen bytes as a NIC reads them: from where they are, not from this multiprocessor's first cache,
// which would hold a message that is sent twice in a row.
__device__ __forceinline__ uint4 read_unit(uint64_t address) {
  uint4 value;
  asm volatile("ld.relaxed.sys.global.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(__cvta_generic_to_global(reinterpret_cast<const void *>(address)))
               : "memory");
  return value;
}

// Copies bytes that `step` threads share, of which the caller is number `first`: units of sixteen
// bytes, several in flight.
__device__ __forceinline__ void move(uint64_t to, uint64_t from, uint64_t bytes, uint32_t first,
                                     uint32_t step) {
  if (((to | from) & (kUnitBytes - 1)) != 0) {
    for (uint64_t at = first; at < bytes; at += step) {
      *reinterpret_cast<uint8_t *>(to + at) = *reinterpret_cast<const uint8_t *>(from + at);
    }
    return;
  }
  const uint64_t units = bytes / kUnitBytes;
  const uint64_t stride = step;
  uint64_t at = first;
  for (; at + (kInFlight - 1) * stride < units; at += kInFlight * stride) {
    uint4 values[kInFlight];
#pragma unroll
    for (uint32_t i = 0; i < kInFlight; ++i) {
      values[i] = read_unit(from + (at + i * stride) * kUnitBytes);
    }
#pragma unroll
    for (uint32_t i = 0; i < kInFlight; ++i) {
      *reinterpret_cast<uint4 *>(to + (at + i * stride) * kUnitBytes) = values[i];
    }
  }
  for (; at < units; at += stride) {
    *reinterpret_cast<uint4 *>(to + at * kUnitBytes) = read_unit(from + at * kUnitBytes);
  }
  for (uint64_t byte = units * kUnitBytes + first; byte < bytes; byte += stride) {
    *reinterpret_cast<uint8_t *>(to + byte) = *reinterpret_cast<const uint8_t *>(from + byte);
  }
}

// One message that an engine has to deliver.
struct delivery {
  uint64_t to;
  uint64_t from;
  uint64_t bytes;
};

// Delivers what the block has claimed: one warp a message while they are short, else all threads each.
// All threads call; `work` lies in shared memory and is complete.
__device__ __forceinline__ void deliver(const delivery *work, uint32_t count) {
  uint64_t longest = 0;
  for (uint32_t i = 0; i < count; ++i) {
    longest = work[i].bytes > longest ? work[i].bytes : longest;
  }
  if (longest <= kAlone) {
    const uint32_t warps = blockDim.x / 32;
    for (uint32_t i = threadIdx.x / 32; i < count; i += warps) {
      move(work[i].to, work[i].from, work[i].bytes, threadIdx.x % 32, 32);
    }
  } else {
    for (uint32_t i = 0; i < count; ++i) {
      move(work[i].to, work[i].from, work[i].bytes, threadIdx.x, blockDim.x);
    }
  }
}

// What the block's first thread has found for all of it.
struct claim {
  uint64_t first;
  uint32_t count;   // 0: nothing more to do
  uint32_t status;  // why, then
};

// The claims and the turns of one queue, as the first thread of one engine has them.
class engine {
 public:
  // `total`: pieces of work after which the queue is at its end. `engines`: blocks of the queue.
  __device__ __forceinline__ engine(shared_state *state, uint64_t total, uint32_t engines,
                                    uint64_t deadline_ns)
      : state_(state), total_(total), engines_(engines), deadline_ns_(deadline_ns) {}

  // Waits for work. `produced(claimed)` is the index below which a doorbell covers everything, acquired
  // at system scope, or ~0 when the doorbell is impossible.
  template <typename Produced>
  __device__ __forceinline__ claim next(Produced produced) {
    deadline limit(deadline_ns_);
    cuda::atomic_ref<uint64_t, cuda::thread_scope_device> claimed(state_->claimed);
    for (;;) {
      uint64_t first = claimed.load(cuda::memory_order_acquire);
      if (first >= total_) {
        return {first, 0, DOORBELL_OK};
      }
      const uint64_t end = produced(first);
      if (end == ~0ull) {
        return {first, 0, stop(DOORBELL_ERROR_ARGUMENT)};
      }
      if (end > first) {
        const uint64_t share = (end - first + engines_ - 1) / engines_;
        const uint32_t count = share < kMostClaimed ? static_cast<uint32_t>(share) : kMostClaimed;
        if (claimed.compare_exchange_strong(first, first + count, cuda::memory_order_acq_rel)) {
          return {first, count, DOORBELL_OK};
        }
      } else if (limit.due()) {
        const uint32_t stopped = static_cast<uint32_t>(load_acquire_device(&state_->stopped));
        if (stopped != DOORBELL_OK) {
          return {first, 0, stopped};
        }
        if (limit.passed()) {
          return {first, 0, stop(DOORBELL_ERROR_DEADLINE)};
        }
      }
    }
  }

  // Waits until everything before `first` is reported.
  __device__ __forceinline__ uint32_t turn(uint64_t first) {
    deadline limit(deadline_ns_);
    while (load_acquire_device(&state_->reported) != first) {
      if (limit.due()) {
        const uint32_t stopped = static_cast<uint32_t>(load_acquire_device(&state_->stopped));
        if (stopped != DOORBELL_OK) {
          return stopped;
        }
        if (limit.passed()) {
          return stop(DOORBELL_ERROR_DEADLINE);
        }
      }
    }
    return DOORBELL_OK;
  }

  // The turn is over: everything below `end` is reported.
  __device__ __forceinline__ void hand_on(uint64_t end) {
    store_release_device(&state_->reported, end);
  }

  // Ends the queue for all its engines; the first one to do so says why.
  __device__ __forceinline__ uint32_t stop(uint32_t status) {
    uint64_t none = 0;
    cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(state_->stopped)
        .compare_exchange_strong(none, status, cuda::memory_order_acq_rel);
    return status;
  }

  __device__ __forceinline__ shared_state *state() const { return state_; }

 private:
  shared_state *state_;
  uint64_t total_;
  uint32_t engines_;
  uint64_t deadline_ns_;
};

// Whether `bytes` bytes at `address` lie in the `size` bytes at `base`.
__device__ __forceinline__ bool inside(uint64_t address, uint64_t bytes, uint64_t base,
                                       uint64_t size) {
  const uint64_t offset = address - base;
  return offset <= size && bytes <= size - offset;
}

}  // namespace nic
}  // namespace doorbell

#endif  // DOORBELL_GPU_NIC_CUH
