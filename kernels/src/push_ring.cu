// push_ring: messages through rings in on-chip memory, held back by credits.
//
// Launch     one block a ring; thread 0 reserves, commits and rings, all threads copy.
// Job        staging: doorbell_push_ring[blocks]. local, remote, bytes (a multiple of 4), iterations,
//            samples, stamps; message n of block b goes from local to remote at
//            (b * iterations + n) * stride. operand: address of uint64_t[blocks][iterations], for how many
//            nanoseconds to wait before each message, or 0. opcode: DOORBELL_PUSH_*. No queue pair.
// Order      that of push.cuh.
// Who else   the push engine of the HCA; nobody else pushes to these rings.
// Samples    nanoseconds that each message waited for room, 0 where there was some; ~0 for one that was
//            dropped.
#include "push_protocol.cuh"

using namespace doorbell;

namespace {

// Sleeps until a moment; the sleeps of one instruction are at most a millisecond.
__device__ __forceinline__ void sleep_until(uint64_t time) {
  for (uint64_t now = global_time(); now < time; now = global_time()) {
    const uint64_t left = time - now;
    __nanosleep(left < 1000000 ? static_cast<uint32_t>(left) : 1000000);
  }
}

struct turn {
  uint32_t status;
  uint32_t go;      // reserved, not dropped
  uint32_t staged;
  uint64_t index;
};

}  // namespace

extern "C" __global__ void push_ring(const doorbell_qp *, const doorbell_job *jobs) {
  __shared__ turn now;
  __shared__ uint32_t checksum;
  const doorbell_job job = jobs[0];
  const doorbell_push_ring *rings = reinterpret_cast<const doorbell_push_ring *>(job.staging);
  const doorbell_push_ring shared = rings[blockIdx.x];
  doorbell_push_counters *counters = reinterpret_cast<doorbell_push_counters *>(shared.counters);
  doorbell::push_ring ring(&rings[blockIdx.x]);
  const uint64_t first = blockIdx.x * job.iterations;
  const uint64_t *gaps = reinterpret_cast<const uint64_t *>(job.operand);
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  const bool leads = detail::leads_block();
  const bool checked = (job.opcode & DOORBELL_PUSH_CHECKSUMS) != 0;
  const bool fenced = (job.opcode & DOORBELL_PUSH_NO_FENCE) == 0;

  if (leads) {
    now.status = job.bytes % 4 == 0 && job.bytes <= shared.slot_bytes
                     ? DOORBELL_OK
                     : DOORBELL_ERROR_ARGUMENT;
    protocol::stamp_start(job, global_time());
  }
  uint64_t due = global_time();
  for (uint64_t n = first; n < first + job.iterations; ++n) {
    if (leads) {
      if (gaps != nullptr) {
        due += gaps[n];
        sleep_until(due);
      }
      uint64_t waited = 0;
      now.go = ring.has_room() || (job.opcode & DOORBELL_PUSH_NO_CREDITS) != 0;
      if (now.status == DOORBELL_OK && !now.go && (job.opcode & DOORBELL_PUSH_LOSSY) == 0) {
        const uint64_t start = global_time();
        now.status = ring.wait_for_room(fenced);
        now.go = now.status == DOORBELL_OK;
        due = global_time();  // a producer that waits does nothing else meanwhile
        waited = due - start;
      }
      if (samples != nullptr) {
        samples[n] = now.go ? waited : ~0ull;
      }
      if (now.status == DOORBELL_OK && now.go) {
        now.index = ring.reserve();
        now.staged = (job.opcode & DOORBELL_PUSH_NO_CREDITS) != 0 && shared.slots != 0
                         ? 1
                         : ring.stages(now.index);
      } else if (now.status == DOORBELL_OK) {
        ++counters->dropped;
      }
      checksum = 0;
    }
    __syncthreads();
    const turn mine = now;
    if (mine.status != DOORBELL_OK) {
      break;
    }
    if (mine.go) {
      const push_message message{job.local + n * job.stride, job.remote + n * job.stride,
                                 static_cast<uint32_t>(job.bytes),
                                 static_cast<uint32_t>(shared.first_destination +
                                                       mine.index % shared.destinations)};
      if (mine.staged) {
        stage<by::block>(doorbell::push_ring::slot(shared, mine.index), message.local,
                         message.bytes);
      }
      if (checked) {
        atomicAdd(&checksum, protocol::share_of_sum(message.local, message.bytes));
      }
      __syncthreads();  // what all have copied, before the first thread's fence
      if (leads) {
        ring.commit(mine.index, message,
                    (mine.staged ? DOORBELL_PUSH_STAGED : 0) |
                        (checked ? DOORBELL_PUSH_CHECKED : 0),
                    checksum);
        if (ring.batch_full()) {
          ring.ring(fenced);
        }
      }
    }
    __syncthreads();  // before the first thread writes `now` again
  }
  if (leads) {
    // The flush rule: the last doorbell of a burst is never left out.
    if (ring.unrung() && (job.opcode & DOORBELL_PUSH_NO_FLUSH) == 0) {
      ring.ring(fenced);
    }
    if (now.status == DOORBELL_OK) {
      now.status = ring.quiet();
    }
    protocol::stamp_end(job, global_time());
  }
  __syncthreads();
  protocol::report(job, now.status);
}
