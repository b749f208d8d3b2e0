// push_shared: as push_ring, with several blocks to a ring.
//
// Launch     any number of blocks for each ring, the same for all: block b pushes to ring
//            b / (blocks / rings); thread 0 reserves, commits and rings, all threads copy.
// Job        staging: doorbell_push_ring[qp_count]. local, remote, bytes (a multiple of 4),
//            iterations (of each block), samples, stamps; message n of block b goes from local to
//            remote at (b * iterations + n) * stride. opcode: DOORBELL_PUSH_CHECKSUMS, or 0. No queue
//            pair.
// Order      that of push.cuh; messages of different blocks in any order.
// Who else   the push engine of the HCA, and the blocks of the same ring.
// Samples    nanoseconds that each message waited for room, 0 where there was some.
#include "push_protocol.cuh"

using namespace doorbell;

namespace {

struct turn {
  uint32_t status;
  uint32_t staged;
  uint64_t index;
};

}  // namespace

extern "C" __global__ void push_shared(const doorbell_qp *, const doorbell_job *jobs) {
  __shared__ turn now;
  __shared__ uint32_t checksum;
  const doorbell_job job = jobs[0];
  const uint32_t producers = gridDim.x / job.qp_count;
  const doorbell_push_ring *view =
      reinterpret_cast<const doorbell_push_ring *>(job.staging) + blockIdx.x / producers;
  const doorbell_push_ring shared = *view;
  shared_push_ring ring(view);
  const uint64_t first = blockIdx.x * job.iterations;
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  const bool leads = detail::leads_block();
  const bool checked = (job.opcode & DOORBELL_PUSH_CHECKSUMS) != 0;

  if (leads) {
    now.status = job.bytes % 4 == 0 && job.bytes <= shared.slot_bytes ? DOORBELL_OK
                                                                      : DOORBELL_ERROR_ARGUMENT;
    protocol::stamp_start(job, global_time());
  }
  for (uint64_t n = first; n < first + job.iterations; ++n) {
    if (leads && now.status == DOORBELL_OK) {
      uint64_t waited = 0;
      uint64_t index = 0;
      if (!ring.try_reserve(index)) {
        const uint64_t start = global_time();
        now.status = ring.reserve(index);
        waited = global_time() - start;
      }
      if (samples != nullptr) {
        samples[n] = waited;
      }
      if (now.status == DOORBELL_OK) {
        now.index = index;
        now.staged = ring.stages(index);
      }
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
    if (mine.staged) {
      stage<by::block>(doorbell::push_ring::slot(shared, mine.index), message.local,
                       message.bytes);
    }
    if (checked) {
      atomicAdd(&checksum, protocol::share_of_sum(message.local, message.bytes));
    }
    __syncthreads();  // what all have copied, before the first thread's fence
    if (leads) {
      now.status = ring.commit(mine.index, message,
                               (mine.staged ? DOORBELL_PUSH_STAGED : 0) |
                                   (checked ? DOORBELL_PUSH_CHECKED : 0),
                               checksum);
    }
    __syncthreads();  // before the first thread writes `now` again
  }
  if (leads) {
    ring.flush();
    if (now.status == DOORBELL_OK) {
      now.status = ring.quiet();
    }
    protocol::stamp_end(job, global_time());
  }
  __syncthreads();
  protocol::report(job, now.status);
}
