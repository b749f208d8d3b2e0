// A put that costs a caller few registers, for kernels that compute and post now and then.
//
//   const doorbell_qp *qp = &qps[thread];
//   doorbell::light::put(qp, {remote, remote_key, local, local_key, bytes})
//   doorbell::light::quiet(qp)
//
// The functions of operations.cuh hold a queue pair in registers, take any operation, and call code that is
// out of line: inlined, they cost 120 registers whether the caller posts or not. These two call nothing and
// hold next to nothing between two accesses. Beside 32 to 224 live values they need 0 to 16 registers more where
// ptxas has all it wants; bound to four more than the caller's own (-maxrregcount, __launch_bounds__) they spill
// nothing, and a caller that never posts is as fast as without them: docs/performance.md. A put takes its
// thread 0.25 us longer than one of operations.cuh, since it loads its place in the ring again.
//
// What they leave out: the queue pair is exclusive, its CQ is collapsed, its doorbell is rung by this GPU, after
// the record or without one. Others are refused with DOORBELL_ERROR_ARGUMENT. There is no inline payload, no
// atomic, no ticket: quiet() waits for all.
//
// One thread uses the queue pair. It may use operations.cuh on it, too, when everything is done, and with a
// queue_pair that it makes after that.
//
// Memory order: what the thread wrote before put() is what the HCA sends. Status words, keys, deadlines and the
// error record are those of operations.cuh.
#ifndef DOORBELL_LIGHT_CUH
#define DOORBELL_LIGHT_CUH

#include "doorbell/operations.cuh"

namespace doorbell {
namespace light {

// What is put where. A type of the caller's own with the same five functions may load or compute each part
// when it is asked for, and keeps no register busy until then.
class transfer {
 public:
  __device__ __forceinline__ transfer(uint64_t remote, uint32_t remote_key, uint64_t local,
                                      uint32_t local_key, uint32_t bytes)
      : remote_(remote),
        local_(local),
        remote_key_(remote_key),
        local_key_(local_key),
        bytes_(bytes) {}
  __device__ __forceinline__ uint64_t remote() const { return remote_; }
  __device__ __forceinline__ uint32_t remote_key() const { return remote_key_; }
  __device__ __forceinline__ uint64_t local() const { return local_; }
  __device__ __forceinline__ uint32_t local_key() const { return local_key_; }
  __device__ __forceinline__ uint32_t bytes() const { return bytes_; }

 private:
  uint64_t remote_;
  uint64_t local_;
  uint32_t remote_key_;
  uint32_t local_key_;
  uint32_t bytes_;
};

namespace detail {

constexpr uint32_t kUnits = 3;  // of a WQE: control, address, data pointer

constexpr uint32_t kNeeded = DOORBELL_QP_EXCLUSIVE | DOORBELL_QP_CQ_COLLAPSED;
constexpr uint32_t kRefused = DOORBELL_QP_PROXY | DOORBELL_QP_EFA |
                              DOORBELL_QP_CPU_RUNG | DOORBELL_QP_BLUEFLAME |
                              DOORBELL_QP_RECORD_LAST | DOORBELL_QP_CQ_RECORD;

// Where a queue pair is. Indices are 32 bits wide here: a ring has at most 2^15 blocks.
struct position {
  uint32_t next;  // the block of the next put
  uint32_t done;  // every block below is done
};

// Both words are loaded before either is looked at: so the loads wait together.
__device__ __forceinline__ position position_of(const doorbell_qp *qp) {
  const uint64_t reserved = load_relaxed_device(&counters_of(qp)->reserved);
  const uint64_t completed = load_relaxed_device(&counters_of(qp)->completed);
  return {static_cast<uint32_t>(reserved >> DOORBELL_RESERVED_SHIFT), low(completed)};
}

// Adds one to the index of the next block; nothing of it comes into a register.
__device__ __forceinline__ void count_block(const doorbell_qp *qp) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;"
               :
               : "l"(&counters_of(qp)->reserved), "n"(1 << DOORBELL_RESERVED_SHIFT)
               : "memory");
}

// Units of 1,024 ns, of which 2^32 are more than an hour.
__device__ __forceinline__ uint32_t coarse_time() {
  return static_cast<uint32_t>(global_time() >> 10);
}

// As doorbell::fail(), without a call. `cqe`: of the error, or 0.
__device__ __forceinline__ uint32_t fail(const doorbell_qp *qp, uint32_t status, uint64_t cqe) {
  if (swap_acq_rel_device(&counters_of(qp)->poison, 0, status) != 0) {
    return status == DOORBELL_ERROR_CQE ? uint32_t{DOORBELL_ERROR_POISONED} : status;
  }
  doorbell_error *error = reinterpret_cast<doorbell_error *>(qp->error);
  error->qpn = qp->qpn;
  if (cqe != 0) {
    const volatile uint8_t *bytes = reinterpret_cast<const volatile uint8_t *>(cqe);
    error->vendor_syndrome = bytes[0x36];
    error->syndrome = bytes[0x37];
    error->opcode = bytes[0x38];
    error->wqe_index = bytes[0x3c] << 8 | bytes[0x3d];
  }
  error->thread = thread_index();
  error->awaited = load_relaxed_device(&counters_of(qp)->reserved) >> DOORBELL_RESERVED_SHIFT;
  error->completed = load_relaxed_device(&counters_of(qp)->completed);
  error->time_ns = global_time();
  store_release_system(&error->status, status);
  return status;
}

// Waits until the HCA has completed all blocks below `end`.
__device__ __forceinline__ uint32_t await(const doorbell_qp *qp, uint64_t cqe, uint32_t end) {
  const uint32_t start = coarse_time();
  for (;;) {
    const cqe_tail tail = read_cqe_tail(cqe);
    if (tail.is_error()) {
      return fail(qp, DOORBELL_ERROR_CQE, cqe);
    }
    // An older CQE is at most a ring behind, and a ring has at most 2^15 blocks.
    if (tail.opcode() != kCqeInvalid &&
        static_cast<int16_t>(tail.wqe_counter() - (end - 1)) >= 0) {
      store_relaxed_device(&counters_of(qp)->completed,
                           load_relaxed_device(&counters_of(qp)->reserved) >> DOORBELL_RESERVED_SHIFT);
      return DOORBELL_OK;
    }
    if (coarse_time() - start > static_cast<uint32_t>(qp->deadline_ns >> 10)) {
      return fail(qp, DOORBELL_ERROR_DEADLINE, 0);
    }
  }
}

}  // namespace detail

