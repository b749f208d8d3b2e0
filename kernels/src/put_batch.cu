// put_batch: several puts a doorbell, each lane to a queue pair of its own, and one wait for all of these.
//
// Launch     one block of at most 32 threads, qp_count of them: lane i posts to the i-th chosen queue pair.
// Job        local, remote, bytes, stride, iterations, warmup, qp_count, samples, stamps.
//            operand  bit n: queue pair n is chosen; 0: the first qp_count of them. Thread t is done
//                     where there is no t-th one.
//            window   puts of a doorbell; 0 is one
//            Put p of lane i is of the message at (i * window + p) * stride.
// Order      that of the library; with samples, a wait for all chosen queue pairs after each doorbell of
//            each lane, else at the end only.
// Who else   nobody posts to the queue pairs.
// Samples    nanoseconds of thread 0: uint64_t[iterations] of the post, until its doorbell was rung; behind
//            those uint64_t[iterations] from before the post until all chosen queue pairs were quiet.
// Stamps     first post after the warm-up, last completion.
#define DOORBELL_BACK_ENDS
#include "protocol.cuh"

using namespace doorbell;

namespace {

constexpr uint32_t kMaxChosen = 32;

// Lists the queue pairs of a mask. Returns how many.
__device__ __forceinline__ uint32_t choose(const doorbell_job &job, uint32_t *chosen) {
  uint32_t count = 0;
  for (uint32_t number = 0; number < 64 && count < kMaxChosen && count < job.qp_count; ++number) {
    if (job.operand == 0 || (job.operand >> number & 1) != 0) {
      chosen[count++] = number;
    }
  }
  return count;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(32) put_batch(const doorbell_qp *qps, const doorbell_job *jobs) {
  __shared__ uint32_t chosen[kMaxChosen];
  __shared__ uint32_t counted;
  const doorbell_job job = jobs[0];
  const uint32_t lane = threadIdx.x;
  if (lane == 0) {
    counted = choose(job, chosen);
  }
  __syncthreads();
  const uint32_t count = counted < blockDim.x ? counted : blockDim.x;
  const queue_pair qp(&qps[chosen[lane < count ? lane : 0]]);
  const uint32_t window = job.window == 0 ? 1 : job.window;
  const uint64_t first = static_cast<uint64_t>(lane) * window * job.stride;
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples);

  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < job.warmup + job.iterations && status == DOORBELL_OK; ++turn) {
    const uint64_t start = global_time();
    if (turn == job.warmup) {
      protocol::stamp_start(job, start);
    }
    if (lane < count) {
      status = post_batch(qp, window, [&](uint32_t i) {
                 const uint64_t offset = first + i * job.stride;
                 return transfer_request(kOpcodeWrite, source::device,
                                         {job.remote + offset, job.remote_key},
                                         {job.local + offset, job.local_key}, job.bytes);
               }).status;
    }
    const uint64_t posted_at = global_time();
    if (samples != nullptr || turn + 1 == job.warmup + job.iterations) {
      const uint32_t quieted = quiet_of<by::warp>(qps, chosen, count);
      status = status != DOORBELL_OK ? status : quieted;
    }
    if (samples != nullptr && lane == 0 && turn >= job.warmup) {
      samples[turn - job.warmup] = posted_at - start;
      samples[turn - job.warmup + job.iterations] = global_time() - start;
    }
    status = static_cast<uint32_t>(warp_group::mine().maximum(status));
  }
  protocol::stamp_end(job, global_time());
  protocol::report(job, status);
}
