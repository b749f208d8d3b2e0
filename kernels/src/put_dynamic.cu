// put_dynamic: puts over dynamic connections by the fewest accesses that an HCA requires.
//
// put_minimal's twin for transport dc: each WQE has an address vector, so one queue pair, an initiator, reaches
// one target after the other, and the HCA connects as it sends.
//
//   build     96 bytes of WQE in 16-byte stores, more with further inline payload
//   order     job.operand, bits 0 to 7: those of put_minimal
//   doorbell  one store of 8 bytes
//   look      one load of the last word of the last CQE of a doorbell
//
// Launch     any grid. Posters are threads; poster p uses queue pair p, which is its own.
// Job        local, remote, bytes, stride, iterations (doorbells of a poster), warmup, opcode (PUT by pointer or
//            PUT_INLINE, at most 924 bytes: a WQE's length in 16 bytes has 6 bits), samples, stamps. Thread t puts
//            the message at t * stride.
//            operand  bits 0 to 7: the order of a post; bit 16: only the last WQE of a doorbell has a CQE
//            compare  WQEs of a doorbell
//            window   doorbells of a queue pair in flight; 1 with samples: each is awaited and timed
//            staging  address vectors of 48 bytes, as WQEs hold them
//            staging_bytes  how many. Poster p visits p, p plus the number of posters and so on: one a doorbell
//            chunk_bytes  nanoseconds of rest between the doorbell and the first look, when timed
// Order      as put_minimal. The vectors are written before the launch.
// Who else   the HCA.
// Samples    window 1: nanoseconds of poster 0, uint64_t[iterations] from before the build until the doorbell was
//            stored; behind those uint64_t[iterations] until the CQE was seen; behind those
//            uint64_t[iterations] of the look, from its begin to its end.
// Stamps     otherwise: first doorbell after the warm-up, last completion.
#include "protocol.cuh"

using namespace doorbell;

namespace {

// What stands between WQE, record and doorbell, as in put_minimal.
constexpr uint32_t kOrderNone = 0;
constexpr uint32_t kOrderFence = 1;
constexpr uint32_t kOrderFenceSc = 2;
constexpr uint32_t kOrderFencedRecord = 3;
constexpr uint32_t kOrderRelease = 4;
constexpr uint32_t kOrderReleaseSystem = 5;
constexpr uint32_t kOrderNoRecord = 7;
constexpr uint32_t kOrderTwice = 8;

constexpr uint32_t kVectorUnits = 3;
constexpr uint32_t kUnitsBeforeData = 2 + kVectorUnits;
constexpr uint64_t kTicket = 1ull << DOORBELL_RESERVED_SHIFT;

__device__ __forceinline__ uint32_t units_of(uint32_t bytes, bool in_wqe) {
  return kUnitsBeforeData + (in_wqe ? (4 + bytes + kUnitBytes - 1) / kUnitBytes : 1);
}

// One queue pair and its poster. Tickets number doorbells from 0; indices of blocks and CQEs follow from them.
class initiator {
 public:
  __device__ __forceinline__ initiator(const doorbell_qp &view, const doorbell_job &job, uint64_t poster,
                                       uint64_t posters)
      : view_(view),
        counters_(reinterpret_cast<doorbell_counters *>(view.counters)),
        vectors_(job.staging),
        apart_(static_cast<uint32_t>(posters)),
        first_target_(static_cast<uint32_t>(poster)),
        targets_(static_cast<uint32_t>(job.staging_bytes)),
        target_(first_target_),
        order_(static_cast<uint32_t>(job.operand & 0xff)),
        wqes_(static_cast<uint32_t>(job.compare == 0 ? 1 : job.compare)),
        bytes_(static_cast<uint32_t>(job.bytes)),
        in_wqe_(job.opcode == DOORBELL_OP_PUT_INLINE),
        last_only_((job.operand >> 16 & 1) != 0),
        units_(units_of(bytes_, in_wqe_)),
        blocks_((units_ * kUnitBytes + kBlockBytes - 1) / kBlockBytes),
        local_(job.local + thread_index() * job.stride),
        remote_(job.remote + thread_index() * job.stride),
        local_key_(job.local_key),
        remote_key_(job.remote_key),
        next_(load_relaxed_device(&counters_->completed)),
        done_(next_) {}

