// gpu_push_nic: a GPU as the NIC of another one: it takes what is pushed into rings in its memory.
//
// Launch     on the GPU that is the NIC, while push_ring or push_quiet run on another one; a multiple of
//            qp_count blocks, engines, of up to 512 threads, whole warps. Block b serves ring b % qp_count.
// Job        staging: doorbell_push_ring[qp_count], whose headers, slots, records and doorbells lie in
//            this GPU's memory, credits and counters in the producers'. iterations: messages after which
//            a ring is at its end. local, bytes: what may be read of messages that are not staged;
//            remote, stride: what may be written. inbox: GPU_NIC_STATE_BYTES (256) for each ring, zeroed. No
//            queue pair.
// Order      that of gpu_nic.cuh: nothing but the payload of messages that are not staged is read from
//            the producer's memory. A slot is given back, by one fence and two stores for all that an
//            engine has claimed, when its message is delivered.
// Who else   the producers fill rings, ring, and read credits.
#include "doorbell/push.cuh"
#include "gpu_nic.cuh"

using namespace doorbell;

namespace {

// Whether the header is that of message `index`, and its payload is where the job allows it.
__device__ __forceinline__ bool read_header(const doorbell_push_ring &ring, const doorbell_job &job,
                                            uint64_t index, nic::delivery &work) {
  const doorbell_push_header header = reinterpret_cast<const doorbell_push_header *>(
      ring.headers)[index & (ring.entries - 1)];
  const uint32_t seal = low(header.index) + high(header.index) + low(header.local) +
                        high(header.local) + low(header.remote) + high(header.remote) +
                        header.bytes + header.destination + header.checksum + header.flags +
                        header.phase + 1;
  const bool staged = (header.flags & DOORBELL_PUSH_STAGED) != 0;
  work.to = header.remote;
  work.from = staged ? doorbell::push_ring::slot(ring, index) : header.local;
  work.bytes = header.bytes;
  return header.seal == seal && header.index == index &&
         header.phase == (static_cast<uint32_t>(index / ring.entries + 1) & 1) &&
         nic::inside(header.remote, header.bytes, job.remote, job.stride) &&
         (staged ? header.bytes <= ring.slot_bytes
                 : nic::inside(header.local, header.bytes, job.local, job.bytes));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(512) gpu_push_nic(const doorbell_qp *, const doorbell_job *jobs) {
  __shared__ nic::claim claimed;
  __shared__ nic::delivery work[nic::kMostClaimed];
  __shared__ uint32_t failed;
  const doorbell_job job = jobs[0];
  const uint32_t rings = job.qp_count == 0 ? 1 : job.qp_count;
  const uint32_t number = blockIdx.x % rings;
  const doorbell_push_ring ring =
      reinterpret_cast<const doorbell_push_ring *>(job.staging)[number];
  nic::engine engine(reinterpret_cast<nic::shared_state *>(job.inbox) + number, job.iterations,
                     gridDim.x / rings, ring.deadline_ns);
  const bool leads = detail::leads_block();
  uint32_t status =
      gridDim.x % rings == 0 && blockDim.x % 32 == 0 ? DOORBELL_OK : DOORBELL_ERROR_ARGUMENT;

  while (status == DOORBELL_OK) {
    if (leads) {
      claimed = engine.next([&](uint64_t first) {
        const uint64_t rung =
            load_acquire_system(reinterpret_cast<const uint64_t *>(ring.doorbell));
        return rung < first || rung - first > ring.entries ? ~0ull : rung;
      });
      failed = 0;
    }
    __syncthreads();
    const nic::claim mine = claimed;
    if (mine.count == 0) {
      status = mine.status;
      break;
    }
    if (threadIdx.x < mine.count &&
        !read_header(ring, job, mine.first + threadIdx.x, work[threadIdx.x])) {
      failed = 1;
    }
    __syncthreads();
    if (failed != 0) {
      // A header that is not whole was rung for too early: there is nobody to tell but the host.
      status = leads ? engine.stop(DOORBELL_ERROR_DATA) : DOORBELL_ERROR_DATA;
      break;
    }
    nic::deliver(work, mine.count);
    __syncthreads();  // what all have stored, before the first thread reports it
    if (leads) {
      claimed.status = engine.turn(mine.first);
      if (claimed.status == DOORBELL_OK) {
        const uint64_t end = mine.first + mine.count;
        doorbell_push_credit *credit = reinterpret_cast<doorbell_push_credit *>(ring.credit);
        fence(true);
        store_relaxed_system(&credit->released, end);
        store_relaxed_system(&credit->acknowledged, end);
        engine.hand_on(end);
      }
    }
    __syncthreads();
    status = claimed.status;
    __syncthreads();  // before the first thread claims again
  }
  protocol::report(job, status);
}
