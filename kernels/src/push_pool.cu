// push_pool: as push_ring, with slots that several rings share.
//
// Launch     one block a ring; thread 0 reserves, commits and rings, all threads copy.
// Job        staging: doorbell_push_ring[blocks], all of one pool. local, remote, bytes (a multiple of
//            4), iterations, samples, stamps; message n of block b goes from local to remote at
//            (b * iterations + n) * stride. opcode: DOORBELL_PUSH_CHECKSUMS, DOORBELL_PUSH_NO_CREDITS
//            (of the pool only). No queue pair.
// Order      that of push.cuh.
// Who else   the push engine of the HCA; nobody else takes slots of the pool.
// Samples    nanoseconds that each message waited for room in ring and pool, 0 where there was some.
#include "push_protocol.cuh"

using namespace doorbell;

namespace {

struct turn {
  uint32_t status;
  uint32_t slot;
  uint64_t index;
};

}  // namespace

extern "C" __global__ void push_pool(const doorbell_qp *, const doorbell_job *jobs) {
  __shared__ turn now;
  __shared__ uint32_t checksum;
  const doorbell_job job = jobs[0];
  const doorbell_push_ring *view =
      reinterpret_cast<const doorbell_push_ring *>(job.staging) + blockIdx.x;
  const doorbell_push_ring shared = *view;
  pooled_push_ring ring(view);
  const uint64_t first = blockIdx.x * job.iterations;
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  const bool leads = detail::leads_block();
  const bool checked = (job.opcode & DOORBELL_PUSH_CHECKSUMS) != 0;
  const bool limited = (job.opcode & DOORBELL_PUSH_NO_CREDITS) == 0;

  if (leads) {
    now.status = job.bytes % 4 == 0 && job.bytes <= shared.slot_bytes && shared.pool != 0
                     ? DOORBELL_OK
                     : DOORBELL_ERROR_ARGUMENT;
    protocol::stamp_start(job, global_time());
  }
  for (uint64_t n = first; n < first + job.iterations; ++n) {
    if (leads && now.status == DOORBELL_OK) {
      uint64_t waited = 0;
      uint64_t index = 0;
      uint32_t slot = 0;
      if (!ring.try_reserve(limited, index, slot)) {
        const uint64_t start = global_time();
        now.status = ring.reserve_slot(limited, index, slot, shared.deadline_ns);
        waited = global_time() - start;
      }
      if (samples != nullptr) {
        samples[n] = waited;
      }
      now.index = index;
      now.slot = slot;
      checksum = 0;
    }
    __syncthreads();
    const turn mine = now;
    if (mine.status != DOORBELL_OK) {
      break;
    }
    const push_message message{
        job.local + n * job.stride, job.remote + n * job.stride, static_cast<uint32_t>(job.bytes),
        static_cast<uint32_t>(shared.first_destination + mine.index % shared.destinations)};
    stage<by::block>(pooled_push_ring::slot(shared, mine.slot), message.local, message.bytes);
    if (checked) {
      atomicAdd(&checksum, protocol::share_of_sum(message.local, message.bytes));
    }
    __syncthreads();  // what all have copied, before the first thread's fence
    if (leads) {
      ring.commit(mine.index, message,
                  DOORBELL_PUSH_STAGED | (checked ? DOORBELL_PUSH_CHECKED : 0) |
                      mine.slot << DOORBELL_PUSH_SLOT_SHIFT,
                  checksum);
      if (ring.batch_full()) {
        ring.ring(true);
      }
    }
    __syncthreads();  // before the first thread writes `now` again
  }
  if (leads) {
    // The flush rule: the last doorbell of a burst is never left out.
    if (ring.unrung()) {
      ring.ring(true);
    }
    if (now.status == DOORBELL_OK) {
      now.status = ring.quiet();
    }
    ring.settle();
    protocol::stamp_end(job, global_time());
  }
  __syncthreads();
  protocol::report(job, now.status);
}