  // Posts one doorbell for the next target; at most `window` are in flight.
  __device__ __forceinline__ uint32_t post(uint32_t window) {
    uint32_t status = DOORBELL_OK;
    if (next_ >= done_ + window) {
      done_ += (window + 1) / 2;
      status = await(done_);
    }
    if (status != DOORBELL_OK) {
      return status;
    }
    const unit *vector = reinterpret_cast<const unit *>(vectors_) + static_cast<uint64_t>(target_) * kVectorUnits;
    const unit parts[kVectorUnits] = {vector[0], vector[1], vector[2]};
    const uint32_t first = static_cast<uint32_t>(next_) * wqes_ * blocks_;
#pragma unroll 1
    for (uint32_t i = 0; i < wqes_; ++i) {
      build(first + i * blocks_, parts, !last_only_ || i == wqes_ - 1);
    }
    ring(first + wqes_ * blocks_);
    ++next_;
    target_ += apart_;
    if (target_ >= targets_) {
      target_ = first_target_;
    }
    return DOORBELL_OK;
  }

  // Waits until all that was posted is done.
  __device__ __forceinline__ uint32_t drain() {
    if (done_ == next_) {
      return DOORBELL_OK;
    }
    done_ = next_;
    return await(done_);
  }

  // The next launch goes on from here.
  __device__ __forceinline__ void leave() const {
    store_relaxed_device(&counters_->completed, done_);
    store_relaxed_device(&counters_->reserved, done_ * kTicket);
  }

 private:
  __device__ __forceinline__ void build(uint32_t index, const unit (&vector)[kVectorUnits], bool signaled) const {
    const uint64_t ring = view_.sq_ring;
    const uint64_t mask = (static_cast<uint64_t>(view_.sq_blocks) * kBlockBytes) - 1;
    uint64_t at = static_cast<uint64_t>(index) * kBlockBytes;
    const auto put = [&](unit content) {
      store_unit_strong(ring + (at & mask), content);
      at += kUnitBytes;
    };
    put({big_endian((index & 0xffffu) << 8 | kOpcodeWrite), big_endian(view_.qpn << 8 | units_),
         signaled ? kSignaled << 24 : 0u, 0});
    put(vector[0]);
    put(vector[1]);
    put(vector[2]);
    put({big_endian(high(remote_)), big_endian(low(remote_)), remote_key_, 0});
    if (!in_wqe_) {
      put({big_endian(bytes_), local_key_, big_endian(high(local_)), big_endian(low(local_))});
      return;
    }
    const uint32_t *payload = reinterpret_cast<const uint32_t *>(local_);
    const uint32_t words = (bytes_ + 3) / 4;
    put({big_endian(kInlineFlag | bytes_), payload[0], words > 1 ? payload[1] : 0u, words > 2 ? payload[2] : 0u});
#pragma unroll 1
    for (uint32_t word = 3; word < words; word += 4) {
      put({payload[word], word + 1 < words ? payload[word + 1] : 0u, word + 2 < words ? payload[word + 2] : 0u,
           word + 3 < words ? payload[word + 3] : 0u});
    }
  }

  // Stores record and doorbell for all blocks below `index`.
  __device__ __forceinline__ void ring(uint32_t index) const {
    uint32_t *const word = reinterpret_cast<uint32_t *>(view_.sq_record);
    const uint32_t record = big_endian(index & 0xffffu);
    const uint64_t value =
        static_cast<uint64_t>(big_endian(view_.qpn << 8)) << 32 | big_endian((index & 0xffffu) << 8);
    uint64_t *const page = reinterpret_cast<uint64_t *>(view_.doorbell);
    switch (order_) {
      case kOrderNone:
        store_relaxed_system(word, record);
        break;
      case kOrderFence:
        store_relaxed_system(word, record);
        fence(false);
        break;
      case kOrderFenceSc:
        store_relaxed_system(word, record);
        asm volatile("fence.sc.gpu;" ::: "memory");
        break;
      case kOrderFencedRecord:
        fence(false);
        store_relaxed_system(word, record);
        fence(false);
        break;
      case kOrderRelease:
        cuda::atomic_ref<uint32_t, cuda::thread_scope_device>(*word).store(record, cuda::memory_order_release);
        return store_release_device(page, value);
      case kOrderReleaseSystem:
        store_release_system(word, record);
        return cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*page).store(value,
                                                                                 cuda::memory_order_release);
      case kOrderNoRecord:
        fence(true);
        break;
      case kOrderTwice:
        fence(false);
        store_register(view_.doorbell, value);
        store_relaxed_system(word, record);
        fence(false);
        break;
      default:
        fence(true);
        store_relaxed_system(word, record);
        fence(true);
    }
    store_register(view_.doorbell, value);
  }