// Loads that do not depend on each other stand together, so that they wait together; what a fence's acquire
// would take from the L1 cache is loaded before it.

// Waits until everything is done that put() has posted to the queue pair; then payload may be written again.
__device__ __forceinline__ uint32_t quiet(const doorbell_qp *qp) {
  const uint64_t cqe = qp->cq_ring;
  const detail::position at = detail::position_of(qp);
  return at.next == at.done ? uint32_t{DOORBELL_OK} : detail::await(qp, cqe, at.next);
}

// Writes bytes() bytes, 1 to 2^31 - 1, from local() to remote(). `payload`: whether local() lies in memory of
// this GPU (source::device), or in host or on-chip memory (source::system). Where the ring is full it waits
// for all that was put before.
template <class Transfer = transfer>
__device__ __forceinline__ uint32_t put(const doorbell_qp *qp, const Transfer &what,
                                        source payload = source::device) {
  const detail::position at = detail::position_of(qp);
  if ((qp->flags & (detail::kNeeded | detail::kRefused)) != detail::kNeeded) {
    return DOORBELL_ERROR_ARGUMENT;
  }
  if (at.next - at.done >= qp->sq_blocks) {
    const uint32_t status = detail::await(qp, qp->cq_ring, at.next);
    if (status != DOORBELL_OK) {
      return status;
    }
  }
  detail::count_block(qp);
  const uint64_t block = qp->sq_ring + (at.next & (qp->sq_blocks - 1)) * kBlockBytes;
  store_unit_strong(block + kUnitBytes, {big_endian(high(what.remote())),
                                         big_endian(low(what.remote())), what.remote_key(), 0});
  store_unit_strong(block + 2 * kUnitBytes,
                    {big_endian(what.bytes()), what.local_key(), big_endian(high(what.local())),
                     big_endian(low(what.local()))});
  store_unit_strong(block, {big_endian((at.next & 0xffffu) << 8 | kOpcodeWrite),
                            big_endian(qp->qpn << 8 | detail::kUnits), kSignaled << 24, 0});
  const bool system = (qp->flags & DOORBELL_QP_SCOPE_SYSTEM) != 0 || payload == source::system;
  const bool record = (qp->flags & DOORBELL_QP_NO_RECORD) == 0;
  uint32_t *const word = reinterpret_cast<uint32_t *>(qp->sq_record);
  const uint64_t doorbell = qp->doorbell;
  const uint32_t number = big_endian(qp->qpn << 8);
  const uint32_t index = (at.next + 1) & 0xffffu;
  fence(system);
  if (record) {
    store_relaxed_system(word, big_endian(index));
    fence(system);
  }
  store_register(doorbell, static_cast<uint64_t>(number) << 32 | big_endian(index << 8));
  return DOORBELL_OK;
}

}  // namespace light
}  // namespace doorbell

#endif  // DOORBELL_LIGHT_CUH
