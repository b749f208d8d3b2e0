// A post path that is not this project's, in the bench. The user names a header that defines it:
//
//   nvcc ... -DDOORBELL_BENCH_PEER='"peers/gpunetio.cuh"' bench/bench.cu
//
// The header defines, in namespace peer:
//
//   constexpr const char *kName;
//   constexpr uint32_t kFlags;   of its queues: DOORBELL_QP_CQ_COLLAPSED, or 0 for a ring of CQEs
//   struct queue;                 what its device code keeps of a queue pair; copied to GPU memory for each run
//   queue describe(const doorbell_qp &qp, bool gpu_rings);   on the host
//   template <bool kExclusive> __device__ uint64_t put(queue *, uint64_t remote, uint32_t remote_key,
//       uint64_t local, uint32_t local_key, uint32_t bytes);      one thread's put; a ticket
//   template <bool kExclusive> __device__ uint64_t put_warp(...);  the same of 32 lanes together
//   template <bool kExclusive> __device__ void wait(queue *, uint64_t ticket);
//
// A ring of CQEs has as many as there are blocks; keys are as the WQE holds them. The
// kernels here do with it what put_rate and put_price do with the device library.
#ifndef DOORBELL_BENCH_PEER_CUH
#define DOORBELL_BENCH_PEER_CUH

#include "doorbell/abi.h"

namespace bench {

__device__ __forceinline__ uint64_t peer_clock() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

template <bool kExclusive, bool kWarps>
__device__ __forceinline__ uint64_t peer_put(peer::queue *queue, const doorbell_job &job,
                                             uint64_t offset) {
  return kWarps ? peer::put_warp<kExclusive>(queue, job.remote + offset, job.remote_key,
                                             job.local + offset, job.local_key,
                                             static_cast<uint32_t>(job.bytes))
                : peer::put<kExclusive>(queue, job.remote + offset, job.remote_key,
                                        job.local + offset, job.local_key,
                                        static_cast<uint32_t>(job.bytes));
}

template <bool kExclusive, bool kWarps>
__device__ __forceinline__ void peer_rate_of(peer::queue *queues, const doorbell_job &job) {
  const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const uint64_t poster = kWarps ? thread / 32 : thread;
  peer::queue *queue = &queues[poster % job.qp_count];
  const uint64_t offset = thread * job.stride;
  for (uint32_t measured = 0; measured < 2; ++measured) {
    __syncwarp();
    if (measured != 0) {
      unsigned long long *start = reinterpret_cast<unsigned long long *>(job.stamps);
      atomicMin(start, static_cast<unsigned long long>(peer_clock()));
    }
    const uint64_t count = measured != 0 ? job.iterations : job.warmup;
    uint64_t ticket = 0;
    for (uint64_t i = 0; i < count; ++i) {
      ticket = peer_put<kExclusive, kWarps>(queue, job, offset);
    }
    if (count != 0) {
      peer::wait<kExclusive>(queue, ticket);
    }
  }
  atomicMax(reinterpret_cast<unsigned long long *>(job.stamps) + 1,
            static_cast<unsigned long long>(peer_clock()));
  reinterpret_cast<uint32_t *>(job.status)[thread] = DOORBELL_OK;
}

template <bool kExclusive>
__global__ void peer_rate(peer::queue *queues, doorbell_job job) {
  if (job.scope == DOORBELL_SCOPE_WARP) {
    peer_rate_of<kExclusive, true>(queues, job);
  } else {
    peer_rate_of<kExclusive, false>(queues, job);
  }
}

template <bool kExclusive>
__global__ void peer_price(peer::queue *queues, doorbell_job job) {
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);
  const uint64_t total = job.warmup + job.iterations;
  for (uint64_t turn = 0; turn < total; ++turn) {
    const uint64_t start = peer_clock();
    const uint64_t ticket = peer_put<kExclusive, false>(queues, job, 0);
    const uint64_t posted = peer_clock();
    peer::wait<kExclusive>(queues, ticket);
    if (turn >= job.warmup) {
      const uint64_t done = peer_clock();
      samples[turn - job.warmup] = posted - start;
      samples[turn - job.warmup + job.iterations] = done - start;
    }
  }
  reinterpret_cast<uint64_t *>(job.stamps)[0] = 0;
  reinterpret_cast<uint64_t *>(job.stamps)[1] = 1;
  reinterpret_cast<uint32_t *>(job.status)[0] = DOORBELL_OK;
}

}  // namespace bench

#endif  // DOORBELL_BENCH_PEER_CUH