  // Waits for the last CQE of the doorbells below `end`: nothing good comes after an error.
  __device__ __forceinline__ uint32_t await(uint64_t end) const {
    const uint32_t entries = view_.cq_entries;
    const uint32_t number = static_cast<uint32_t>(end) * (last_only_ ? 1 : wqes_) - 1;
    const uint32_t *word = reinterpret_cast<const uint32_t *>(
        view_.cq_ring + (number & (entries - 1)) * static_cast<uint64_t>(kCqeBytes) + 0x3c);
    const uint32_t good = (number & entries) != 0 ? kOwner : 0u;
    deadline until(view_.deadline_ns);
    uint32_t tail = load(word);
    while ((tail & kOpcode) == kOpcode || (tail & kOwner) != good) {
      if (until.due() && until.passed()) {
        return DOORBELL_ERROR_DEADLINE;
      }
      tail = load(word);
    }
    return cqe_tail{tail}.is_error() ? DOORBELL_ERROR_CQE : DOORBELL_OK;
  }

  __device__ __forceinline__ uint32_t load(const uint32_t *word) const {
    return order_ == kOrderNone ? load_relaxed_system(word) : load_acquire_system(word);
  }

  static constexpr uint32_t kOpcode = 0xf0000000u;
  static constexpr uint32_t kOwner = 1u << 24;

  const doorbell_qp &view_;
  doorbell_counters *counters_;
  uint64_t vectors_;
  uint32_t apart_;
  uint32_t first_target_;
  uint32_t targets_;
  uint32_t target_;
  uint32_t order_;
  uint32_t wqes_;
  uint32_t bytes_;
  bool in_wqe_;
  bool last_only_;
  uint32_t units_;
  uint32_t blocks_;
  uint64_t local_;
  uint64_t remote_;
  uint32_t local_key_;
  uint32_t remote_key_;
  uint64_t next_;
  uint64_t done_;
};

__device__ __forceinline__ uint32_t dynamic(const doorbell_qp *qps, const doorbell_job &job) {
  if (job.iterations == 0) {
    return DOORBELL_OK;
  }
  const uint64_t number = thread_index();
  const bool timed = number == 0 && job.window == 1 && job.samples != 0;
  initiator self(qps[number], job, number, static_cast<uint64_t>(gridDim.x) * blockDim.x);
  const uint32_t window = job.window == 0 ? 1 : job.window;
  const uint64_t total = job.warmup + job.iterations;
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < total && status == DOORBELL_OK; ++turn) {
    if (turn == job.warmup && !timed) {
      protocol::stamp_start(job, global_time());
    }
    const uint64_t start = global_time();
    status = self.post(window);
    const uint64_t rung = global_time();
    if (!timed) {
      continue;
    }
    if (job.chunk_bytes != 0) {
      protocol::rest(job.chunk_bytes);
    }
    const uint64_t look = global_time();
    if (status == DOORBELL_OK) {
      status = self.drain();
    }
    const uint64_t seen = global_time();
    if (turn >= job.warmup) {
      uint64_t *const sample = samples + (turn - job.warmup);
      sample[0] = rung - start;
      sample[job.iterations] = seen - start;
      sample[2 * job.iterations] = seen - look;
    }
  }
  if (!timed) {
    if (status == DOORBELL_OK) {
      status = self.drain();
    }
    protocol::stamp_end(job, global_time());
  }
  self.leave();
  return status;
}

}  // namespace

extern "C" __global__ void put_dynamic(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  protocol::report(job, dynamic(qps, job));
}
